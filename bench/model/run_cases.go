package main

// base has the configurations: the repaired protocol must be clean in all of
// them.
var base = map[string]Cfg{
	"plain":                one(func(c *Cfg) { c.MaxRet = 2; c.MaxDeath = 3 }),
	"crash":                one(func(c *Cfg) { c.B.Crash = 2 }),
	"freeze":               one(func(c *Cfg) { c.B.Suspect = 1; c.B.Crash = 1 }),
	"redis":                one(func(c *Cfg) { c.B.Flush = 1; c.B.Steal = 1 }),
	"restore":              one(func(c *Cfg) { c.B.Snap = 2; c.NS = 1 }),
	"orphan":               one(func(c *Cfg) { c.B.Orphan = 1; c.B.Steal = 1 }),
	"unknown":              one(func(c *Cfg) { c.B.Unknown = 1; c.B.Crash = 1 }),
	"panic":                one(func(c *Cfg) { c.B.Panic = 1; c.B.Steal = 1 }),
	"stop":                 one(func(c *Cfg) { c.B.Stop = 1; c.B.Crash = 1; c.NS = 1 }),
	"cancel":               one(func(c *Cfg) { c.B.Cancel = 1; c.B.Suspect = 1 }),
	"await":                one(func(c *Cfg) { c.Await = true; c.B.Crash = 1; c.B.Cancel = 1; c.NS = 1 }),
	"nonidem":              one(func(c *Cfg) { c.Idem = false; c.B.Crash = 1; c.B.Suspect = 1 }),
	"nonidem-redis":        one(func(c *Cfg) { c.Idem = false; c.B.Flush = 1; c.B.Steal = 1; c.B.Suspect = 1; c.NS = 1 }),
	"nonidem-stop":         one(func(c *Cfg) { c.Idem = false; c.B.Stop = 1; c.B.Unknown = 1; c.B.Suspect = 1; c.NS = 1 }),
	"nonidem-await":        one(func(c *Cfg) { c.Idem = false; c.Await = true; c.B.Suspect = 1; c.B.Cancel = 1; c.NS = 1 }),
	"batch":                one(func(c *Cfg) { c.Idem = false; c.NW = 1; c.NH = 2; c.B.Steal = 1; c.B.Flush = 1 }),
	"replay":               one(func(c *Cfg) { c.Idem = false; c.NSlot = 3; c.NS = 1; c.B.Replay = 2 }),
	"replay-freeze":        one(func(c *Cfg) { c.Idem = false; c.NSlot = 2; c.NS = 1; c.B.Replay = 1; c.B.Suspect = 1 }),
	"limit":                two("queue", func(c *Cfg) { c.MaxRet = 1 }),
	"limit-crash":          two("queue", func(c *Cfg) { c.B.Crash = 1 }),
	"limit-cancel":         two("queue", func(c *Cfg) { c.B.Cancel = 1 }),
	"limit-await":          two("queue", func(c *Cfg) { c.Await = true }),
	"overlap-skip":         two("skip", func(c *Cfg) { c.MaxRet = 1 }),
	"overlap-cancel":       two("cancel_running", func(c *Cfg) { c.MaxRet = 1 }),
	"overlap-cancel-crash": two("cancel_running", func(c *Cfg) { c.B.Crash = 1 }),
	"two-free":             two("queue", func(c *Cfg) { c.Limit = 0; c.B.Crash = 1 }),
	"crash1":               one(func(c *Cfg) { c.B.Crash = 1 }),
	"freeze0":              one(func(c *Cfg) { c.B.Suspect = 1; c.NS = 1 }),
	"freeze1":              one(func(c *Cfg) { c.NW = 1; c.NS = 1; c.B.Suspect = 1 }),
	"stop0":                one(func(c *Cfg) { c.B.Stop = 1 }),
	"unknown0":             one(func(c *Cfg) { c.B.Unknown = 1; c.NS = 1 }),
	// non-idempotent work whose owner allows retries
	"allow":       one(func(c *Cfg) { c.Idem = false; c.Allow = true; c.B.Crash = 1; c.B.Suspect = 1; c.NS = 1 }),
	"allow-redis": one(func(c *Cfg) { c.Idem = false; c.Allow = true; c.B.Flush = 1; c.B.Steal = 1; c.NS = 1 }),
	"allow-stop":  one(func(c *Cfg) { c.Idem = false; c.Allow = true; c.B.Stop = 1; c.B.Suspect = 1; c.NS = 1 }),
	"allow-await": one(func(c *Cfg) {
		c.Idem = false
		c.Allow = true
		c.Await = true
		c.B.Crash = 1
		c.B.Cancel = 1
		c.NS = 1
	}),
	// answers cut off: the write has landed, lands later or never
	"late":         one(func(c *Cfg) { c.B.Late = 1; c.B.Crash = 1; c.NS = 1 }),
	"late-nonidem": one(func(c *Cfg) { c.Idem = false; c.B.Late = 1; c.B.Unknown = 1; c.B.Crash = 1; c.NS = 1 }),
	"late-allow":   one(func(c *Cfg) { c.Idem = false; c.Allow = true; c.B.Late = 1; c.B.Suspect = 1; c.NS = 1 }),
	"late0":        one(func(c *Cfg) { c.B.Late = 1; c.NS = 1 }),
	// past the deadline on a living node
	"over": one(func(c *Cfg) { c.Have = true; c.B.Over = 1; c.B.Cancel = 1; c.B.Suspect = 1; c.NS = 1 }),
	"over-nonidem": one(func(c *Cfg) {
		c.Idem = false
		c.Have = true
		c.B.Over = 1
		c.B.Crash = 1
		c.B.Suspect = 1
		c.NS = 1
	}),
	"over-allow": one(func(c *Cfg) {
		c.Idem = false
		c.Allow = true
		c.Have = true
		c.B.Over = 2
		c.B.Suspect = 1
		c.NS = 1
	}),
	"over-limit":      two("queue", func(c *Cfg) { c.Have = true; c.MaxRet = 1; c.B.Over = 1 }),
	"overlap-request": two("skip", func(c *Cfg) { c.Request = true; c.MaxRet = 1; c.B.Crash = 1 }),
	"early":           one(func(c *Cfg) { c.Early = true; c.B.Steal = 1; c.B.Suspect = 1; c.NS = 1 }),
}

