package app

import "github.com/gin-gonic/gin"

func (s *api) mountDocs(*gin.Engine) {}
