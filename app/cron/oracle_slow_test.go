//go:build slow

package cron

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every clock change of 60 years in 20 zones, on each second and, with many
// more expressions than the quick test, on each minute.
func TestEveryClockChangeOf60YearsEqualsTheOracle(t *testing.T) {
	for _, name := range oracleZones {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			loc, w := zone(t, name), writer{rand.New(rand.NewPCG(10, uint64(len(name))))}
			changes := transitions(loc, 1976, 2036)
			require.NotEmpty(t, changes)
			for _, change := range changes {
				secondsAround(t, w, name, loc, change, 6)
				minutesAround(t, w, name, loc, change, 20)
			}
			t.Logf("%d changes", len(changes))
		})
	}
}
