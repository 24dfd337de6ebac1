package main

func gateCases() []Case {
	two := Gate{N: 3, H: 2, L: 1}
	pause := Gate{N: 2, H: 2, L: 1, Pause: 1, Crash: 1}
	crash := Gate{N: 2, H: 2, L: 1, Ret: 1, Crash: 1}
	wide := Gate{N: 4, H: 3, L: 2}
	timed := Gate{N: 3, H: 2, L: 1, Pause: 1, Timed: true}
	look := Gate{N: 3, H: 2, L: 1, Look: true}
	gate := func(name string, m Gate, p GP) Case {
		m.P = p
		return explored[GS](name, &m)
	}
	return []Case{
		gate("base/gate", two, GP{}),
		gate("base/gate-pause", pause, GP{}),
		gate("base/gate-crash", crash, GP{}),
		gate("base/gate-wide", wide, GP{}),
		gate("base/gate-pause-ends", timed, GP{}).about("engine-sql.md, +: a pause that ends by its time runs no RESUME"),
		gate("base/gate-look", look, GP{}).about("the code looks without a transaction first"),
		gate("draft/wake-without-gate", two, GP{WakeNoGate: true}).breaks(29),
		gate("draft/wake-the-woken", wide, GP{WakeAny: true}).breaks(30),
		gate("draft/pause-first-attempt-only", pause, GP{PauseFirstOnly: true}).breaks(31),
		gate("guard/wake", two, GP{NoWake: true}).breaks(),
		gate("guard/wake-raises-dispatch", two, GP{WakeNoBump: true}).breaks(),
		gate("guard/defer-keeps-message", two, GP{DeferDrop: true}).mayHold(),
		gate("guard/pause-locks-gate", pause, GP{PauseNoGate: true}).breaks(),
		gate("guard/resume-locks-gate", pause, GP{ResumeNoGate: true}).breaks(),
		gate("guard/resume-makes-due", pause, GP{ResumeSilent: true}).breaks(),
		gate("guard/gate", two, GP{NoGate: true}).breaks(),
		gate("guard/defer-ends-with-pause", timed, GP{DeferPastPause: true}).breaks(),
		gate("guard/wake-in-a-pause", timed, GP{WakeOnlyNow: true}).breaks().about("the protocol's WAKE: not paused"),
		gate("guard/look-waits-for-the-gate", look, GP{LookNoGate: true}).breaks(29),
	}
}
