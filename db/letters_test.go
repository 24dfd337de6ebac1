package db_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"ax/app/access"
	"ax/app/fault"
	"ax/app/sched"
	"ax/db"
	"ax/db/dbtest"
)

// editLetter changes a letter as the use case does.
func editLetter(t *testing.T, d *db.DB, id int64, set func(*sched.Letter)) sched.Letter {
	t.Helper()
	l, err := d.EditLetter(t.Context(), id, func(old sched.Letter) (sched.Letter, access.Entry, error) {
		set(&old)
		return old, ask("letter.edit"), nil
	})
	require.NoError(t, err)
	return l
}

func letterAt(t *testing.T, d *db.DB, id int64) sched.Letter {
	t.Helper()
	l, err := d.Letter(t.Context(), id)
	require.NoError(t, err)
	return l
}

func TestAReplayRunsTheSameBusinessActionAgain(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task := dbtest.MakeTask(t, d)
		l, old := dbtest.MakeLetter(t, d, task, dbtest.Biz("order-4711"))
		in := replay(t, d, l.ID, later(60))
		row := read(t, d, in.ID)
		require.Equal(t, in, row)
		require.Equal(t, sched.Instance{
			ID: in.ID, TaskID: task.ID, TeamID: task.TeamID, Queue: "default", BizID: "order-4711", Replay: 1, ReplayOf: old.ID,
			Origin: sched.FromReplay, RequestedBy: "lin", Payload: []byte(`{"order":1}`), WantedAt: later(60), DueAt: later(60),
			State: sched.Pending, CreatedAt: later(60),
		}, row)
		require.Equal(t, old.Key(task.Code), row.Key(task.Code))
		got := letterAt(t, d, l.ID)
		require.Equal(t, in.ID, got.Replaying)
		require.Equal(t, 1, got.Replay)
		require.Greater(t, got.Version, l.Version)
		e := lastAudit(t, d)
		require.Equal(t, "letter.replay", e.Action)
		require.Equal(t, []access.Change{{Field: "replaying", New: in.ID}}, e.Changes)
	})
}

