package app

func (a *App) dashboardRoutes() []route { return nil }
