package app

func (a *App) instanceRoutes() []route { return nil }
