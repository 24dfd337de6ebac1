package app

func (a *App) taskRoutes() []route { return nil }