// ends of a replay, each reached as in life, and what they make of the letter
// (flaw 32).
func TestEveryEndOfAReplayLetsTheLetterGo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		end    func(t *testing.T, d *db.DB, in sched.Instance, node sched.NodeInfo)
		status sched.LetterStatus
		opens  int
	}{
		"a success solves it": {func(t *testing.T, d *db.DB, in sched.Instance, node sched.NodeInfo) {
			settle(t, d, take(t, d, in.ID, node, later(60)), success(), later(61))
		}, sched.LetterSolved, 1},
		"a receipt of success solves it": {func(t *testing.T, d *db.DB, in sched.Instance, node sched.NodeInfo) {
			settle(t, d, take(t, d, in.ID, node, later(60)), accepted(), later(61))
			_, err := receive(d, t, in.ID, 1, sched.OutcomeSucceeded)
			require.NoError(t, err)
		}, sched.LetterSolved, 1},
		"a failure reopens it": {func(t *testing.T, d *db.DB, in sched.Instance, node sched.NodeInfo) {
			settle(t, d, take(t, d, in.ID, node, later(60)), failure(), later(61))
		}, sched.LetterOpen, 2},
		"a receipt of failure reopens it": {func(t *testing.T, d *db.DB, in sched.Instance, node sched.NodeInfo) {
			settle(t, d, take(t, d, in.ID, node, later(60)), accepted(), later(61))
			_, err := receive(d, t, in.ID, 1, sched.OutcomeFailed)
			require.NoError(t, err)
		}, sched.LetterOpen, 2},
		"a missed receipt reopens it": {func(t *testing.T, d *db.DB, in sched.Instance, node sched.NodeInfo) {
			c := take(t, d, in.ID, node, later(60))
			settle(t, d, c, accepted(), later(61))
			require.NoError(t, d.EndAwaiting(t.Context(), held(c), later(90000)))
		}, sched.LetterOpen, 2},
		"a loss reopens it": {func(t *testing.T, d *db.DB, in sched.Instance, node sched.NodeInfo) {
			exec(t, d, "UPDATE instances SET deaths=2 WHERE id=?", in.ID)
			lose(t, d, held(take(t, d, in.ID, node, later(60))), later(61))
		}, sched.LetterOpen, 2},
		"an overdue attempt reopens it": {func(t *testing.T, d *db.DB, in sched.Instance, node sched.NodeInfo) {
			require.NoError(t, d.EndOverdue(t.Context(), held(take(t, d, in.ID, node, later(60))), later(160)))
		}, sched.LetterOpen, 2},
		"a cancel clears it": {func(t *testing.T, d *db.DB, in sched.Instance, _ sched.NodeInfo) {
			cancel(t, d, in.ID, later(60))
		}, sched.LetterOpen, 1},
		"a cancel while it awaits clears it": {func(t *testing.T, d *db.DB, in sched.Instance, node sched.NodeInfo) {
			settle(t, d, take(t, d, in.ID, node, later(60)), accepted(), later(61))
			cancel(t, d, in.ID, later(62))
		}, sched.LetterOpen, 1},
		"a wish clears it": {func(t *testing.T, d *db.DB, in sched.Instance, node sched.NodeInfo) {
			c := take(t, d, in.ID, node, later(60))
			cancel(t, d, in.ID, later(60))
			settle(t, d, c, cutOff(), later(61))
		}, sched.LetterOpen, 1},
		"a wish handed back clears it": {func(t *testing.T, d *db.DB, in sched.Instance, node sched.NodeInfo) {
			c := take(t, d, in.ID, node, later(60))
			cancel(t, d, in.ID, later(60))
			handBack(t, d, c, later(61))
		}, sched.LetterOpen, 1},
		"a lost wish that was not sent clears it": {func(t *testing.T, d *db.DB, in sched.Instance, node sched.NodeInfo) {
			exec(t, d, "UPDATE task_versions SET spec=REPLACE(spec, '\"idempotent\":true', '\"idempotent\":false')")
			c := take(t, d, in.ID, node, later(60))
			cancel(t, d, in.ID, later(60))
			lose(t, d, held(c), later(61))
		}, sched.LetterOpen, 1},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, d *db.DB) {
				l, old := dbtest.MakeLetter(t, d, dbtest.MakeTask(t, d, dbtest.Retries(0)))
				in := replay(t, d, l.ID, later(60))
				c.end(t, d, in, dbtest.MakeNode(t, d))
				require.True(t, read(t, d, in.ID).State.Final())
				got := letterAt(t, d, l.ID)
				require.Empty(t, got.Replaying)
				require.Equal(t, c.status, got.Status)
				require.Equal(t, c.opens, got.Opens)
				require.Equal(t, 1, got.Replay)
				require.Equal(t, got.Status.Closed(), !got.ClosedAt.IsZero())
				if c.opens == 2 {
					require.Equal(t, in.ID, got.InstanceID, "the latest bad end")
					require.Equal(t, sched.State(got.Outcome), read(t, d, in.ID).State)
				} else {
					require.Equal(t, old.ID, got.InstanceID)
				}
				if !got.Status.Closed() {
					require.Equal(t, 2, replay(t, d, l.ID, later(100000)).Replay, "it can be replayed again")
				}
			})
		})
	}
}

func TestAnOpenReplayKeepsItsLetterUntilItEnds(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		l, _ := dbtest.MakeLetter(t, d, dbtest.MakeTask(t, d))
		node := dbtest.MakeNode(t, d)
		in := replay(t, d, l.ID, later(60))
		settle(t, d, take(t, d, in.ID, node, later(60)), failure(), later(61)) // a retry is no end
		require.Equal(t, in.ID, letterAt(t, d, l.ID).Replaying)
		c := take(t, d, in.ID, node, later(80))
		handBack(t, d, c, later(80))
		lose(t, d, held(take(t, d, in.ID, node, later(81))), later(82))
		require.Equal(t, in.ID, letterAt(t, d, l.ID).Replaying)
	})
}

