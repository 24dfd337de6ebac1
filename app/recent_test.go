package app_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app"
)

func TestWhatWasJustReadIsNotReadAgain(t *testing.T) {
	t.Parallel()
	var r app.Recent[int]
	reads := 0
	read := func() (int, error) { reads++; return reads, nil }
	at := time.Date(2026, 12, 2, 6, 32, 7, 0, time.UTC)
	for _, c := range []struct {
		key   string
		after time.Duration
		want  int
	}{
		{"a", 0, 1}, {"a", 1999 * time.Millisecond, 1}, {"b", 2 * time.Second, 2}, {"a", 2 * time.Second, 3},
		{"a", -time.Hour, 4}, // the clock went back
	} {
		v, err := r.Get(c.key, at.Add(c.after), 2*time.Second, read)
		require.NoError(t, err)
		require.Equal(t, c.want, v, "%s after %s", c.key, c.after)
	}
}

func TestAnErrorIsNotKept(t *testing.T) {
	t.Parallel()
	var r app.Recent[int]
	at := time.Date(2026, 12, 2, 6, 32, 7, 0, time.UTC)
	_, err := r.Get("a", at, time.Hour, func() (int, error) { return 0, errors.New("away") })
	require.EqualError(t, err, "away")
	v, err := r.Get("a", at, time.Hour, func() (int, error) { return 7, nil })
	require.NoError(t, err)
	require.Equal(t, 7, v)
}

func TestManyWhoComeAtOnceReadOnce(t *testing.T) {
	t.Parallel()
	var r app.Recent[int]
	at := time.Date(2026, 12, 2, 6, 32, 7, 0, time.UTC)
	reads := 0 // under the entry's lock
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			v, err := r.Get("a", at, time.Second, func() (int, error) { reads++; return reads, nil })
			if v != 1 || err != nil {
				t.Errorf("got %d, %v", v, err)
			}
		})
	}
	all.Wait()
}

func TestKeysThatNobodyAsksForAnyMoreAreForgotten(t *testing.T) {
	t.Parallel()
	var r app.Recent[int]
	at := time.Date(2026, 12, 2, 6, 32, 7, 0, time.UTC)
	read := func() (int, error) { return 1, nil }
	for _, key := range []string{"a", "b", "c"} {
		_, _ = r.Get(key, at, time.Second, read)
	}
	_, _ = r.Get("d", at.Add(time.Minute), time.Second, read)
	require.Equal(t, 1, r.Len())
}
