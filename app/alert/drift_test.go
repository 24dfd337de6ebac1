package alert

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestValuesThatDriftAreStoredEachHalfMinuteAndTheWorstIsKept(t *testing.T) {
	f, c, e := scene()
	f.readings[InARow] = fails(3)
	turns(t, e, c, 0, gather)
	stored := f.one().Version
	for n, value := range []int{4, 9, 5, 6, 7, 8} {
		f.readings[InARow] = fails(value)
		turns(t, e, c, 5*time.Second)
		require.Equal(t, stored, f.one().Version, "turn %d", n)
	}
	f.readings[InARow] = fails(7)
	turns(t, e, c, 5*time.Second)
	require.Equal(t, stored+1, f.one().Version)
	require.InDelta(t, 7, f.one().Value, 0)
	require.InDelta(t, 9, f.one().Worst, 0, "though it was never stored as the value")

	f.readings[InARow] = fails(8)
	turns(t, e, c, 5*time.Second)
	require.Equal(t, stored+1, f.one().Version)
	f.readings[InARow] = nil
	turns(t, e, c, 5*time.Second)
	require.Equal(t, stored+2, f.one().Version, "that it is quiet is stored at once")
}