func TestALetterIsReplayedOnlyWhileItIsOpen(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		l, _ := dbtest.MakeLetter(t, d, dbtest.MakeTask(t, d))
		try := func() error {
			_, err := d.Replay(t.Context(), l.ID, dbtest.ID(), later(60), person, "")
			return err
		}
		for _, s := range []sched.LetterStatus{sched.LetterSolved, sched.LetterWontFix} {
			editLetter(t, d, l.ID, func(l *sched.Letter) { l.Status, l.ClosedAt = s, later(2) })
			require.Equal(t, fault.KindConflict, fault.KindOf(try()), s)
		}
		editLetter(t, d, l.ID, func(l *sched.Letter) { l.Status, l.ClosedAt = sched.LetterTaken, time.Time{} })
		require.NoError(t, try(), "taken is open")
		require.Equal(t, fault.KindConflict, fault.KindOf(try()), "one at a time")
		_, err := d.Replay(t.Context(), 999, dbtest.ID(), later(60), person, "")
		require.Equal(t, fault.KindNotFound, fault.KindOf(err))
		require.Equal(t, 2, count(t, d, "instances"))
	})
}

// DEAD-05: a double click replays once; each accepted one has an audit row
// (flaw 15).
func TestDEAD05OfTwoReplaysAtOnceOneIsMade(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task, node := dbtest.MakeTask(t, d, dbtest.Retries(0)), dbtest.MakeNode(t, d)
		l, _ := dbtest.MakeLetter(t, d, task)
		for n := range 10 {
			now := later(float64(100 * (n + 1)))
			try := func() error {
				_, err := d.Replay(t.Context(), l.ID, dbtest.IDAt(now), now, person, "double click")
				return err
			}
			oneWins(t, both(try, try), fault.KindConflict)
			got := letterAt(t, d, l.ID)
			require.Equal(t, n+1, got.Replay)
			settle(t, d, take(t, d, got.Replaying, node, now), failure(), now)
		}
		require.Equal(t, 11, count(t, d, "instances"))
		rows, err := d.Audit(t.Context(), all, access.AuditFilter{Action: "letter.replay"}, 0, 100)
		require.NoError(t, err)
		require.Len(t, rows, 10)
		require.Equal(t, 11, letterAt(t, d, l.ID).Opens)
	})
}

func TestAReplayWaitsForAnEditOfItsLetter(t *testing.T) {
	t.Parallel()
	d := dbtest.MariaDB(t)
	l, _ := dbtest.MakeLetter(t, d, dbtest.MakeTask(t, d))
	var g errgroup.Group
	editLetter(t, d, l.ID, func(l *sched.Letter) {
		g.Go(func() error {
			_, err := d.Replay(t.Context(), l.ID, dbtest.ID(), later(60), person, "")
			return err
		})
		awaitLockWait(t, d)
		l.Status, l.ClosedAt = sched.LetterSolved, later(60)
	})
	require.Equal(t, fault.KindConflict, fault.KindOf(g.Wait()), "it was solved meanwhile")
	require.Equal(t, 1, count(t, d, "instances"))
	clean(t, d)
}

// DEAD-01: the new instance and the letter stand or fall together.
func TestDEAD01AReplayThatIsCutOffLeavesBothOrNeither(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]string{
		"before the instance": "INSERT INTO instances", "between the two": "UPDATE dead_letters", "before the audit": "INSERT INTO `audit_log`", "before the commit": "COMMIT",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, w := through(t)
			l, _ := dbtest.MakeLetter(t, d, dbtest.MakeTask(t, d))
			w.before.Store(at)
			_, err := d.Replay(t.Context(), l.ID, dbtest.ID(), later(60), person, "")
			require.Error(t, err)
			w.before.Store("")
			require.Equal(t, 1, count(t, d, "instances"))
			require.Empty(t, letterAt(t, d, l.ID).Replaying)
			clean(t, d)
			replay(t, d, l.ID, later(61))
			clean(t, d)
		})
	}
}

func TestAReplayWhoseNumberIsTakenMakesNothing(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		l, in := dbtest.MakeLetter(t, d, dbtest.MakeTask(t, d))
		exec(t, d, "INSERT INTO instances (id, task_id, team_id, queue, biz_id, replay, origin, wanted_at, due_at, state, created_at, finished_at)"+
			" VALUES (?,?,?,'default',?,1,'replay',1,1,'succeeded',1,1)", dbtest.ID(), in.TaskID, in.TeamID, in.BizID)
		_, err := d.Replay(t.Context(), l.ID, dbtest.ID(), later(60), person, "")
		require.Equal(t, fault.KindConflict, fault.KindOf(err))
		require.Empty(t, letterAt(t, d, l.ID).Replaying)
	})
}

