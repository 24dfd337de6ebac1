package db_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"gorm.io/gorm"

	"ax/app/access"
	"ax/db"
	"ax/db/dbtest"
)

func entry(action string, team int64, when time.Time) access.Entry {
	return access.Entry{
		At: when, Action: action, TeamID: team, Reason: "价格冻结",
		Actor:   access.Actor{Kind: access.Token, ID: 12, Name: "ci-deploy", Address: "10.20.0.5", RequestID: "req-5"},
		Object:  access.Object{Kind: "task", ID: "7", Name: "order.close-unpaid"},
		Changes: []access.Change{{Field: "policy.retry", Old: "10 s", New: "30 s"}},
	}
}

var midday = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

func TestAnAuditRowIsReadAsItWasWritten(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		want := entry("task.update", 3, midday)
		require.NoError(t, d.RecordAudit(t.Context(), want))
		require.NoError(t, d.RecordAudit(t.Context(), access.Entry{At: midday, Action: "setup.link"}))
		got, err := d.Audit(t.Context(), access.Scope{All: true}, access.AuditFilter{}, 0, 10)
		require.NoError(t, err)
		require.Len(t, got, 2)
		want.ID = got[1].ID
		require.Equal(t, want, got[1])
		require.Equal(t, access.Entry{ID: got[0].ID, At: midday, Action: "setup.link"}, got[0])
	})
}

func TestALongTextInTheAuditFailsNoChange(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		long := strings.Repeat("长🧾", 5000)
		e := entry("task.update", 3, midday)
		e.Actor.Name, e.Actor.Address, e.Actor.RequestID = long, strings.Repeat("a", 300), "r\r\nx"+long+strings.Repeat("q", 300)
		e.Object.ID, e.Object.Name, e.Reason = strings.Repeat("ïi", 300), "\xff"+long, long
		e.Changes[0].New = long
		require.NoError(t, d.RecordAudit(t.Context(), e))
		got, err := d.Audit(t.Context(), access.Scope{All: true}, access.AuditFilter{}, 0, 1)
		require.NoError(t, err)
		require.Len(t, []rune(got[0].Reason), 1000)
		require.Equal(t, long, got[0].Changes[0].New, "a diff is kept whole")
		require.True(t, strings.HasPrefix(got[0].Actor.RequestID, "rxqqq"))
	})
}

func TestTheAuditIsListedByScopeFilterAndPage(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		for i, e := range []access.Entry{
			entry("task.create", 3, midday), entry("task.update", 4, midday.Add(time.Minute)),
			entry("taskforce.create", 3, midday.Add(2*time.Minute)), {At: midday.Add(3 * time.Minute), Action: "user.create"},
		} {
			e.Reason = fmt.Sprint(i)
			require.NoError(t, d.RecordAudit(t.Context(), e))
		}
		all := access.Scope{All: true}
		for name, c := range map[string]struct {
			scope  access.Scope
			filter access.AuditFilter
			want   string
		}{
			"everything":           {all, access.AuditFilter{}, "3 2 1 0"},
			"one team":             {access.Scope{Teams: []int64{3}}, access.AuditFilter{}, "2 0"},
			"two teams":            {access.Scope{Teams: []int64{3, 4}}, access.AuditFilter{}, "2 1 0"},
			"no team":              {access.Scope{}, access.AuditFilter{}, ""},
			"one action":           {all, access.AuditFilter{Action: "task.create"}, "0"},
			"a kind of action":     {all, access.AuditFilter{Action: "task."}, "1 0"},
			"a percent sign":       {all, access.AuditFilter{Action: "%."}, ""},
			"an actor":             {all, access.AuditFilter{Actor: "ci-deploy"}, "2 1 0"},
			"an object":            {access.Scope{Teams: []int64{4}}, access.AuditFilter{ObjectKind: "task", ObjectID: "7"}, "1"},
			"a time":               {all, access.AuditFilter{Since: midday.Add(time.Minute), Until: midday.Add(3 * time.Minute)}, "2 1"},
			"a word of the object": {all, access.AuditFilter{Words: "CLOSE"}, "2 1 0"},
			"another word":         {all, access.AuditFilter{Words: "c%e"}, ""},
			"what was done":        {all, access.AuditFilter{Outcome: access.Done}, "3 2 1 0"},
			"what was refused":     {all, access.AuditFilter{Outcome: access.Refused}, ""},
			"quotes in a filter":   {all, access.AuditFilter{Actor: "' OR 1=1 --"}, ""},
			"a filter for others":  {access.Scope{Teams: []int64{4}}, access.AuditFilter{Action: "task.create"}, ""},
		} {
			rows, err := d.Audit(t.Context(), c.scope, c.filter, 0, 10)
			require.NoError(t, err)
			require.Equal(t, c.want, reasons(rows), name)
		}
		first, err := d.Audit(t.Context(), all, access.AuditFilter{}, 0, 3)
		require.NoError(t, err)
		rest, err := d.Audit(t.Context(), all, access.AuditFilter{}, first[2].ID, 3)
		require.NoError(t, err)
		require.Equal(t, "0", reasons(rest))
		newer, err := d.Audit(t.Context(), all, access.AuditFilter{}, -rest[0].ID, 2)
		require.NoError(t, err)
		require.Equal(t, "1 2", reasons(newer), "those next to it, oldest first")
	})
}

