package main

// Case is one exploration with what is expected of it.
type Case struct {
	Name    string
	Note    string
	WantBad bool  // a guard was removed: something must break
	MayHold bool  // a guard that turned out to be a second line only
	Flaws   []int // of protocol.md section 4: the draft's wording is back
	Explore func(limit int) Result
}

// explored is a case that must be clean.
func explored[S comparable](name string, m Model[S]) Case {
	return Case{Name: name, Explore: func(limit int) Result { return Explore(m, limit) }}
}

// breaks says that something must break, and which flaws it shows.
func (c Case) breaks(flaws ...int) Case {
	c.WantBad, c.Flaws = true, flaws
	return c
}

// mayHold says that what was taken away is a second line: the rest holds
// without it.
func (c Case) mayHold(flaws ...int) Case {
	c.WantBad, c.MayHold, c.Flaws = true, true, flaws
	return c
}

func (c Case) about(note string) Case {
	c.Note = note
	return c
}

// verdict tells what a result means, and whether it was expected.
func (c Case) verdict(r Result) (text string, expected bool) {
	switch {
	case r.Truncated:
		return "NOT FINISHED", false
	case r.Bad != "":
		return "broken: " + r.Bad, c.WantBad
	case c.MayHold:
		return "clean (a second line only)", true
	default:
		return "clean", !c.WantBad
	}
}
