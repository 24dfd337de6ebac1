package db_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/alert"
	"ax/app/fault"
	"ax/db"
	"ax/db/dbtest"
)

func badFields(err error) []string {
	var out []string
	for _, f := range fault.Fields(err) {
		out = append(out, f.Name)
	}
	return out
}

// subscribe has the person told of every rule of the desk's team.
func (h *desk) subscribe(by access.Actor, login string) (alert.Subscription, error) {
	return h.Services.Subscriptions.Create(h.t.Context(), by, alert.SubscriptionSpec{Team: h.team.Code, Person: login})
}

func TestAPersonIsToldAtTheAddressThatTheyHaveNow(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		h, ctx := newDesk(t, d), t.Context()
		ada := h.person("ada", "ada@example.org", access.Viewer)
		sub, err := h.subscribe(ada, " ADA ")
		require.NoError(t, err)
		second, err := h.Services.Subscriptions.Create(ctx, ada, alert.SubscriptionSpec{Team: h.team.Code, Person: "ada", Events: []alert.EventType{alert.DigestDaily}, Zone: "Asia/Shanghai"})
		require.NoError(t, err)
		require.Equal(t, sub.ChannelID, second.ChannelID, "one channel of their own")
		c, secret, err := h.Channels.Open(ctx, sub.ChannelID)
		require.NoError(t, err)
		require.Zero(t, secret)
		require.Equal(t, "@ada", c.Name)
		require.Equal(t, "zh-CN", c.Language)
		require.Equal(t, []string{"ada@example.org"}, c.To)

		exec(t, d, "UPDATE users SET email='new@example.org' WHERE id=?", ada.ID)
		c, _, err = h.Channels.Open(ctx, sub.ChannelID)
		require.NoError(t, err)
		require.Equal(t, []string{"new@example.org"}, c.To)
		_, _, err = h.Channels.Update(ctx, h.as(access.Owner), c.ID, alert.ChannelSpec{Name: "x", To: []string{"evil@example.org"}, Version: 1})
		require.Equal(t, fault.KindConflict, fault.KindOf(err))

		require.NoError(t, h.Services.Subscriptions.Delete(ctx, ada, sub.ID, ""))
		require.Equal(t, 1, count(t, d, "channels"))
		require.NoError(t, h.Services.Subscriptions.Delete(ctx, ada, second.ID, ""))
		require.Zero(t, count(t, d, "channels"), "told of nothing any more")
		require.Equal(t, 2, auditOf(t, d, "subscription.delete"))
	})
}

// Who may not see the team any more is told nothing of it.
func TestWhoLeftTheTeamIsToldNothing(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		h, ctx := newDesk(t, d), t.Context()
		ada := h.person("ada", "ada@example.org", access.Viewer)
		_, err := h.subscribe(ada, "ada")
		require.NoError(t, err)
		on := func() int {
			subs, err := d.Subscriptions(ctx)
			require.NoError(t, err)
			return len(subs)
		}
		require.Equal(t, 1, on())
		for name, c := range map[string]struct{ away, back string }{
			"out of the team": {"UPDATE memberships SET team_id=team_id+1000 WHERE user_id=?", "UPDATE memberships SET team_id=team_id-1000 WHERE user_id=?"},
			"disabled":        {"UPDATE users SET disabled=1 WHERE id=?", "UPDATE users SET disabled=0 WHERE id=?"},
			"no address":      {"UPDATE users SET email='' WHERE id=?", "UPDATE users SET email='ada@example.org' WHERE id=?"},
		} {
			exec(t, d, c.away, ada.ID)
			require.Zero(t, on(), name)
			all, err := d.SubscriptionsOf(ctx, access.Scope{All: true})
			require.NoError(t, err)
			require.Empty(t, all[0].Channel.To, name)
			exec(t, d, c.back, ada.ID)
			require.Equal(t, 1, on(), name)
		}
	})
}

