package sched

// PageRequest asks for one page of a list by key. After and Before are keys
// that an earlier page gave; at most one is set. Limit is 1 … 200.
type PageRequest struct {
	After  string
	Before string
	Limit  int
}

// PageOf is one page of a list; the keys are empty at its ends.
type PageOf[T any] struct {
	Items []T
	Next  string // After of the next page
	Prev  string // Before of the previous page
}

// MaxPage is the most rows that a page has; DefaultPage what it has when
// nothing is said.
const (
	MaxPage     = 200
	DefaultPage = 50
)

// Bounded is the request with a limit between 1 and MaxPage.
func (p PageRequest) Bounded() PageRequest {
	if p.Limit <= 0 {
		p.Limit = DefaultPage
	}
	p.Limit = min(p.Limit, MaxPage)
	return p
}
