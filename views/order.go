package views

import (
	"slices"
	"time"
)

// inOrder sorts by time, those at the same moment as they came.
func inOrder[V any](all []V, at func(V) time.Time) []V {
	slices.SortStableFunc(all, func(a, b V) int { return at(a).Compare(at(b)) })
	return all
}