func TestWhoMaySubscribeWhom(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		h, ctx := newDesk(t, d), t.Context()
		ada, bob := h.person("ada", "ada@example.org", access.Viewer), h.person("bob", "bob@example.org", access.Editor)
		cyd, dan := h.person("cyd", "cyd@example.org", access.Owner), h.person("dan", "dan@example.org", "")
		h.person("eve", "", access.Viewer)
		root := h.person("root", "root@example.org", "")
		root.Admin = true
		exec(t, d, "UPDATE users SET admin=1 WHERE id=?", root.ID)
		token := access.Actor{Kind: access.Token, ID: 9, Name: "ada", Roles: map[int64]access.Role{h.team.ID: access.Viewer}}
		for _, c := range []struct {
			name  string
			by    access.Actor
			login string
			want  fault.Kind
			field string
		}{
			{"a viewer themselves", ada, "ada", 0, ""},
			{"an editor another", bob, "ada", fault.KindDenied, ""},
			{"an owner another", cyd, "bob", 0, ""},
			{"an owner who isn't in the team", cyd, "dan", fault.KindInvalid, "person"},
			{"an owner nobody", cyd, "nobody", fault.KindInvalid, "person"},
			{"an owner no login", cyd, "' OR 1=1", fault.KindInvalid, "person"},
			{"who has no address", cyd, "eve", fault.KindInvalid, "person"},
			{"who isn't in the team", dan, "dan", fault.KindInvalid, "team"},
			{"a token is nobody's self", token, "ada", fault.KindDenied, ""},
			{"an administrator themselves", root, "root", 0, ""},
			{"twice", ada, "ada", fault.KindConflict, "channel_id"},
		} {
			_, err := h.subscribe(c.by, c.login)
			require.Equal(t, c.want, fault.KindOf(err), "%s: %v", c.name, err)
			if c.field != "" {
				require.Equal(t, []string{c.field}, badFields(err), c.name)
			}
		}
		list, err := h.Services.Subscriptions.List(ctx, ada, access.Scope{})
		require.NoError(t, err)
		require.Len(t, list, 3)
		require.Equal(t, "ada", list[0].Login)
		require.True(t, list[0].On)
		del := func(by access.Actor, i int) fault.Kind {
			return fault.KindOf(h.Services.Subscriptions.Delete(ctx, by, list[i].ID, ""))
		}
		require.Equal(t, fault.KindDenied, del(ada, 1))
		require.Equal(t, fault.KindNotFound, del(dan, 1))
		require.Equal(t, fault.KindInternal, del(bob, 1), "his own")
		require.Equal(t, fault.KindInternal, del(bob, 0), "an editor")
		require.Equal(t, fault.KindNotFound, del(bob, 0))
		require.Equal(t, fault.KindInternal, del(root, 2))
		require.Zero(t, count(t, d, "subscriptions"))

		// Those of the installation are the administrators'.
		house := alert.SubscriptionSpec{Person: "ada"}
		_, err = h.Services.Subscriptions.Create(ctx, ada, house)
		require.Equal(t, fault.KindDenied, fault.KindOf(err))
		_, err = h.Services.Subscriptions.Create(ctx, root, alert.SubscriptionSpec{Person: "root"})
		require.NoError(t, err)
		list, err = h.Services.Subscriptions.List(ctx, ada, access.Scope{})
		require.NoError(t, err)
		require.Empty(t, list)
		list, err = h.Services.Subscriptions.List(ctx, root, access.Scope{Teams: []int64{h.team.ID}})
		require.NoError(t, err)
		require.Len(t, list, 1)
		require.True(t, list[0].On)
	})
}

