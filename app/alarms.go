package app

import (
	"cmp"
	"time"

	"ax/views"
)

// Alarms are the values at which the console begins to warn (design.md
// section 5). They don't change what the engine does.
type Alarms struct {
	ClockOffset time.Duration `yaml:"clock_offset"` // of a node's wall clock against the ledger's
	Lag         time.Duration `yaml:"lag"`          // between the moment wanted and the start
	QueueDepth  int           `yaml:"queue_depth"`  // instances of one queue that are due and have not begun
	SuccessRate float64       `yaml:"success_rate"` // percent of what ended within the hour
	Zone        string        `yaml:"zone"`         // of the times in messages to people
}

// Check says what is wrong, by the key of the configuration. The zone is left
// to who knows the zone data.
func (a Alarms) Check(check func(key string, ok bool, format string, args ...any)) {
	between := func(key string, d time.Duration) {
		check(key, d >= time.Second && d <= time.Hour, "between 1s and 1h0m0s; this is %s", d)
	}
	check("alarms.success_rate", a.SuccessRate >= 0 && a.SuccessRate <= 100, "percent; this is %v", a.SuccessRate)
	check("alarms.queue_depth", a.QueueDepth > 0, "more than 0; this is %d", a.QueueDepth)
	between("alarms.lag", a.Lag)
	between("alarms.clock_offset", a.ClockOffset)
}

// shown is the alarms as the pages know them.
func (a Alarms) shown() views.Alarms {
	return views.Alarms{ClockOffset: a.ClockOffset, Lag: a.Lag, QueueDepth: a.QueueDepth, SuccessRate: a.SuccessRate}
}

// orDefault fills in what is zero.
func (a Alarms) orDefault() Alarms {
	return Alarms{
		ClockOffset: cmp.Or(a.ClockOffset, 30*time.Second),
		Lag:         cmp.Or(a.Lag, 5*time.Second),
		QueueDepth:  cmp.Or(a.QueueDepth, 10_000),
		SuccessRate: cmp.Or(a.SuccessRate, 95),
	}
}
