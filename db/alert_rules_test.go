package db_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/alert"
	"ax/app/fault"
	"ax/db"
	"ax/db/dbtest"
)

func TestARuleIsKeptAsItWasWritten(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		h, ctx := newDesk(t, d), t.Context()
		editor := h.as(access.Editor)
		w := alert.RuleSpec{
			Team: h.team.Code, Name: " Orders fail ", Metric: alert.SuccessRate, Scope: alert.Scope{Kind: alert.OfTag, Value: " Money "}, Threshold: 97.5,
			Window: 1800, Least: 5, For: 120, Level: alert.P1, Repeat: new(0), Recovery: new(false), Mention: new(true), Reason: "as agreed",
		}
		made, err := h.Rules.Create(ctx, editor, w)
		require.NoError(t, err)
		got, err := h.Rules.Find(ctx, h.as(access.Viewer), made.ID)
		require.NoError(t, err)
		require.Equal(t, made, got)
		require.Equal(t, alert.Rule{
			ID: made.ID, TeamID: h.team.ID, Name: "Orders fail", Metric: alert.SuccessRate, Scope: alert.Scope{Kind: alert.OfTag, Value: "money"},
			Threshold: 97.5, Window: 30 * time.Minute, Least: 5, For: 2 * time.Minute, Level: alert.P1, Mention: true, Enabled: true, Version: 1,
			CreatedBy: "editor", CreatedAt: t0, ChangedBy: "editor", ChangedAt: t0,
		}, got)

		h.now = later(60)
		w.Name, w.Threshold, w.Version, w.Repeat, w.Recovery = "Orders fail", 90, 1, nil, nil
		is, err := h.Rules.Update(ctx, editor, made.ID, w)
		require.NoError(t, err)
		require.Equal(t, 2, is.Version)
		require.InDelta(t, 90, is.Threshold, 0)
		require.False(t, is.Recovery, "nil leaves it")
		_, err = h.Rules.Update(ctx, editor, made.ID, w)
		require.Equal(t, fault.KindConflict, fault.KindOf(err))
		require.ErrorContains(t, err, "editor changed the rule meanwhile: it is at version 2, you began from 1")
		rows, err := d.Audit(ctx, access.Scope{All: true}, access.AuditFilter{Action: "rule.update"}, 0, 10)
		require.NoError(t, err)
		require.Len(t, rows, 1)
		require.Equal(t, []access.Change{{Field: "threshold", Old: "97.5", New: "90"}}, rows[0].Changes)
		require.Equal(t, "as agreed", rows[0].Reason)
		require.Equal(t, h.team.ID, rows[0].TeamID)
	})
}

func TestRulesAreSeenByTheTeamAndThoseOfTheHouseByAll(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		h, ctx := newDesk(t, d), t.Context()
		wrote, err := d.SeedHouseRules(ctx, t0)
		require.NoError(t, err)
		require.True(t, wrote)
		other := dbtest.MakeTeam(t, d)
		mine := len(alert.TeamDefaults())
		house := len(alert.HouseDefaults())
		list := func(a access.Actor, asked access.Scope) int {
			rules, err := h.Rules.List(ctx, a, asked)
			require.NoError(t, err)
			return len(rules)
		}
		require.Equal(t, house+mine, list(h.as(access.Viewer), access.Scope{}))
		require.Equal(t, house+mine, list(cli, access.Scope{Teams: []int64{h.team.ID}}))
		require.Equal(t, house+2*mine, list(cli, access.Scope{}))
		require.Equal(t, house, list(h.as(access.Viewer), access.Scope{Teams: []int64{other.ID}}), "a filter doesn't widen")
		require.Zero(t, list(access.Actor{Kind: access.User}, access.Scope{}), "who is in no team")

		rules, err := h.Rules.List(ctx, cli, access.Scope{})
		require.NoError(t, err)
		ofHouse, ofOther := rules[0], rules[len(rules)-1]
		require.Zero(t, ofHouse.TeamID)
		require.Equal(t, other.ID, ofOther.TeamID)
		editor := h.as(access.Editor)
		_, err = h.Rules.SetEnabled(ctx, editor, ofHouse.ID, false, "")
		require.Equal(t, fault.KindDenied, fault.KindOf(err))
		_, err = h.Rules.SetEnabled(ctx, editor, ofOther.ID, false, "")
		require.Equal(t, fault.KindNotFound, fault.KindOf(err))
		_, err = h.Rules.SetEnabled(ctx, h.as(access.Operator), rules[house].ID, false, "")
		require.Equal(t, fault.KindDenied, fault.KindOf(err))
		require.Equal(t, fault.KindNotFound, fault.KindOf(h.Rules.Delete(ctx, editor, ofOther.ID, "")))
		require.Equal(t, fault.KindDenied, fault.KindOf(h.Rules.Delete(ctx, editor, ofHouse.ID, "")))
		require.Zero(t, auditOf(t, d, "rule.disable"))

		w := h.ruleSpec("x")
		w.Team = ""
		_, err = h.Rules.Create(ctx, editor, w)
		require.Equal(t, fault.KindDenied, fault.KindOf(err))
		w.Team = other.Code
		_, err = h.Rules.Create(ctx, editor, w)
		require.Equal(t, "team", fault.Fields(err)[0].Name)
		w.Team = h.team.Code
		_, err = h.Rules.Create(ctx, h.as(access.Operator), w)
		require.Equal(t, fault.KindDenied, fault.KindOf(err))
	})
}

