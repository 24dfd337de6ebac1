package main

import (
	"runtime"
	"time"

	"ax/app/cron"
)

// cronFigure is what a line costs.
type cronFigure struct {
	line, zone              string
	parse, next             time.Duration
	parseAllocs, nextAllocs uint64
}

// measureCron reads lines of both dialects and asks for their next time. The
// last is the worst: 99 years of clock changes to walk over.
func measureCron() []cronFigure {
	var out []cronFigure
	for _, c := range [][2]string{
		{"*/5 * * * *", "Asia/Shanghai"},
		{"30 9 * * MON-FRI", "America/New_York"},
		{"0 0/5 9-18 ? * MON-FRI", "Europe/Berlin"},
		{"0 0 9 L-3W,15W * ? 2026-2030", "Europe/Berlin"},
		{"0 0 29 2 *", "America/New_York"},
		{"0 0 0 1 1 ? 2099", "Pacific/Easter"},
	} {
		f := cronFigure{line: c[0], zone: c[1]}
		e, err := cron.Parse(f.line)
		if err != nil {
			panic(err) // the lines stand above
		}
		loc, err := cron.LoadZone(f.zone)
		if err != nil {
			panic(err)
		}
		from := noon()
		if f.line == "0 0 0 1 1 ? 2099" {
			from = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
		}
		f.parse, f.parseAllocs = each(func() { _, _ = cron.Parse(f.line) })
		f.next, f.nextAllocs = each(func() { e.Next(from, loc) })
		out = append(out, f)
	}
	return out
}

// each measures what one call takes, over a fifth of a second, after a while to
// warm up. Nothing else of this program runs meanwhile.
func each(call func()) (time.Duration, uint64) {
	loop := func(length time.Duration) (calls int, took time.Duration) {
		for began := time.Now(); took < length; took = time.Since(began) {
			for range 100 {
				call()
			}
			calls += 100
		}
		return calls, took
	}
	loop(20 * time.Millisecond)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	calls, took := loop(200 * time.Millisecond)
	runtime.ReadMemStats(&after)
	return took / time.Duration(calls), (after.Mallocs - before.Mallocs) / uint64(calls)
}