// checked lists those that are explored; the others only serve to break.
var checked = []string{
	"plain", "crash", "freeze", "redis", "restore", "orphan", "unknown", "panic", "stop",
	"cancel", "await", "nonidem", "nonidem-redis", "nonidem-stop", "nonidem-await", "batch", "replay", "replay-freeze", "two-free",
	"limit", "limit-crash", "limit-cancel", "limit-await", "overlap-skip", "overlap-cancel", "overlap-cancel-crash",
	"allow", "allow-redis", "allow-stop", "allow-await", "late", "late-nonidem", "late-allow",
	"over", "over-nonidem", "over-allow", "over-limit", "overlap-request", "early",
}

func runCase(name string, c Cfg, p P, sym bool) Case { return explored[RS](name, &Run{c, p, sym}) }

func baseCases() []Case {
	var out []Case
	for _, n := range checked {
		out = append(out, runCase("base/"+n, base[n], P{}, true))
	}
	// without faults nothing may need the sweeper of queued rows
	none := P{NoSweepQueued: true}
	return append(out,
		runCase("base/no-sweeper-plain", base["plain"], none, true),
		runCase("base/no-sweeper-stop", base["stop0"], none, true),
		runCase("base/no-sweeper-limit", base["limit"], none, true))
}

// codeCases are the protocol as the code has it, where the page says otherwise.
func codeCases() []Case {
	overlap := base["overlap-cancel-crash"]
	overlap.B.Crash, overlap.B.Steal, overlap.MaxRet = 0, 1, 1
	stop := base["stop0"]
	stop.B.Cancel, stop.NS = 1, 1
	return []Case{
		runCase("code/reborn-drops-messages", base["freeze0"], P{RebornDrops: true}, true),
		runCase("code/hand-back-with-wish", stop, P{HandBackCancels: true}, true),
		runCase("code/overlap-cancels-apart", base["overlap-cancel-crash"], P{CancelsApart: true}, true),
		runCase("code/overlap-cancels-apart-twice", overlap, P{CancelsApart: true}, true),
		runCase("code/queue-behind-begun", base["limit"], P{QueueBehindBegun: true}, true),
		runCase("code/queue-behind-begun-crash", base["limit-crash"], P{QueueBehindBegun: true}, true),
	}
}