func TestALetterThatFailsAgainIsReopenedOrStaysTaken(t *testing.T) {
	t.Parallel()
	for status, want := range map[sched.LetterStatus]sched.LetterStatus{
		sched.LetterOpen: sched.LetterOpen, sched.LetterTaken: sched.LetterTaken,
		sched.LetterSolved: sched.LetterOpen, sched.LetterWontFix: sched.LetterOpen,
	} {
		t.Run(string(status), func(t *testing.T) {
			each(t, func(t *testing.T, d *db.DB) {
				l, _ := dbtest.MakeLetter(t, d, dbtest.MakeTask(t, d, dbtest.Retries(0)))
				in := replay(t, d, l.ID, later(60))
				editLetter(t, d, l.ID, func(l *sched.Letter) {
					l.Status, l.Solution = status, "restart the printer"
					if status.Closed() {
						l.ClosedAt, l.ClosedBy = later(61), "lin"
					}
				})
				s := silence()
				s.Error = "no answer"
				settle(t, d, take(t, d, in.ID, dbtest.MakeNode(t, d), later(60)), s, later(70))
				got := letterAt(t, d, l.ID)
				require.Equal(t, want, got.Status)
				require.Equal(t, 2, got.Opens)
				require.Equal(t, later(70), got.OpenedAt)
				require.True(t, got.ClosedAt.IsZero())
				require.Empty(t, got.ClosedBy)
				require.Equal(t, sched.OutcomeTimedOut, got.Outcome)
				require.Equal(t, "no answer", got.Error)
				require.Equal(t, "restart the printer", got.Solution, "what people wrote stays")
			})
		})
	}
}

func TestALetterIsEditedUnderItsLock(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		l, _ := dbtest.MakeLetter(t, d, dbtest.MakeTask(t, d))
		h := newHouse(t, d)
		lin := h.person(t, "lin", true)
		got := editLetter(t, d, l.ID, func(l *sched.Letter) {
			l.Status, l.Solution, l.Cause, l.AssigneeID, l.Assignee = sched.LetterTaken, strings.Repeat("解", 20_000), "a printer", lin.ID, "lin"
		})
		require.Equal(t, l.Version+1, got.Version)
		require.Equal(t, got, letterAt(t, d, l.ID))
		editLetter(t, d, l.ID, func(l *sched.Letter) {
			require.Equal(t, "lin", l.Assignee, "read for the audit")
			l.AssigneeID, l.Assignee, l.Solution = 0, "", ""
		})
		require.Zero(t, letterAt(t, d, l.ID).AssigneeID)
		boom := fault.Conflict("stale")
		_, err := d.EditLetter(t.Context(), l.ID, func(sched.Letter) (sched.Letter, access.Entry, error) {
			return sched.Letter{}, access.Entry{}, boom
		})
		require.ErrorIs(t, err, boom)
		_, err = d.EditLetter(t.Context(), 999, func(l sched.Letter) (sched.Letter, access.Entry, error) { return l, access.Entry{}, nil })
		require.Equal(t, fault.KindNotFound, fault.KindOf(err))
	})
}

func TestOnlyMembersAndAdminsCanBeAssigned(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		h := newHouse(t, d)
		team := h.team(t, "ops")
		member, stranger, admin := h.person(t, "lin", false), h.person(t, "wei", false), h.person(t, "root", true)
		exec(t, d, "INSERT INTO memberships (team_id, user_id, role) VALUES (?,?,'viewer')", team.ID, member.ID)
		for login, want := range map[string]int64{"lin": member.ID, "root": admin.ID} {
			id, err := d.Member(t.Context(), login, team.ID)
			require.NoError(t, err)
			require.Equal(t, want, id)
		}
		exec(t, d, "UPDATE users SET disabled=1 WHERE id=?", admin.ID)
		for _, login := range []string{stranger.Login, "nobody", "root", ""} {
			_, err := d.Member(t.Context(), login, team.ID)
			require.Equal(t, fault.KindNotFound, fault.KindOf(err), login)
		}
	})
}
