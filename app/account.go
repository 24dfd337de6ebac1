package app

import (
	"github.com/gin-gonic/gin"

	"ax/app/access"
	"ax/app/fault"
	"ax/views"
)

// chooseLanguage switches the language in this browser. It is a link, so it
// changes nothing in the ledger; the person's own setting counts again with
// the next sign-in.
func (a *App) chooseLanguage(c *gin.Context) (reply, error) {
	to := c.Query("to")
	if to != views.English && to != views.Chinese {
		return reply{}, fault.Malformed("The language is en or zh-CN")
	}
	a.setCookie(c, languageCookie, to, year)
	return reply{to: localPath(c.Query("back"), "/")}, nil
}

// chooseTheme keeps the theme in this browser, and with the person if there
// is one. theme.js writes the cookie by itself; this is the way without it.
func (a *App) chooseTheme(c *gin.Context) (reply, error) {
	theme := c.PostForm("theme")
	switch theme {
	case "light", "dark", "auto":
	default:
		return reply{}, fault.Malformed("The theme is auto, light or dark")
	}
	who, err := a.visit(c)
	if err != nil {
		return reply{}, err
	}
	a.setCookie(c, themeCookie, theme, year)
	if p := who.person; p.ID != 0 && p.Theme != theme {
		err = a.users.UpdatePreferences(c.Request.Context(), who.actor,
			access.Preferences{Language: p.Language, Zone: p.Zone, Theme: theme})
	}
	return goBack(c, "/"), err
}

// showHelp lists the keys, for those who come without JavaScript.
func (a *App) showHelp(*gin.Context) (reply, error) { return show(views.HelpPage()), nil }