func TestSwitchedOffRulesAreNotEvaluated(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		h, ctx := newDesk(t, d), t.Context()
		r := h.rule("mine")
		before, err := d.AlertRules(ctx)
		require.NoError(t, err)
		require.Contains(t, names(before), "mine")
		require.NoError(t, d.SetBroken(ctx, r.ID, "no such table", later(5)))
		require.NoError(t, d.SetBroken(ctx, r.ID, "no such table", later(9)))
		got, err := d.Rule(ctx, r.ID)
		require.NoError(t, err)
		require.Equal(t, "no such table", got.Broken)
		require.Equal(t, later(5), got.BrokenAt, "since when")

		off, err := h.Rules.SetEnabled(ctx, h.as(access.Editor), r.ID, false, "moving house")
		require.NoError(t, err)
		require.Equal(t, 2, off.Version)
		require.Empty(t, off.Broken, "changed: it may be mended")
		after, err := d.AlertRules(ctx)
		require.NoError(t, err)
		require.NotContains(t, names(after), "mine")
		again, err := h.Rules.SetEnabled(ctx, h.as(access.Editor), r.ID, false, "twice")
		require.NoError(t, err)
		require.Equal(t, 2, again.Version)
		require.Equal(t, 1, auditOf(t, d, "rule.disable"))
		require.NoError(t, d.SetBroken(ctx, r.ID, "x", later(9)))
		require.NoError(t, d.SetBroken(ctx, r.ID, "", later(10)))
		got, err = d.Rule(ctx, r.ID)
		require.NoError(t, err)
		require.Empty(t, got.Broken)
		require.Zero(t, got.BrokenAt)
		require.NoError(t, d.SetBroken(ctx, 999_999, "x", t0), "gone")
	})
}

func TestTheRulesOfATeamAreBoundedAndNamedOnce(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		h := newDesk(t, d)
		n := len(alert.TeamDefaults())
		errs := make([]error, 6)
		var done sync.WaitGroup
		for i := range errs {
			r := alert.Rule{TeamID: h.team.ID, Name: fmt.Sprint("r", min(i, 4)), Metric: alert.InARow, Threshold: 1, Version: 1, CreatedAt: t0, ChangedAt: t0}.Default()
			done.Go(func() {
				_, errs[i] = d.InsertRule(t.Context(), r, n+3, access.Entry{At: t0, Actor: cli, Action: "rule.create"})
			})
		}
		done.Wait()
		refused := 0
		for _, err := range errs {
			if err != nil {
				refused++
				require.Equal(t, "name", fault.Fields(err)[0].Name, "%v", err)
			}
		}
		require.Equal(t, 3, refused)
		require.Equal(t, n+3, count(t, d, "alert_rules"))
		_, err := h.Rules.Create(t.Context(), h.as(access.Editor), h.ruleSpec("Run too long"))
		require.Equal(t, fault.KindConflict, fault.KindOf(err))
		require.Equal(t, "name", fault.Fields(err)[0].Name)
	})
}

// Deleting a rule takes away who was told of it alone, and nobody else.
func TestADeletedRuleTakesItsSubscriptionsAlong(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		h, ctx := newDesk(t, d), t.Context()
		r := h.rule("mine")
		ada := h.person("ada", "ada@example.org", access.Editor)
		for _, rule := range []int64{r.ID, 0} {
			_, err := h.Services.Subscriptions.Create(ctx, ada, alert.SubscriptionSpec{Team: h.team.Code, Person: "ada", RuleID: rule})
			require.NoError(t, err)
		}
		require.NoError(t, h.Rules.Delete(ctx, ada, r.ID, "noise"))
		require.Equal(t, 1, count(t, d, "subscriptions"))
		require.Equal(t, fault.KindNotFound, fault.KindOf(h.Rules.Delete(ctx, ada, r.ID, "noise")))
		rows, err := d.Audit(ctx, access.Scope{All: true}, access.AuditFilter{Action: "rule.delete"}, 0, 10)
		require.NoError(t, err)
		require.Len(t, rows, 1)
		require.Contains(t, rows[0].Changes, access.Change{Field: "subscriptions", Old: "1", New: "0"})
	})
}

