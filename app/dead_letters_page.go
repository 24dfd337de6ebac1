package app

func (a *App) letterRoutes() []route { return nil }
