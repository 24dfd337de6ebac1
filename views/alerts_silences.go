package views

import (
	"context"
	"strconv"
	"time"

	"ax/app/alert"
	"ax/app/cron"
	"ax/views/ui"
)

// SilenceRow is one silence in a list.
type SilenceRow struct {
	alert.Silence
	Team   string    // name; empty: every team
	Rule   string    // name; empty: every rule
	Until  time.Time // of what is active
	Next   time.Time // of what is coming: when it begins
	MayEnd bool
}

// SilencesPage lists silences and maintenance windows.
type SilencesPage struct {
	AlertsTop
	Active []SilenceRow
	Coming []SilenceRow // once, or the next window of what comes again
	Ended  []SilenceRow // lately, the latest first
	NoTeam bool
}

// what a silence covers: "task fx.rates-ecb", "all of Payments".
func (r SilenceRow) what(ctx context.Context) string {
	said := ""
	switch {
	case r.Scope.Kind != alert.All:
		said = scopeWords(ctx, r.Scope)
	case r.Team == "":
		said = t(ctx, "everything, of every team")
	default:
		said = t(ctx, "all of %s", r.Team)
	}
	if r.Rule != "" {
		said = t(ctx, "%s: %s", ruleName(ctx, r.Rule), said)
	}
	return said
}

// when the silence is, or was.
func (r SilenceRow) when(ctx context.Context) string {
	said := ""
	switch {
	case !r.Until.IsZero():
		said = t(ctx, "until %s", clock(ctx, r.Until))
	case !r.Next.IsZero():
		said = t(ctx, "from %s", clock(ctx, r.Next))
	case !r.EndedAt.IsZero():
		said = t(ctx, "ended by hand %s", clock(ctx, r.EndedAt))
	case !r.EndsAt.IsZero():
		said = t(ctx, "ended %s", clock(ctx, r.EndsAt))
	}
	return joined(" · ", said, r.again(ctx))
}

// again says when a recurring silence comes: "At 03:00 on Wednesdays, for 1 h".
func (r SilenceRow) again(ctx context.Context) string {
	if r.Cron == "" {
		return ""
	}
	words := r.Cron
	if expr, err := cron.Parse(r.Cron); err == nil {
		words = expr.Words(viewer(ctx).Lang)
	}
	return t(ctx, "%s (%s), for %s|cron words, zone, how long", words, r.Zone, viewer(ctx).Span(r.Lasts))
}

// by whom and why.
func (r SilenceRow) by(ctx context.Context) string {
	return t(ctx, "by %s: “%s”", r.CreatedBy, r.Reason)
}

func (r SilenceRow) look(ctx context.Context) ui.State {
	switch {
	case !r.Until.IsZero():
		return ui.State{Icon: "volume-off", Class: "idle", Word: t(ctx, "Silent now")}
	case r.Cron != "" && !r.Next.IsZero():
		return ui.State{Icon: "calendar", Class: "idle", Word: t(ctx, "Comes again")}
	case !r.Next.IsZero():
		return ui.State{Icon: "clock", Class: "idle", Word: t(ctx, "Coming")}
	}
	return ui.State{Icon: "circle-off", Class: "idle", Word: t(ctx, "Over|silence")}
}

func endSilenceURL(id int64) string { return AlertsSilences + "/" + strconv.FormatInt(id, 10) + "/end" }

// endVerb is the word of the button that ends it.
func (r SilenceRow) endVerb(ctx context.Context) string {
	if r.Until.IsZero() {
		return t(ctx, "Remove|silence")
	}
	return t(ctx, "End now")
}

// silenceTeam is the team, where what it covers doesn't say it.
func silenceTeam(ctx context.Context, r SilenceRow) string {
	switch {
	case r.Scope.Kind == alert.All:
		return ""
	case r.Team == "":
		return t(ctx, "every team")
	}
	return r.Team
}