// What an installation begins with is made once; what somebody deletes stays
// away, whatever starts anew.
func TestTheFirstRulesAreMadeOnce(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		team, old := dbtest.MakeTeam(t, d), dbtest.MakeTeam(t, d)
		exec(t, d, "DELETE FROM alert_rules WHERE team_id=?", old.ID) // made by an older ax
		wrote := make([]bool, 3)
		var done sync.WaitGroup
		for i := range wrote {
			done.Go(func() {
				var err error
				wrote[i], err = d.SeedHouseRules(ctx, t0)
				require.NoError(t, err)
			})
		}
		done.Wait()
		require.ElementsMatch(t, []bool{true, false, false}, wrote)
		for id, want := range map[int64]int{0: len(alert.HouseDefaults()), team.ID: len(alert.TeamDefaults()), old.ID: len(alert.TeamDefaults())} {
			require.Equal(t, want, count(t, d, fmt.Sprint("alert_rules WHERE team_id=", id)))
		}
		require.Equal(t, 2, auditOf(t, d, "rule.seed"), "of the house and of the old team")
		rules, err := d.RulesOf(ctx, access.Scope{})
		require.NoError(t, err)
		for _, r := range rules {
			require.Equal(t, alert.Scope{Kind: alert.All}, r.Scope)
			require.True(t, r.Enabled)
		}
		exec(t, d, "DELETE FROM alert_rules WHERE team_id IN (0, ?)", old.ID)
		again, err := d.SeedHouseRules(ctx, later(60))
		require.NoError(t, err)
		require.False(t, again)
		require.Equal(t, len(alert.TeamDefaults()), count(t, d, "alert_rules"))
	})
}

// A metric that a later release brings gets its first rules in every team that
// has none of it, once.
func TestANewMetricGetsItsFirstRules(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		one, two, own := dbtest.MakeTeam(t, d), dbtest.MakeTeam(t, d), dbtest.MakeTeam(t, d)
		_, err := d.SeedHouseRules(ctx, t0)
		require.NoError(t, err)
		exec(t, d, "DELETE FROM settings WHERE name='alert.rules_known'") // of a release without the list and the two metrics
		exec(t, d, "DELETE FROM alert_rules WHERE metric IN (?, ?) AND team_id<>?", alert.NoExecutor, alert.RedisEvicts, own.ID)
		exec(t, d, "DELETE FROM alert_rules WHERE metric=? AND team_id=?", alert.OpenLetters, one.ID)                      // nobody wants it
		exec(t, d, "UPDATE alert_rules SET metric=? WHERE metric=? AND team_id=?", alert.InARow, alert.NoExecutor, own.ID) // keeps the name
		before := count(t, d, "alert_rules")
		wrote := make([]bool, 3)
		var done sync.WaitGroup
		for i := range wrote {
			done.Go(func() {
				var err error
				wrote[i], err = d.SeedHouseRules(ctx, later(60))
				require.NoError(t, err)
			})
		}
		done.Wait()
		require.ElementsMatch(t, []bool{true, false, false}, wrote)
		require.Equal(t, before+3, count(t, d, "alert_rules"), "two teams and the house")
		for team, n := range map[int64]int{one.ID: 1, two.ID: 1, own.ID: 0} {
			require.Equal(t, n, count(t, d, fmt.Sprintf("alert_rules WHERE metric='%s' AND team_id=%d", alert.NoExecutor, team)))
		}
		require.Equal(t, 1, count(t, d, fmt.Sprintf("alert_rules WHERE metric='%s' AND team_id=0", alert.RedisEvicts)))
		require.Zero(t, count(t, d, fmt.Sprintf("alert_rules WHERE metric='%s' AND team_id=%d", alert.OpenLetters, one.ID)))
		exec(t, d, "DELETE FROM alert_rules WHERE metric=?", alert.NoExecutor)
		again, err := d.SeedHouseRules(ctx, later(120))
		require.NoError(t, err)
		require.False(t, again, "what was deleted stays away")
	})
}

// Every rule that ax makes by itself is one that a person could have written.
func TestTheFirstRulesPassTheirOwnChecks(t *testing.T) {
	for _, team := range []int64{0, 7} {
		rules := alert.TeamDefaults()
		if team == 0 {
			rules = alert.HouseDefaults()
		}
		for _, r := range rules {
			r = r.Default()
			_, err := alert.RuleSpec{
				Name: r.Name, Metric: r.Metric, Scope: r.Scope, Threshold: r.Threshold, Window: int(r.Window / time.Second), Least: r.Least,
				For: int(r.For / time.Second), Level: r.Level,
			}.Resolve(alert.Rule{}, team, nil)
			require.NoError(t, err, r.Name)
		}
	}
}
