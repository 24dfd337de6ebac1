package app

import (
	"context"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"ax/app/access"
	"ax/app/cron"
	"ax/views"
)

func (a *App) settingsRoutes() []route {
	return []route{{http.MethodGet, "/settings", (*App).showSettings, access.Administer, false}}
}

// showSettings shows what is in force in this process and who set it;
// ?show=changed only what isn't as built in, ?q= what has the words.
func (a *App) showSettings(c *gin.Context) (reply, error) {
	ctx, cancel := context.WithTimeout(c.Request.Context(), figuresLimit)
	defer cancel()
	p := views.SettingsPage{
		Words: strings.TrimSpace(c.Query("q")), Changed: c.Query("show") == "changed",
		Settings: a.settings, Zones: cron.ZoneDataInUse(), Build: a.build(),
	}
	var err error
	if p.Ledger, p.Schema, err = a.ledger(ctx); err != nil { // the rest is worth showing all the more
		a.log.WarnContext(ctx, "the settings page can't tell the database", "error", err)
		p.LedgerAway = true
	}
	if p.Carrier, err = a.carrier(ctx); err != nil {
		a.log.WarnContext(ctx, "the settings page can't tell Redis", "error", err)
		p.CarrierAway = true
	}
	return show(views.Settings(p)), nil
}

// build is what the program says of its making.
func (a *App) build() views.Build {
	b := views.Build{Version: a.version}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	b.Go = strings.TrimPrefix(info.GoVersion, "go")
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value[:min(len(s.Value), 7)]
		case "vcs.time":
			b.CommittedAt, _ = time.Parse(time.RFC3339, s.Value) // zero: not shown
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		b.Modules = append(b.Modules, views.Module{Path: m.Path, Version: m.Version})
	}
	return b
}
