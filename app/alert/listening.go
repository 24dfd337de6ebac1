package alert

import (
	"cmp"
	"slices"
)

// told gives the channels that hear of an incident, each once, those that wait
// the least first.
func told(subs []Subscription, i Incident) []string {
	var heard []Subscription
	for _, s := range subs {
		if s.listens(i) {
			heard = append(heard, s)
		}
	}
	slices.SortStableFunc(heard, func(a, b Subscription) int { return cmp.Compare(a.After, b.After) })
	var out []string
	for _, s := range heard {
		if !slices.Contains(out, s.ChannelID) {
			out = append(out, s.ChannelID)
		}
	}
	return out
}
