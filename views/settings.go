package views

import (
	"context"
	"net/url"
	"strings"
	"time"

	"ax/app/cron"
	"ax/app/settings"
	"ax/views/ui"
)

// SettingsPage is what is in force in the process that answers, and what the
// process is made of.
type SettingsPage struct {
	Words    string // that a setting shown has; "" for all
	Changed  bool   // only those that aren't as built in
	Settings []settings.Entry

	Ledger      string // product and version
	Schema      int64
	LedgerAway  bool
	Carrier     string // "" is the embedded one
	CarrierAway bool
	Zones       cron.ZoneData
	Build       Build
}

// Build is what the program says of its making.
type Build struct {
	Version     string
	Commit      string    // "" is unknown
	CommittedAt time.Time // zero is unknown
	Modified    bool      // the sources weren't as committed
	Go          string
	Modules     []Module
}

// Module is a library in the program.
type Module struct{ Path, Version string }

// settingGroup is a part of the table.
type settingGroup struct {
	word     string
	settings []settings.Entry
}

// groups are the settings to show.
func (p SettingsPage) groups(ctx context.Context) []settingGroup {
	var out []settingGroup
	for _, g := range settingGroups {
		shown := settingGroup{word: t(ctx, g.word)}
		for _, e := range p.Settings {
			if groupOfSetting(e.Key) == g.name && p.shows(ctx, e) {
				shown.settings = append(shown.settings, e)
			}
		}
		if len(shown.settings) > 0 {
			out = append(out, shown)
		}
	}
	return out
}

func (p SettingsPage) shows(ctx context.Context, e settings.Entry) bool {
	if p.Changed && !e.Changed {
		return false
	}
	all := strings.ToLower(e.Key + " " + e.Value + " " + e.From + " " + SettingWords(ctx, e.Key))
	for word := range strings.FieldsSeq(strings.ToLower(p.Words)) {
		if !strings.Contains(all, word) {
			return false
		}
	}
	return true
}

// changed counts the settings that aren't as built in.
func (p SettingsPage) changed() int {
	n := 0
	for _, e := range p.Settings {
		if e.Changed {
			n++
		}
	}
	return n
}

func (p SettingsPage) filter(ctx context.Context) ui.FilterBox {
	b := ui.FilterBox{Action: "/settings", Name: "q", Label: t(ctx, "Filter parameters"), Hint: t(ctx, "name, value or words"), Value: p.Words}
	if p.Changed {
		b.Keep = []ui.Hidden{{Name: "show", Value: "changed"}}
	}
	return b
}

func (p SettingsPage) choices(ctx context.Context) []ui.Tab {
	path := func(show string) string {
		q := url.Values{}
		if show != "" {
			q.Set("show", show)
		}
		if p.Words != "" {
			q.Set("q", p.Words)
		}
		if len(q) == 0 {
			return "/settings"
		}
		return "/settings?" + q.Encode()
	}
	return []ui.Tab{
		{Label: t(ctx, "All %s", number(len(p.Settings))), Href: path(""), On: !p.Changed},
		{Label: t(ctx, "Changed %s", number(p.changed())), Href: path("changed"), On: p.Changed},
	}
}

// settingText is a setting's value, or what an empty one is.
func settingText(ctx context.Context, value string) string {
	if value == "" {
		return t(ctx, "empty")
	}
	return value
}

// build says where the program comes from.
func (p SettingsPage) build(ctx context.Context) string {
	b := p.Build
	parts := []string{b.Version}
	if b.Commit != "" {
		parts = append(parts, t(ctx, "commit %s", b.Commit))
	}
	if b.Modified {
		parts = append(parts, t(ctx, "with changes"))
	}
	if !b.CommittedAt.IsZero() {
		parts = append(parts, viewer(ctx).Day(b.CommittedAt))
	}
	if b.Go != "" {
		parts = append(parts, "Go "+b.Go)
	}
	return joined(" · ", parts...)
}

// ledger says what the ledger lies in.
func (p SettingsPage) ledger(ctx context.Context) string {
	if p.LedgerAway {
		return t(ctx, "does not answer")
	}
	return joined(" · ", p.Ledger, t(ctx, "schema %s", number(p.Schema)))
}

// carrier says what brings the messages.
func (p SettingsPage) carrier(ctx context.Context) string {
	switch {
	case p.CarrierAway:
		return t(ctx, "does not answer")
	case p.Carrier != "":
		return p.Carrier
	}
	return t(ctx, "in this process; what it loses is sent again from the ledger")
}
