package app

import "github.com/gin-gonic/gin"

// mountAPI adds the API's own routes.
func (a *App) mountAPI(*gin.Engine) {}
