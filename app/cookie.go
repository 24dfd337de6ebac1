package app

import (
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"ax/app/access"
)

// setCookie keeps something in the browser; a life below 0 takes it away.
func (a *App) setCookie(c *gin.Context, name, value string, life time.Duration) {
	age := int(life.Seconds())
	if life < 0 {
		age = -1
	}
	http.SetCookie(c.Writer, &http.Cookie{
		Name: name, Value: value, Path: "/", MaxAge: age,
		HttpOnly: name != themeCookie, // theme.js reads and writes that one
		Secure:   a.https(), SameSite: http.SameSiteLaxMode,
	})
}

// cookie gives the value, or "".
func cookie(c *gin.Context, name string) string {
	k, err := c.Request.Cookie(name)
	if err != nil {
		return ""
	}
	return k.Value
}

// sessionName keeps other hosts of the same domain, and plain HTTP, from
// setting the cookie; a browser takes the prefix over https only.
func (a *App) sessionName() string {
	if a.https() {
		return "__Host-" + sessionCookie
	}
	return sessionCookie
}

func (a *App) sessionToken(c *gin.Context) string { return cookie(c, a.sessionName()) }

func (a *App) keepSession(c *gin.Context, token string) {
	a.setCookie(c, a.sessionName(), token, access.SessionAbsolute)
}

func (a *App) dropSession(c *gin.Context) { a.setCookie(c, a.sessionName(), "", -1) }
