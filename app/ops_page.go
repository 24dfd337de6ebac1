package app

func (a *App) opsRoutes() []route { return nil }
