package views

import (
	"context"
	"net/url"
	"strings"
	"time"

	"ax/app/cron"
	"ax/app/sched"
)

// scheduleWords says when a task runs, in the viewer's language; the zone is
// for the page to add. A cron line that can't be read stays as it is.
func scheduleWords(ctx context.Context, s sched.Schedule) string {
	v := viewer(ctx)
	switch s.Kind {
	case sched.KindCron:
		expr, err := cron.Parse(s.Cron)
		if err != nil {
			return s.Cron
		}
		return expr.Words(v.Lang)
	case sched.KindInterval:
		if s.FixedDelay {
			return t(ctx, "%s after the end of each run", v.Exactly(s.EverySeconds))
		}
		return t(ctx, "Every %s", v.Exactly(s.EverySeconds))
	case sched.KindOnce:
		return t(ctx, "Once, %s", v.Moment(s.RunAt, zoneOf(s, v)))
	case sched.KindDelay:
		return t(ctx, "%s after each request", v.Exactly(s.DelaySeconds))
	}
	return t(ctx, "On request only")
}

// scheduleZone is the zone that the schedule counts in, "" when none matters.
func scheduleZone(s sched.Schedule) string {
	if s.Kind == sched.KindCron || s.Kind == sched.KindOnce {
		return s.Timezone
	}
	return ""
}

// scheduleSub is the second line below the words.
func scheduleSub(ctx context.Context, s sched.Schedule) string {
	switch s.Kind {
	case sched.KindInterval:
		if s.FixedDelay {
			return t(ctx, "fixed delay")
		}
		return t(ctx, "fixed rate")
	case sched.KindDelay, sched.KindManual:
		return ""
	}
	return s.Timezone
}

// scheduleSentence is the words with their zone, for the head of a page.
func scheduleSentence(ctx context.Context, s sched.Schedule) string {
	if zone := scheduleZone(s); zone != "" {
		return t(ctx, "%s, %s|schedule, zone", scheduleWords(ctx, s), zone)
	}
	return scheduleWords(ctx, s)
}

// zoneOf is the schedule's zone, or the viewer's when it has none that loads.
func zoneOf(s sched.Schedule, v Viewer) *time.Location {
	if zone, err := cron.LoadZone(s.Timezone); err == nil {
		return zone
	}
	return v.zone()
}

// Exactly is a number of seconds with every unit that it has, so that it can
// be typed again: "90" is "1 min 30 s".
func (v Viewer) Exactly(seconds int) string {
	var parts []string
	for _, u := range []struct {
		size int
		say  func(n int) string
	}{
		{86_400, func(n int) string { return TranslateCount(v.Lang, "%d d", int64(n)) }},
		{3600, func(n int) string { return Translate(v.Lang, "%d h", n) }},
		{60, func(n int) string { return Translate(v.Lang, "%d min", n) }},
		{1, func(n int) string { return Translate(v.Lang, "%d s", n) }},
	} {
		if n := seconds / u.size; n > 0 {
			parts = append(parts, u.say(n))
			seconds %= u.size
		}
	}
	if len(parts) == 0 {
		return Translate(v.Lang, "%d s", 0)
	}
	return strings.Join(parts, " ")
}

// ExactlyAll is Exactly for a list, with commas.
func (v Viewer) ExactlyAll(seconds []int) string {
	parts := make([]string, len(seconds))
	for i, s := range seconds {
		parts[i] = v.Exactly(s)
	}
	return strings.Join(parts, ", ")
}

// Moment is an instant in a zone with its weekday, as short as it stays
// exact: "Thu 3 Dec 02:30", in Chinese "12-03 周四 02:30".
func (v Viewer) Moment(at time.Time, zone *time.Location) string {
	at = at.In(zone)
	day, hour := "Mon 2 Jan", "15:04"
	if at.Second() != 0 {
		hour = "15:04:05"
	}
	sameYear := at.Year() == v.Now.In(zone).Year()
	if v.Lang == Chinese {
		day = "01-02"
		if !sameYear {
			day = "2006-01-02"
		}
		return at.Format(day) + " " + chineseDays[at.Weekday()] + " " + at.Format(hour)
	}
	if !sameYear {
		day += " 2006"
	}
	return at.Format(day + " " + hour)
}

// momentTitle is what hovering over a moment shows: UTC, then the zone's own.
func momentTitle(at time.Time, zone *time.Location) string {
	return ISO(at) + " · " + at.In(zone).Format("2006-01-02 15:04:05 -07:00") + " " + zone.String()
}

// targetShort is an address as a head shows it: host and path.
func targetShort(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return raw
	}
	short := u.Host + u.EscapedPath()
	if u.RawQuery != "" {
		short += "?…"
	}
	return strings.TrimSuffix(short, "/")
}

// taskState is the one word for a task: what hinders it, else how its latest
// run stands.
func taskState(task sched.Task, last sched.Run, ran bool, now time.Time) string {
	switch {
	case !task.ArchivedAt.IsZero():
		return "archived"
	case task.PlanError != "":
		return "broken"
	case !task.Enabled:
		return "disabled"
	case task.Paused(now):
		return "paused"
	case !ran:
		return "never_ran"
	}
	return string(last.State)
}

// latestRun is the latest run that has begun or ended: what is only planned for
// later tells nothing yet.
func latestRun(runs []sched.Run) (sched.Run, bool) {
	for i := len(runs) - 1; i >= 0; i-- {
		if !runs[i].StartedAt.IsZero() || runs[i].State.Final() {
			return runs[i], true
		}
	}
	return sched.Run{}, false
}

// runMarks are the runs as bars of a strip, without those that wait.
func runMarks(runs []sched.Run) []RunMark {
	out := make([]RunMark, 0, len(runs))
	for _, r := range runs {
		if r.StartedAt.IsZero() && !r.State.Final() {
			continue
		}
		out = append(out, RunMark{State: string(r.State), Retried: r.Attempt > 1, Duration: r.Took()})
	}
	return out
}

// oftenSentence says how many runs a month has, or a year when it has fewer than
// one a month; "" when they are not counted.
func oftenSentence(ctx context.Context, perYear int) string {
	const months = 12
	switch {
	case perYear >= months:
		return tn(ctx, "%d runs in a usual month.", (perYear+months/2)/months)
	case perYear > 0:
		return tn(ctx, "%d runs in a year.", perYear)
	}
	return ""
}
