package alert

// Count30 is how often a rule opened an incident lately, and how many of those
// somebody acknowledged.
type Count30 struct{ Times, Acted int }

// FiringCount is how many incidents are firing, by level.
type FiringCount struct{ P1, P2 int }

// All of them.
func (c FiringCount) All() int { return c.P1 + c.P2 }