func TestRefusalsAreToldApartInTheAudit(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		for _, action := range []string{"session.refuse", "task.refuser", "access.refuse"} {
			e := entry(action, 1, midday)
			e.Reason = action
			require.NoError(t, d.RecordAudit(t.Context(), e))
		}
		for outcome, want := range map[access.Outcome]string{"": "access.refuse task.refuser session.refuse", access.Refused: "access.refuse session.refuse", access.Done: "task.refuser"} {
			rows, err := d.Audit(t.Context(), access.Scope{All: true}, access.AuditFilter{Outcome: outcome}, 0, 10)
			require.NoError(t, err)
			require.Equal(t, want, reasons(rows), outcome)
		}
	})
}

// A row may stand above others that are younger: its transaction took the id
// early and its clock may be another. The bound by id leaves room for that.
func TestABoundInTimeLosesNoRowThatCommittedLate(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		for i, after := range []time.Duration{-5 * time.Hour, 20 * time.Minute, -30 * time.Minute, 0, 40 * time.Minute, -10 * time.Minute, 3 * time.Hour} {
			e := entry("task.update", 1, midday.Add(after))
			e.Reason = fmt.Sprint(i)
			require.NoError(t, d.RecordAudit(t.Context(), e))
		}
		for name, c := range map[string]struct {
			since, until time.Time
			want         string
		}{
			"since noon":    {midday, time.Time{}, "6 4 3 1"},
			"until noon":    {time.Time{}, midday, "5 2 0"},
			"half an hour":  {midday, midday.Add(30 * time.Minute), "3 1"},
			"before all":    {time.Time{}, midday.Add(-24 * time.Hour), ""},
			"after all":     {midday.Add(24 * time.Hour), time.Time{}, ""},
			"the wrong way": {midday.Add(time.Hour), midday, ""},
		} {
			rows, err := d.Audit(t.Context(), access.Scope{All: true}, access.AuditFilter{Since: c.since, Until: c.until}, 0, 10)
			require.NoError(t, err)
			require.Equal(t, c.want, reasons(rows), name)
		}
	})
}

func TestAGlanceAtTheChainTellsHowFarItIsSealed(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		c, err := d.AuditChain(t.Context())
		require.NoError(t, err)
		require.Equal(t, access.Chain{}, c, "an empty one")
		chained(t, d, 60)
		require.NoError(t, d.RecordAudit(t.Context(), entry("task.create", 1, midday)))
		c, err = d.AuditChain(t.Context())
		require.NoError(t, err)
		require.EqualValues(t, 60, c.Seals)
		require.Len(t, c.Hash, 64)
		require.Equal(t, midday, c.SealedAt)
		require.Equal(t, 50, c.Looked)
		require.Equal(t, 1, c.Waiting)
		require.Empty(t, c.Problems)
	})
}

