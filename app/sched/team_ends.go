package sched

// TeamEnds counts what ended in a window, of one team and one final state.
type TeamEnds struct {
	TeamID int64
	Team   string // its code
	State  State  // "": nothing ended in the window
	N      int
}
