//go:build failpoint

package fail

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// read is a rule as the test compares it.
type read struct {
	place, action string
	nth           int64
	delay         time.Duration
}

func TestAFailpointIsRead(t *testing.T) {
	for spec, want := range map[string][]read{
		"":                    nil,
		" ":                   nil,
		"plan.locked":         {{"plan.locked", "kill", 1, 0}},
		"plan.locked=kill":    {{"plan.locked", "kill", 1, 0}},
		"plan.locked:3":       {{"plan.locked", "kill", 3, 0}},
		"plan.locked:3=stop":  {{"plan.locked", "stop", 3, 0}},
		"plan.locked:*=error": {{"plan.locked", "error", 0, 0}},
		"end.row=panic":       {{"end.row", "panic", 1, 0}},
		"end.row=delay=5s":    {{"end.row", "delay", 1, 5 * time.Second}},
		"end.row:2=delay=1m30s, plan.locked:*=stop": {
			{"end.row", "delay", 2, 90 * time.Second}, {"plan.locked", "stop", 0, 0},
		},
		"end.row=error,end.row:3=kill": {{"end.row", "error", 1, 0}, {"end.row", "kill", 3, 0}},
	} {
		t.Run(spec, func(t *testing.T) {
			rs, err := parse(spec)
			require.NoError(t, err)
			var got []read
			for name, list := range rs {
				for _, r := range list {
					got = append(got, read{name, r.action, r.nth, r.delay})
				}
			}
			require.ElementsMatch(t, want, got)
		})
	}
}

func TestAWrongFailpointIsNamed(t *testing.T) {
	for spec, want := range map[string]string{
		"nowhere":                   `"nowhere": there is no place "nowhere"; there are plan.locked, `,
		"plan.locked,":              `"": there is no place ""`,
		"Plan.locked":               "there is no place",
		"plan.locked:0":             `the pass must be a number from 1 on or *, not "0"`,
		"plan.locked:-1=kill":       "the pass must be",
		"plan.locked:=kill":         `the pass must be a number from 1 on or *, not ""`,
		"plan.locked:x=kill":        "the pass must be",
		"plan.locked=":              `the action must be kill, stop, error, panic or delay=5s, not ""`,
		"plan.locked=explode":       "the action must be",
		"plan.locked=kill=5s":       "the action must be",
		"plan.locked=delay":         `the delay must be a time such as 5s, not ""`,
		"plan.locked=delay=5":       "the delay must be",
		"plan.locked=delay=-5s":     "the delay must be",
		"plan.locked,end.row=delay": `"end.row=delay": the delay must be`,
	} {
		t.Run(spec, func(t *testing.T) {
			_, err := parse(spec)
			require.ErrorContains(t, err, want)
		})
	}
}
