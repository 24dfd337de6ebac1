package access

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// refused is a book of refusals on a ledger and a clock of the test's.
type refused struct {
	*Refusals
	*memory
	t  *testing.T
	at time.Time
}

func newRefused(t *testing.T) *refused {
	t.Helper()
	r := &refused{memory: newMemory(), t: t, at: time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)}
	r.Refusals = NewRefusals(r.memory, func() time.Time { return r.at })
	return r
}

func (r *refused) flush() {
	r.t.Helper()
	_, err := r.Flush(r.t.Context())
	require.NoError(r.t, err)
}

// told is what the audit holds, as "who what times".
func (r *refused) told() string {
	var out []string
	for _, e := range r.audit {
		require.True(r.t, e.Refused())
		times := "1"
		for _, c := range e.Changes {
			if c.Field == TimesField {
				times = c.New
			}
		}
		out = append(out, fmt.Sprintf("%d %s %s", e.Actor.ID, e.Object.Name, times))
	}
	return strings.Join(out, "; ")
}

func attempt(who int64, path string) Refusal {
	return Refusal{Actor: Actor{Kind: User, ID: who}, Method: "POST", Route: "/tasks/:code/run", Path: path, Team: 7, Verb: RunTask, Why: "This needs the role operator in the team"}
}

func TestARefusalStandsInTheAuditOfItsTeam(t *testing.T) {
	r := newRefused(t)
	r.Note(attempt(3, "/tasks/a/run"))
	require.Empty(t, r.audit, "the answer doesn't wait for the ledger")
	r.flush()
	require.Equal(t, []Entry{{
		At: r.at, Actor: Actor{Kind: User, ID: 3}, Action: "access.refuse", TeamID: 7, Reason: "This needs the role operator in the team",
		Object:  Object{Kind: "route", ID: "POST /tasks/:code/run", Name: "POST /tasks/a/run"},
		Changes: []Change{{Field: "right", New: "task.run"}},
	}}, r.audit)
}

func TestRepeatedRefusalsAreCountedNotListed(t *testing.T) {
	r := newRefused(t)
	for i := range 500 {
		r.Note(attempt(3, fmt.Sprintf("/tasks/%d/run", i)))
		if i%100 == 0 {
			r.flush()
		}
	}
	r.Note(attempt(4, "/tasks/a/run"))
	r.flush()
	require.Equal(t, "3 POST /tasks/0/run 1; 4 POST /tasks/a/run 1", r.told(), "another actor is another row")
	r.at = r.at.Add(time.Minute)
	r.flush()
	require.Equal(t, "3 POST /tasks/0/run 1; 4 POST /tasks/a/run 1; 3 POST /tasks/499/run 499", r.told())
	r.flush()
	require.Len(t, r.audit, 3, "told once")
	r.Note(attempt(3, "/tasks/b/run"))
	r.flush()
	require.True(t, strings.HasSuffix(r.told(), "; 3 POST /tasks/b/run 1"), "a minute later it begins anew")
}

func TestALedgerThatIsAwayLosesNoRefusal(t *testing.T) {
	r := newRefused(t)
	r.away = errors.New("away")
	for range 3 {
		r.Note(attempt(3, "/tasks/a/run"))
	}
	_, err := r.Flush(t.Context())
	require.ErrorIs(t, err, r.away)
	r.away, r.at = nil, r.at.Add(time.Hour)
	r.flush()
	r.flush()
	require.Equal(t, "3 POST /tasks/a/run 1; 3 POST /tasks/a/run 2", r.told())
}

func TestRefusalsAreBoundedInMemory(t *testing.T) {
	r := newRefused(t)
	for i := range int64(maxRefusals + 5) {
		r.Note(attempt(i+1, "/tasks/a/run"))
	}
	require.Len(t, r.kept, maxRefusals)
	r.flush()
	require.Len(t, r.audit, maxRefusals+1)
	last := r.audit[maxRefusals]
	require.Equal(t, []Change{{Field: TimesField, New: "5"}}, last.Changes, "the others are counted")
	r.at = r.at.Add(time.Minute)
	r.flush()
	require.Empty(t, r.kept)
	require.Len(t, r.audit, maxRefusals+1)
}

func TestADenialTellsOfWhatAndWhere(t *testing.T) {
	err := fmt.Errorf("run: %w", Actor{Kind: User, Roles: map[int64]Role{7: Viewer}}.Check(RunTask, 7))
	d, ok := errors.AsType[*Denial](err)
	require.True(t, ok)
	require.Equal(t, RunTask, d.Verb)
	require.EqualValues(t, 7, d.Team)
}

func TestForgedTokensOfAnAddressAreARowAMinute(t *testing.T) {
	r := newRefused(t)
	rows := func() int { r.flush(); return len(r.audit) }
	for second := range 10 * 60 {
		for range 10 {
			r.NoteForged("203.0.113.7", "POST", "/api/v1/instances/x/receipt")
		}
		require.LessOrEqual(t, rows(), 1+second/60, "after %d s", second)
		r.at = r.at.Add(time.Second)
	}
	require.Equal(t, 10, len(r.audit))
	first := r.audit[0]
	require.Equal(t, "receipt.refuse", first.Action)
	require.Equal(t, "203.0.113.7", first.Actor.Address)
	require.Equal(t, "POST /api/v1/instances/x/receipt", first.Object.Name)
}

// Whoever has many addresses fills neither the ledger nor the memory, and
// hides nothing that people are refused.
func TestForgedTokensOfManyAddressesAreBounded(t *testing.T) {
	r := newRefused(t)
	for second := range 3 * 60 {
		for i := range 50 {
			r.NoteForged(fmt.Sprintf("2001:db8::%x:%x", second, i), "POST", "/api/v1/instances/x/receipt")
		}
		r.flush()
		r.at = r.at.Add(time.Second)
	}
	require.LessOrEqual(t, len(r.audit), 3*(maxStrangers+1)+1)
	before := len(r.audit)
	r.Note(attempt(3, "/tasks/a/run"))
	r.flush()
	require.Equal(t, "access.refuse", r.audit[before].Action)
	for range 3 {
		r.at = r.at.Add(time.Minute)
		r.flush()
	}
	require.Empty(t, r.kept)
	require.Zero(t, r.strangers)
	require.Zero(t, r.over, "what there was no room for is counted")
}
