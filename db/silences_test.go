package db_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/alert"
	"ax/app/fault"
	"ax/db"
	"ax/db/dbtest"
)

func (h *desk) silence(w alert.SilenceSpec) alert.Silence {
	h.t.Helper()
	if w.Team == "" {
		w.Team = h.team.Code
	}
	if w.Reason == "" {
		w.Reason = "release"
	}
	s, err := h.Silences.Create(h.t.Context(), h.as(access.Operator), w)
	require.NoError(h.t, err)
	return s
}

func TestASilenceIsComingThenActiveThenOver(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		h, ctx := newDesk(t, d), t.Context()
		now := h.silence(alert.SilenceSpec{Lasts: 1200})
		soon := h.silence(alert.SilenceSpec{Scope: alert.Scope{Kind: alert.OfTag, Value: "Money"}, StartsAt: later(600), EndsAt: later(1800)})
		night := h.silence(alert.SilenceSpec{Cron: "0 2 * * *", Zone: "Asia/Shanghai", Lasts: 7200})
		got, err := h.Silences.Find(ctx, h.as(access.Viewer), night.ID)
		require.NoError(t, err)
		require.Equal(t, night, got)
		require.Equal(t, later(1200), now.EndsAt)
		require.Equal(t, "money", soon.Scope.Value)
		ids := func(state alert.SilenceState) []int64 {
			list, err := h.Silences.List(ctx, h.as(access.Viewer), access.Scope{}, state, 0, 10)
			require.NoError(t, err)
			var out []int64
			for _, s := range list {
				out = append(out, s.ID)
			}
			return out
		}
		require.Equal(t, []int64{now.ID}, ids(alert.SilenceActive))
		require.Equal(t, []int64{night.ID, soon.ID}, ids(alert.SilenceComing))
		h.now = later(1500)
		require.Equal(t, []int64{soon.ID}, ids(alert.SilenceActive))
		require.Equal(t, []int64{now.ID}, ids(alert.SilenceEnded))
		h.now = time.Date(2026, 12, 1, 19, 0, 0, 0, time.UTC) // 03:00 in Shanghai
		require.Equal(t, []int64{night.ID}, ids(alert.SilenceActive))
		may, err := d.ActiveSilences(ctx, h.now)
		require.NoError(t, err)
		require.Equal(t, []alert.Silence{night}, may)

		h.now = h.now.Add(time.Minute)
		ended, err := h.Silences.EndNow(ctx, h.as(access.Operator), night.ID, "done early")
		require.NoError(t, err)
		require.Equal(t, h.now, ended.EndedAt)
		require.Equal(t, []int64{night.ID, soon.ID, now.ID}, ids(alert.SilenceEnded))
		list, err := h.Silences.List(ctx, cli, access.Scope{}, alert.SilenceEnded, night.ID, 1)
		require.NoError(t, err)
		require.Equal(t, []alert.Silence{soon}, list, "the page after")
		_, err = h.Silences.EndNow(ctx, h.as(access.Operator), night.ID, "")
		require.Equal(t, fault.KindConflict, fault.KindOf(err))
		_, err = h.Silences.EndNow(ctx, h.as(access.Operator), now.ID, "")
		require.Equal(t, fault.KindConflict, fault.KindOf(err), "over by itself")
		require.Equal(t, 1, auditOf(t, d, "silence.end"))
	})
}

func TestSilencesOfEveryTeamAreTheAdministrators(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		h, ctx := newDesk(t, d), t.Context()
		w := alert.SilenceSpec{Reason: "the move", Lasts: 600}
		_, err := h.Silences.Create(ctx, h.as(access.Owner), w)
		require.Equal(t, fault.KindDenied, fault.KindOf(err))
		all, err := h.Silences.Create(ctx, cli, w)
		require.NoError(t, err)
		require.Zero(t, all.TeamID)
		mine := h.silence(alert.SilenceSpec{Lasts: 600})
		open, err := h.Silences.Open(ctx, h.as(access.Viewer), access.Scope{})
		require.NoError(t, err)
		require.Equal(t, []alert.Silence{mine, all}, open)
		_, err = h.Silences.EndNow(ctx, h.as(access.Owner), all.ID, "")
		require.Equal(t, fault.KindDenied, fault.KindOf(err))
		_, err = h.Silences.EndNow(ctx, h.as(access.Viewer), mine.ID, "")
		require.Equal(t, fault.KindDenied, fault.KindOf(err))
		stranger := access.Actor{Kind: access.User, Roles: map[int64]access.Role{dbtest.MakeTeam(t, d).ID: access.Owner}}
		_, err = h.Silences.EndNow(ctx, stranger, mine.ID, "")
		require.Equal(t, fault.KindNotFound, fault.KindOf(err))
		open, err = h.Silences.Open(ctx, stranger, access.Scope{})
		require.NoError(t, err)
		require.Equal(t, []alert.Silence{all}, open)
		w.Team = h.team.Code
		_, err = h.Silences.Create(ctx, h.as(access.Viewer), w)
		require.Equal(t, fault.KindDenied, fault.KindOf(err))
	})
}

