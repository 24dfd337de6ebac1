package views

import (
	"time"

	"ax/app/cron"
	"ax/app/settings"
)

// settingsExamples are the settings as an administrator sees them, also with
// nothing found and with database and Redis away.
func settingsExamples() []Example {
	p := SettingsPage{
		Ledger: "MariaDB 10.11.6", Schema: 8, Carrier: "Redis 7.0.15, noeviction", Zones: cron.ZoneData{Version: "2026a", Source: "/etc/ax/zones.zip"},
		Build: Build{
			Version: "1.4.2", Commit: "4be1c09", CommittedAt: ago(7 * 24 * time.Hour), Go: "1.26.8",
			Modules: []Module{{"github.com/gin-gonic/gin", "v1.11.0"}, {"gorm.io/gorm", "v1.31.1"}},
		},
		Settings: []settings.Entry{
			{Key: "environment", Value: "production", Changed: true, From: "config.yaml:10"},
			{Key: "roles", Value: "web, scheduler, worker", Default: "web, scheduler, worker"},
			{Key: "secret", Value: settings.Mask, Changed: true, From: "AX_SECRET"},
			{Key: "http.external_url", Value: "https://ax.example.com", Changed: true, From: "config.yaml:38"},
			{Key: "http.trusted_proxies"},
			{Key: "database.dsn", Value: "ax:•••@tcp(db-1.internal:3306)/ax", Changed: true, From: "AX_DATABASE_DSN"},
			{Key: "scheduler.scan", Value: "1s", Default: "1s"},
			{Key: "worker.shutdown_grace", Value: "2m", Default: "30s", Changed: true, From: "AX_WORKER_SHUTDOWN_GRACE"},
			{Key: "alarms.queue_depth", Value: "10000", Default: "10000", From: "config.yaml:90"},
		},
	}
	none := p
	none.Words = "nothing like it"
	away := p
	away.Changed, away.LedgerAway, away.CarrierAway = true, true, true
	return []Example{
		{Name: "settings", Component: Settings(p)},
		{Name: "settings-none", Component: Settings(none)},
		{Name: "settings-changed", Component: Settings(away)},
	}
}