func TestAGlanceAtTheChainSeesWhatIsBrokenAtItsEnd(t *testing.T) {
	for name, c := range map[string]struct{ sql, want string }{
		"a row changed":    {"UPDATE audit_log SET actor_name='nobody' WHERE id=59", "audit row 59 (seal 59) was changed"},
		"a row removed":    {"DELETE FROM audit_log WHERE id=60", "audit row 60 (seal 60) was removed"},
		"a seal missing":   {"DELETE FROM audit_seals WHERE seq=58", "seals 58 to 58 are missing"},
		"the end cut off":  {"DELETE FROM audit_seals WHERE seq>58", "the chain ends at seal 58, but seal 60 was made"},
		"all cut off":      {"DELETE FROM audit_seals", "the chain ends at seal 0, but seal 60 was made"},
		"far from its end": {"UPDATE audit_log SET actor_name='nobody' WHERE id=3", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dbtest.Each(t, func(t *testing.T, d *db.DB) {
				chained(t, d, 60)
				exec(t, d, c.sql)
				got, err := d.AuditChain(t.Context())
				require.NoError(t, err)
				require.Equal(t, c.want, strings.Join(got.Problems, "; "))
			})
		})
	}
}

func reasons(rows []access.Entry) string {
	var out []string
	for _, e := range rows {
		out = append(out, e.Reason)
	}
	return strings.Join(out, " ")
}

// chained is a ledger with n sealed rows, in batches of 3.
func chained(t *testing.T, d *db.DB, n int) {
	t.Helper()
	for i := range n {
		require.NoError(t, d.RecordAudit(t.Context(), entry(fmt.Sprintf("task.step%d", i), int64(i%3), midday)))
	}
	for {
		sealed, err := d.SealAudit(t.Context(), midday, 3)
		require.NoError(t, err)
		if sealed == 0 {
			return
		}
	}
}

func verify(t *testing.T, d *db.DB, now time.Time) []string {
	t.Helper()
	problems, err := d.VerifyAudit(t.Context(), now)
	require.NoError(t, err)
	return problems
}

func TestAnUntouchedAuditVerifies(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		require.Empty(t, verify(t, d, midday), "an empty one")
		require.NoError(t, d.RecordAudit(t.Context(), entry("task.create", 1, midday)))
		require.Empty(t, verify(t, d, midday), "one that isn't sealed yet")
		chained(t, d, 10)
		require.Empty(t, verify(t, d, midday.Add(24*time.Hour)))
		require.Equal(t, 11, count(t, d, "audit_seals"))
		n, err := d.SealAudit(t.Context(), midday, 100)
		require.NoError(t, err)
		require.Zero(t, n)
	})
}

func TestWhatAnotherHandDidToTheAuditIsFound(t *testing.T) {
	for name, c := range map[string]struct {
		sql  []string
		want []string
	}{
		"the actor changed":     {[]string{"UPDATE audit_log SET actor_name='nobody' WHERE id=4"}, []string{"audit row 4 (seal 4) was changed"}},
		"the time changed":      {[]string{"UPDATE audit_log SET at=at+1 WHERE id=4"}, []string{"audit row 4 (seal 4) was changed"}},
		"the diff changed":      {[]string{"UPDATE audit_log SET diff=NULL WHERE id=4"}, []string{"audit row 4 (seal 4) was changed"}},
		"the team changed":      {[]string{"UPDATE audit_log SET team_id=9 WHERE id=4"}, []string{"audit row 4 (seal 4) was changed"}},
		"a row removed":         {[]string{"DELETE FROM audit_log WHERE id=5"}, []string{"audit row 5 (seal 5) was removed"}},
		"the last row removed":  {[]string{"DELETE FROM audit_log WHERE id=10"}, []string{"audit row 10 (seal 10) was removed"}},
		"two rows exchanged":    {[]string{"UPDATE audit_log SET id=99 WHERE id=4", "UPDATE audit_log SET id=4 WHERE id=5", "UPDATE audit_log SET id=5 WHERE id=99"}, []string{"audit row 4 (seal 4) was changed", "audit row 5 (seal 5) was changed"}},
		"row and seal removed":  {[]string{"DELETE FROM audit_log WHERE id=5", "DELETE FROM audit_seals WHERE seq=5"}, []string{"seals 5 to 5 are missing"}},
		"the end cut off":       {[]string{"DELETE FROM audit_log WHERE id>8", "DELETE FROM audit_seals WHERE seq>8"}, []string{"the chain ends at seal 8, but seal 10 was made"}},
		"the begin cut off":     {[]string{"DELETE FROM audit_log WHERE id<3", "DELETE FROM audit_seals WHERE seq<3"}, []string{"seals 1 to 2 are missing"}},
		"a seal rewritten":      {[]string{"UPDATE audit_seals SET hash=REPLACE(hash, SUBSTR(hash,1,1), 'x') WHERE seq=4"}, []string{"audit row 4 (seal 4) was changed", "seal 5 does not follow seal 4"}},
		"everything thrown out": {[]string{"DELETE FROM audit_log", "DELETE FROM audit_seals"}, []string{"the chain ends at seal 0, but seal 10 was made"}},
		"a row put in a gap":    {[]string{"UPDATE audit_log SET id=0-5 WHERE id=5", "UPDATE audit_seals SET audit_id=0-5 WHERE seq=5"}, []string{"audit row -5 (seal 5) was changed"}},
		"a row put before": {[]string{"INSERT INTO audit_log (id, at, actor_kind, action) VALUES (-1, 1, 'user', 'task.update')"},
			[]string{"audit row -1 was added later"}},
		"a row with a seal put behind": {[]string{"INSERT INTO audit_log (id, at, actor_kind, action) VALUES (50, 1, 'user', 'task.update')",
			"INSERT INTO audit_seals (seq, audit_id, prev_hash, hash, sealed_at) VALUES (11, 50, 'x', 'y', 1)"}, []string{"seal 11 is beyond the end of the chain"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dbtest.Each(t, func(t *testing.T, d *db.DB) {
				chained(t, d, 10)
				for _, sql := range c.sql {
					exec(t, d, sql)
				}
				later := midday.Add(2 * time.Hour)
				require.Equal(t, c.want, verify(t, d, later))
				require.NoError(t, d.RecordAudit(t.Context(), entry("task.create", 1, later)))
				_, err := d.SealAudit(t.Context(), later, 100)
				if err == nil {
					require.NotEmpty(t, verify(t, d, later), "sealing on heals nothing")
				}
			})
		})
	}
}