func TestASilenceNamesWhatTheTeamHas(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		h, ctx := newDesk(t, d), t.Context()
		other := dbtest.MakeTeam(t, d)
		dbtest.MakeTask(t, d, dbtest.Of(h.team), dbtest.Code("mine"))
		dbtest.MakeTask(t, d, dbtest.Of(other), dbtest.Code("theirs"))
		rules, err := d.RulesOf(ctx, access.Scope{Teams: []int64{other.ID}})
		require.NoError(t, err)
		for name, c := range map[string]struct {
			scope string
			rule  int64
			want  []string
		}{
			"a task of its own":   {"mine", 0, nil},
			"a task of others":    {"theirs", 0, []string{"scope.value"}},
			"no such task":        {"none", 0, []string{"scope.value"}},
			"a rule of others":    {"mine", rules[0].ID, []string{"rule_id"}},
			"no such rule either": {"none", 999_999, []string{"scope.value", "rule_id"}},
		} {
			_, err := h.Silences.Create(ctx, h.as(access.Operator), alert.SilenceSpec{
				Team: h.team.Code, Scope: alert.Scope{Kind: alert.OfTask, Value: c.scope}, RuleID: c.rule, Reason: "x", Lasts: 600,
			})
			require.Equal(t, c.want, badFields(err), name)
		}
		w := h.ruleSpec("of theirs")
		w.Scope = alert.Scope{Kind: alert.OfTask, Value: "theirs"}
		_, err = h.Rules.Create(ctx, h.as(access.Editor), w)
		require.Equal(t, []string{"scope.value"}, badFields(err), "a rule likewise")
		w.Scope.Value = "mine"
		r, err := h.Rules.Create(ctx, h.as(access.Editor), w)
		require.NoError(t, err)
		exec(t, d, "DELETE FROM tasks WHERE code='mine'")
		w.Version, w.Threshold = 1, 5
		_, err = h.Rules.Update(ctx, h.as(access.Editor), r.ID, w)
		require.NoError(t, err, "what it covered before may be gone")
	})
}

func TestSilencesThatAreNotOverAreBounded(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		h := newDesk(t, d)
		h.silence(alert.SilenceSpec{Lasts: 60})
		put := func(most int) error {
			s := alert.Silence{TeamID: h.team.ID, Scope: alert.Scope{Kind: alert.All}, Reason: "x", StartsAt: h.now, EndsAt: h.now.Add(time.Hour), CreatedAt: h.now}
			_, err := d.InsertSilence(t.Context(), s, most, access.Entry{At: h.now, Actor: cli, Action: "silence.create"})
			return err
		}
		require.Equal(t, fault.KindConflict, fault.KindOf(put(1)))
		h.now = later(61)
		require.NoError(t, put(1), "the first is over")
	})
}

func TestAPersonsChatIDsAreTheirOwn(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		h, ctx := newDesk(t, d), t.Context()
		ada, bob := h.person("ada", "ada@example.org", access.Viewer), h.person("bob", "", "")
		ids := map[alert.ChannelKind]string{alert.Feishu: "ou_7d8a6e6df7621556", alert.DingTalk: " 13800138000 ", alert.Slack: "U012AB3CD", alert.WeCom: ""}
		require.NoError(t, h.Services.ChatIDs.Set(ctx, ada, ids))
		got, err := h.Services.ChatIDs.List(ctx, ada)
		require.NoError(t, err)
		require.Equal(t, map[alert.ChannelKind]string{alert.Feishu: "ou_7d8a6e6df7621556", alert.DingTalk: "13800138000", alert.Slack: "U012AB3CD"}, got)
		got, err = h.Services.ChatIDs.List(ctx, bob)
		require.NoError(t, err)
		require.Empty(t, got)
		rows, err := d.Audit(ctx, access.Scope{All: true}, access.AuditFilter{Action: "user.chat_ids"}, 0, 10)
		require.NoError(t, err)
		require.Equal(t, access.Change{Field: "dingtalk", New: access.Masked}, rows[0].Changes[1])

		people, err := d.People(ctx, []string{"bob", "ada", "a free text"})
		require.NoError(t, err)
		require.Len(t, people, 2)
		require.Equal(t, "13800138000", people[0].IDs[alert.DingTalk])
		require.Equal(t, alert.Person{Login: "bob", IDs: map[alert.ChannelKind]string{}}, people[1])

		require.NoError(t, h.Services.ChatIDs.Set(ctx, ada, map[alert.ChannelKind]string{alert.Teams: "ada@example.org"}))
		got, err = h.Services.ChatIDs.List(ctx, ada)
		require.NoError(t, err)
		require.Equal(t, map[alert.ChannelKind]string{alert.Teams: "ada@example.org"}, got, "all that were there")
		require.NoError(t, h.Services.ChatIDs.Set(ctx, ada, got), "nothing changes")
		require.Equal(t, 2, auditOf(t, d, "user.chat_ids"))
		err = h.Services.ChatIDs.Set(ctx, ada, map[alert.ChannelKind]string{alert.Slack: "ada", alert.Feishu: "a b", alert.Email: "x", alert.WeCom: "张三", alert.Teams: "ada", alert.DingTalk: "<at>"})
		require.ElementsMatch(t, []string{"feishu", "dingtalk", "wecom", "slack", "teams", "email"}, badFields(err))
		token := access.Actor{Kind: access.Token, ID: ada.ID, Name: "ada", Roles: ada.Roles}
		require.Equal(t, fault.KindDenied, fault.KindOf(h.Services.ChatIDs.Set(ctx, token, ids)))
		_, err = h.Services.ChatIDs.List(ctx, token)
		require.Equal(t, fault.KindDenied, fault.KindOf(err))
		exec(t, d, "UPDATE users SET disabled=1 WHERE login='ada'")
		people, err = d.People(ctx, []string{"ada"})
		require.NoError(t, err)
		require.Empty(t, people)
	})
}