func TestAChannelIsToldOfWhatItsTeamHas(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		h, ctx := newDesk(t, d), t.Context()
		_, err := d.SeedHouseRules(ctx, t0)
		require.NoError(t, err)
		hook, mail := h.channel(h.hook("sink")), h.channel(alert.ChannelSpec{Team: h.team.Code, Kind: alert.Email, Name: "list", To: []string{"ops@example.org"}})
		rule, other := h.rule("mine"), dbtest.MakeTeam(t, d)
		rules, err := d.RulesOf(ctx, access.Scope{Teams: []int64{other.ID}})
		require.NoError(t, err)
		ofHouse, ofOther := rules[0].ID, rules[len(rules)-1].ID
		w := h.hook("theirs")
		w.Team = other.Code
		theirs, _, err := h.Channels.Create(ctx, cli, w)
		require.NoError(t, err)
		for name, c := range map[string]struct {
			w    alert.SubscriptionSpec
			want []string
		}{
			"every rule":                {alert.SubscriptionSpec{ChannelID: hook.ID}, nil},
			"a rule":                    {alert.SubscriptionSpec{ChannelID: hook.ID, RuleID: rule.ID, Level: alert.P1, After: 600}, nil},
			"a rule of the house":       {alert.SubscriptionSpec{ChannelID: hook.ID, RuleID: ofHouse}, nil},
			"events":                    {alert.SubscriptionSpec{ChannelID: hook.ID, Events: []alert.EventType{alert.LetterSolved, alert.InstanceFinished, alert.LetterSolved}}, nil},
			"a digest":                  {alert.SubscriptionSpec{ChannelID: mail.ID, Events: []alert.EventType{alert.DigestWeekly}, Zone: "Europe/Paris"}, nil},
			"nothing":                   {alert.SubscriptionSpec{}, []string{"channel_id"}},
			"both":                      {alert.SubscriptionSpec{ChannelID: hook.ID, Person: "editor"}, []string{"person"}},
			"a channel of others":       {alert.SubscriptionSpec{ChannelID: theirs.ID}, []string{"channel_id"}},
			"a rule of others":          {alert.SubscriptionSpec{ChannelID: hook.ID, RuleID: ofOther}, []string{"rule_id"}},
			"events to people":          {alert.SubscriptionSpec{ChannelID: mail.ID, Events: []alert.EventType{alert.LetterOpened}}, []string{"events"}},
			"a digest without a zone":   {alert.SubscriptionSpec{ChannelID: mail.ID, Events: []alert.EventType{alert.DigestDaily}}, []string{"zone"}},
			"a zone that there is not":  {alert.SubscriptionSpec{ChannelID: mail.ID, Events: []alert.EventType{alert.DigestDaily}, Zone: "Asia/Nowhere"}, []string{"zone"}},
			"rules and events":          {alert.SubscriptionSpec{ChannelID: hook.ID, RuleID: rule.ID, Events: []alert.EventType{"x"}, Level: alert.P2, After: 5, Zone: "UTC"}, []string{"events", "zone", "rule_id", "level", "after_seconds"}},
			"a level that is none":      {alert.SubscriptionSpec{ChannelID: hook.ID, Level: alert.P2}, []string{"level"}},
			"an escalation of too long": {alert.SubscriptionSpec{ChannelID: hook.ID, After: 90_000}, []string{"after_seconds"}},
		} {
			c.w.Team = h.team.Code
			made, err := h.Services.Subscriptions.Create(ctx, h.as(access.Editor), c.w)
			if c.want == nil {
				require.NoError(t, err, name)
				got, err := d.SubscriptionsOf(ctx, access.Scope{Teams: []int64{h.team.ID}})
				require.NoError(t, err)
				require.Equal(t, made, got[len(got)-1].Subscription, name)
				continue
			}
			require.Equal(t, c.want, badFields(err), name)
		}
		_, err = h.Services.Subscriptions.Create(ctx, h.as(access.Operator), alert.SubscriptionSpec{Team: h.team.Code, ChannelID: hook.ID})
		require.Equal(t, fault.KindDenied, fault.KindOf(err))
	})
}

// Two people who subscribe the same person at once make one channel and one
// subscription.
func TestAPersonHasOneChannelOfTheirOwn(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		h := newDesk(t, d)
		ada := h.person("ada", "ada@example.org", access.Viewer)
		errs := make(chan error, 4)
		for range cap(errs) {
			go func() { _, err := h.subscribe(ada, "ada"); errs <- err }()
		}
		failed := 0
		for range cap(errs) {
			if err := <-errs; err != nil {
				require.Equal(t, fault.KindConflict, fault.KindOf(err), "%v", err)
				failed++
			}
		}
		require.Equal(t, 3, failed)
		require.Equal(t, 2, count(t, d, "subscriptions")+count(t, d, "channels"))
	})
}
