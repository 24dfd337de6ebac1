package db_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/fault"
	"ax/db"
	"ax/db/dbtest"
)

var call = access.Call{Scope: "token 12 POST /api/v1/tasks", Key: "k-1", Hash: strings.Repeat("a", 64)}

func begin(t *testing.T, d *db.DB, c access.Call, now time.Time) (access.Answer, bool, error) {
	t.Helper()
	return d.BeginCall(t.Context(), c, now)
}

func TestTheSameRequestGetsTheSameAnswer(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		_, done, err := begin(t, d, call, midday)
		require.NoError(t, err)
		require.False(t, done)
		want := access.Answer{Status: 201, Body: `{"code":"订单"}`}
		require.NoError(t, d.FinishCall(t.Context(), call, want))
		got, done, err := begin(t, d, call, midday.Add(23*time.Hour))
		require.NoError(t, err)
		require.True(t, done)
		require.Equal(t, want, got)
		require.NoError(t, d.FinishCall(t.Context(), call, access.Answer{Status: 500}))
		got, _, err = begin(t, d, call, midday)
		require.NoError(t, err)
		require.Equal(t, want, got, "the first answer stands")
	})
}

func TestAKeyIsRefusedWhenItIsNotTheSameRequest(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		_, _, err := begin(t, d, call, midday)
		require.NoError(t, err)
		_, _, err = begin(t, d, call, midday.Add(time.Second))
		require.Equal(t, fault.KindConflict, fault.KindOf(err), "still being worked on")
		other := call
		other.Hash = strings.Repeat("b", 64)
		_, done, err := begin(t, d, other, midday)
		require.Equal(t, []string{"Idempotency-Key"}, fieldNames(err), "another body")
		require.False(t, done)
		for _, c := range []access.Call{{Scope: "token 13 POST /api/v1/tasks", Key: "k-1"}, {Scope: call.Scope, Key: "K-1"}} {
			c.Hash = call.Hash
			_, done, err := begin(t, d, c, midday)
			require.NoError(t, err, "another caller, another key")
			require.False(t, done)
		}
	})
}

func TestOfTwoRequestsAtOnceOneWorks(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		for i := range 10 {
			c := call
			c.Key = strings.Repeat("k", i+1)
			try := func() error { _, _, err := d.BeginCall(t.Context(), c, midday); return err }
			oneWins(t, both(try, try), fault.KindConflict)
		}
	})
}

func TestAKeyIsFreeAgain(t *testing.T) {
	for name, c := range map[string]struct {
		before func(t *testing.T, d *db.DB)
		after  time.Duration
	}{
		"when its worker gave up": {func(t *testing.T, d *db.DB) { require.NoError(t, d.DropCall(t.Context(), call)) }, 0},
		"when its worker died":    {func(*testing.T, *db.DB) {}, access.CallPatience},
		"a day after the answer": {func(t *testing.T, d *db.DB) {
			require.NoError(t, d.FinishCall(t.Context(), call, access.Answer{Status: 201}))
		}, access.CallLife},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dbtest.Each(t, func(t *testing.T, d *db.DB) {
				_, _, err := begin(t, d, call, midday)
				require.NoError(t, err)
				c.before(t, d)
				changed := call
				changed.Hash = strings.Repeat("c", 64)
				_, done, err := begin(t, d, changed, midday.Add(c.after))
				require.NoError(t, err)
				require.False(t, done)
				_, _, err = begin(t, d, changed, midday.Add(c.after))
				require.Equal(t, fault.KindConflict, fault.KindOf(err))
			})
		})
	}
}

func TestOldKeysArePruned(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		for i := range 7 {
			c := call
			c.Key = strings.Repeat("k", i+1)
			_, _, err := begin(t, d, c, midday.Add(time.Duration(i)*time.Hour))
			require.NoError(t, err)
		}
		now := midday.Add(access.CallLife + 5*time.Hour)
		for _, want := range []int64{3, 2, 0} {
			n, err := d.PruneCalls(t.Context(), now, 3)
			require.NoError(t, err)
			require.Equal(t, want, n)
		}
		require.Equal(t, 2, count(t, d, "idempotency_keys"))
	})
}

// C03: the process that stored a request without a biz_id died before it could
// keep its answer. The repetition must ask for the same.
func TestWhoTakesAKeyOverNamesTheWorkAsBefore(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		first, later := call, call
		first.Name, later.Name = "first", "later"
		a, _, err := begin(t, d, first, midday)
		require.NoError(t, err)
		require.Equal(t, "first", a.Name)
		a, done, err := begin(t, d, later, midday.Add(access.CallPatience))
		require.NoError(t, err)
		require.False(t, done)
		require.Equal(t, "first", a.Name)
		a, _, err = begin(t, d, later, midday.Add(2*access.CallPatience))
		require.NoError(t, err)
		require.Equal(t, "first", a.Name, "and so does the next one")
		require.NoError(t, d.FinishCall(t.Context(), first, access.Answer{Status: 202, Body: "{}"}))
		a, _, err = begin(t, d, later, midday.Add(2*access.CallPatience+access.CallLife))
		require.NoError(t, err)
		require.Equal(t, "later", a.Name, "a key that is used again after a day means something new")
	})
}