// A transaction that took its id early and committed late is sealed in the
// order of sealing: nothing waits for it, and it is no stranger.
func TestARowThatCommitsLateIsSealedLater(t *testing.T) {
	d := dbtest.MariaDB(t)
	open, held := make(chan struct{}), make(chan struct{})
	var slow errgroup.Group
	slow.Go(func() error {
		return d.Tx(t.Context(), "slow", func(tx *gorm.DB) error {
			if err := db.RecordAuditIn(tx, entry("task.slow", 1, midday)); err != nil {
				return err
			}
			close(held)
			<-open
			return nil
		})
	})
	<-held
	chained(t, d, 5)
	close(open)
	require.NoError(t, slow.Wait())
	n, err := d.SealAudit(t.Context(), midday.Add(time.Minute), 100)
	require.NoError(t, err)
	require.Equal(t, 1, n)
	var last int64
	require.NoError(t, d.View(t.Context()).Raw("SELECT audit_id FROM audit_seals ORDER BY seq DESC LIMIT 1").Scan(&last).Error)
	require.EqualValues(t, 1, last, "the first id, the last seal")
	require.Empty(t, verify(t, d, midday.Add(24*time.Hour)))
}

func TestManyNodesSealOneChain(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		var g errgroup.Group
		for n := range 4 {
			g.Go(func() error {
				for i := range 15 {
					if err := d.RecordAudit(t.Context(), entry(fmt.Sprintf("task.n%d-%d", n, i), 1, midday)); err != nil {
						return err
					}
					if _, err := d.SealAudit(t.Context(), midday, 4); err != nil {
						return err
					}
				}
				return nil
			})
		}
		require.NoError(t, g.Wait())
		for n := 1; n > 0; {
			var err error
			n, err = d.SealAudit(t.Context(), midday, 100)
			require.NoError(t, err)
		}
		require.Equal(t, 60, count(t, d, "audit_seals"))
		require.Empty(t, verify(t, d, midday.Add(2*time.Hour)))
	})
}

func TestAChangeThatFailsLeavesNoAuditRow(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		boom := errors.New("boom")
		err := d.Tx(t.Context(), "fail", func(tx *gorm.DB) error {
			require.NoError(t, db.RecordAuditIn(tx, entry("task.create", 1, midday)))
			return boom
		})
		require.ErrorIs(t, err, boom)
		require.Zero(t, count(t, d, "audit_log"))
	})
}
