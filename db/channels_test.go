package db_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/alert"
	"ax/app/fault"
	"ax/db"
	"ax/db/dbtest"
)

const (
	hookURL = "https://hooks.example.com/in/canary-of-a-path"
	hookKey = "canary-key-0123456789"
)

func (h *desk) hook(name string) alert.ChannelSpec {
	return alert.ChannelSpec{Team: h.team.Code, Kind: alert.Webhook, Name: name, URL: hookURL, Key: hookKey, Language: "zh-CN"}
}

func (h *desk) channel(w alert.ChannelSpec) alert.Channel {
	h.t.Helper()
	c, _, err := h.Channels.Create(h.t.Context(), h.as(access.Owner), w)
	require.NoError(h.t, err)
	return c
}

// The address and the key are sealed, and stand in no other place of the ledger.
func TestAChannelsAddressAndKeyAreSealed(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		h, ctx := newDesk(t, d), t.Context()
		c := h.channel(h.hook("sink"))
		got, err := h.Channels.Find(ctx, h.as(access.Viewer), c.ID)
		require.NoError(t, err)
		require.Equal(t, c, got)
		require.Contains(t, got.Hint, "hooks.example.com")
		require.NotContains(t, got.Hint, "canary")
		open, secret, err := h.Channels.Open(ctx, c.ID)
		require.NoError(t, err)
		require.Equal(t, c, open)
		require.Equal(t, alert.ChannelSecret{URL: hookURL, Key: hookKey}, secret)

		texts, err := d.SealedTexts(ctx)
		require.NoError(t, err)
		require.Len(t, texts, 1)
		require.Equal(t, c.Place(), texts[0].Place)
		require.NotContains(t, texts[0].Text, "canary")
		rows, err := d.Audit(ctx, access.Scope{All: true}, access.AuditFilter{Action: "channel.create"}, 0, 1)
		require.NoError(t, err)
		for _, change := range rows[0].Changes {
			require.NotContains(t, change.Old+change.New, "canary")
		}
		require.Contains(t, rows[0].Changes, access.Change{Field: "url", New: access.Masked})

		// Sealed anew with another secret, it opens with that alone.
		both := vaultOf(t, "b", "a")
		require.NoError(t, vaultOf(t, "a").Check(ctx, d))
		_, err = both.Reseal(ctx, d)
		require.NoError(t, err)
		_, _, err = h.Channels.Open(ctx, c.ID)
		require.ErrorContains(t, err, "does not open here")
	})
}

func TestAWebhookGetsAKeyThatIsShownOnce(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		h, ctx := newDesk(t, d), t.Context()
		w := h.hook("sink")
		w.Key = ""
		c, made, err := h.Channels.Create(ctx, h.as(access.Owner), w)
		require.NoError(t, err)
		require.Regexp(t, `^[0-9a-f]{64}$`, made)
		_, secret, err := h.Channels.Open(ctx, c.ID)
		require.NoError(t, err)
		require.Equal(t, made, secret.Key)
		w.Version, w.NewKey = 1, true
		_, another, err := h.Channels.Update(ctx, h.as(access.Owner), c.ID, w)
		require.NoError(t, err)
		require.NotEqual(t, made, another)
		_, secret, err = h.Channels.Open(ctx, c.ID)
		require.NoError(t, err)
		require.Equal(t, another, secret.Key)
	})
}

// Nobody can have messages signed for a host of their own with a key that they
// don't know.
func TestAnotherHostNeedsTheKeyAgain(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		h, ctx := newDesk(t, d), t.Context()
		c, owner := h.channel(h.hook("sink")), h.as(access.Owner)
		change := func(version int, url, key string) (alert.ChannelSecret, error) {
			w := h.hook("sink")
			w.URL, w.Key, w.Version = url, key, version
			_, shown, err := h.Channels.Update(ctx, owner, c.ID, w)
			require.Empty(t, shown)
			_, secret, openErr := h.Channels.Open(ctx, c.ID)
			require.NoError(t, openErr)
			return secret, err
		}
		for name, s := range map[string]struct {
			url, key string
			want     alert.ChannelSecret
			field    string
		}{
			"nothing typed": {want: alert.ChannelSecret{URL: hookURL, Key: hookKey}},
			"another host":  {url: "https://evil.example.com/in/canary-of-a-path", field: "key", want: alert.ChannelSecret{URL: hookURL, Key: hookKey}},
			"another port":  {url: "https://hooks.example.com:8443/in/canary-of-a-path", field: "key", want: alert.ChannelSecret{URL: hookURL, Key: hookKey}},
			"a short key":   {key: "short", field: "key", want: alert.ChannelSecret{URL: hookURL, Key: hookKey}},
		} {
			t.Run(name, func(t *testing.T) {
				now, err := h.Channels.Find(ctx, owner, c.ID)
				require.NoError(t, err)
				secret, err := change(now.Version, s.url, s.key)
				require.Equal(t, s.want, secret)
				if s.field == "" {
					require.NoError(t, err)
					return
				}
				require.Equal(t, s.field, fault.Fields(err)[0].Name)
			})
		}
		now, err := h.Channels.Find(ctx, owner, c.ID)
		require.NoError(t, err)
		secret, err := change(now.Version, "https://hooks.example.com/other/path-of-the-same", "")
		require.NoError(t, err, "another path of the same host")
		require.Equal(t, hookKey, secret.Key)
		_, err = change(now.Version, "", "")
		require.Equal(t, fault.KindConflict, fault.KindOf(err), "a stale version")
		secret, err = change(now.Version+1, "https://new.example.com/in/a-path-of-it", "another-key-0123456789")
		require.NoError(t, err)
		require.Equal(t, alert.ChannelSecret{URL: "https://new.example.com/in/a-path-of-it", Key: "another-key-0123456789"}, secret)
	})
}

func TestChannelsAreTheOwnersAndThoseOfTheHouseHaveNoMoreThanAName(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		h, ctx := newDesk(t, d), t.Context()
		c := h.channel(h.hook("sink"))
		w := h.hook("ops")
		w.Team = ""
		house, _, err := h.Channels.Create(ctx, cli, w)
		require.NoError(t, err)
		list, err := h.Channels.List(ctx, h.as(access.Owner), access.Scope{})
		require.NoError(t, err)
		require.Equal(t, []alert.Channel{{ID: house.ID, Kind: alert.Webhook, Name: "ops"}, c}, list)
		seen, err := h.Channels.Find(ctx, h.as(access.Viewer), house.ID)
		require.NoError(t, err)
		require.Equal(t, list[0], seen)
		all, err := h.Channels.List(ctx, cli, access.Scope{})
		require.NoError(t, err)
		require.Equal(t, []alert.Channel{house, c}, all)
		none, err := h.Channels.List(ctx, access.Actor{Kind: access.User}, access.Scope{})
		require.NoError(t, err)
		require.Empty(t, none)

		stranger := access.Actor{Kind: access.User, Roles: map[int64]access.Role{dbtest.MakeTeam(t, d).ID: access.Owner}}
		for name, x := range map[string]struct {
			by   access.Actor
			id   string
			want fault.Kind
		}{
			"an editor":             {h.as(access.Editor), c.ID, fault.KindDenied},
			"an owner of another":   {stranger, c.ID, fault.KindNotFound},
			"the house's":           {h.as(access.Owner), house.ID, fault.KindDenied},
			"none of that id":       {cli, strings.Repeat("0", 32), fault.KindNotFound},
			"an id that can't be":   {cli, "' OR 1=1 --", fault.KindNotFound},
			"somebody in no team":   {access.Actor{Kind: access.User}, house.ID, fault.KindNotFound},
			"an auditor reads only": {access.Actor{Kind: access.User, Auditor: true}, house.ID, fault.KindDenied},
		} {
			_, _, err := h.Channels.Update(ctx, x.by, x.id, h.hook("x"))
			require.Equal(t, x.want, fault.KindOf(err), name)
			_, err = h.Channels.TurnOff(ctx, x.by, x.id, "")
			require.Equal(t, x.want, fault.KindOf(err), name)
			require.Equal(t, x.want, fault.KindOf(h.Channels.Delete(ctx, x.by, x.id, "")), name)
		}
		_, _, err = h.Channels.Create(ctx, h.as(access.Editor), h.hook("x"))
		require.Equal(t, fault.KindDenied, fault.KindOf(err))
		require.Equal(t, 2, count(t, d, "channels"))
	})
}

func TestAChannelIsSwitchedOffAndOnAndDeletedWithItsSubscriptions(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		h, ctx := newDesk(t, d), t.Context()
		c, owner := h.channel(h.hook("sink")), h.as(access.Owner)
		sub, err := h.Services.Subscriptions.Create(ctx, owner, alert.SubscriptionSpec{Team: h.team.Code, ChannelID: c.ID})
		require.NoError(t, err)
		off, err := h.Channels.TurnOff(ctx, alert.House(), c.ID, "410 Gone")
		require.NoError(t, err)
		require.False(t, off.On())
		require.Equal(t, "410 Gone", off.OffWhy)
		subs, err := d.SubscriptionsOf(ctx, access.Scope{Teams: []int64{h.team.ID}})
		require.NoError(t, err)
		require.Equal(t, []alert.Subscribed{{Subscription: sub, Channel: off}}, subs, "not on")
		told, err := d.Subscriptions(ctx)
		require.NoError(t, err)
		require.Empty(t, told)
		_, err = h.Channels.TurnOff(ctx, alert.House(), c.ID, "again")
		require.NoError(t, err)
		require.Equal(t, 1, auditOf(t, d, "channel.off"))
		on, err := h.Channels.TurnOn(ctx, owner, c.ID, "")
		require.NoError(t, err)
		require.True(t, on.On())
		require.Empty(t, on.OffWhy)
		told, err = d.Subscriptions(ctx)
		require.NoError(t, err)
		require.Equal(t, []alert.Subscription{sub}, told)
		_, secret, err := h.Channels.Open(ctx, c.ID)
		require.NoError(t, err)
		require.Equal(t, hookURL, secret.URL, "the secret stays")

		require.NoError(t, h.Channels.Delete(ctx, owner, c.ID, "moved"))
		require.Zero(t, count(t, d, "subscriptions")+count(t, d, "channels"))
		_, _, err = h.Channels.Open(ctx, c.ID)
		require.Equal(t, fault.KindNotFound, fault.KindOf(err))
	})
}

func TestAChannelSaysAllThatIsWrongAtOnce(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		h, ctx := newDesk(t, d), t.Context()
		fields := func(w alert.ChannelSpec) []string {
			_, _, err := h.Channels.Create(ctx, h.as(access.Owner), w)
			var out []string
			for _, f := range fault.Fields(err) {
				out = append(out, f.Name)
			}
			return out
		}
		for name, c := range map[string]struct {
			w    alert.ChannelSpec
			want []string
		}{
			"nothing":              {alert.ChannelSpec{Team: h.team.Code}, []string{"kind", "name"}},
			"a robot":              {alert.ChannelSpec{Team: h.team.Code, Kind: alert.Slack, Name: "@x", Language: "fr", Mention: "some", Key: "k", To: []string{"a@b.c"}}, []string{"name", "language", "mention", "to", "url", "key"}},
			"an e-mail":            {alert.ChannelSpec{Team: h.team.Code, Kind: alert.Email, Name: "x", URL: hookURL, Key: "k"}, []string{"to", "url", "key"}},
			"not an address":       {alert.ChannelSpec{Team: h.team.Code, Kind: alert.Email, Name: "x", To: []string{"ada@example.org", "nobody", ""}}, []string{"to"}},
			"too many":             {alert.ChannelSpec{Team: h.team.Code, Kind: alert.Email, Name: "x", To: strings.Fields(strings.Repeat("ada@example.org ", 21))}, []string{"to"}},
			"no such team":         {alert.ChannelSpec{Team: "nowhere", Kind: alert.Email, Name: "", To: []string{"ada@example.org"}}, []string{"team", "name"}},
			"a robot without sign": {alert.ChannelSpec{Team: h.team.Code, Kind: alert.Feishu, Name: "x", URL: "https://open.feishu.cn/open-apis/bot/v2/hook/0123456789", NewKey: true}, []string{"key"}},
			"a key with a space":   {alert.ChannelSpec{Team: h.team.Code, Kind: alert.Webhook, Name: "x", URL: hookURL, Key: "canary key 0123456789"}, []string{"key"}},
		} {
			require.Equal(t, c.want, fields(c.w), name)
		}
		ok := alert.ChannelSpec{Team: h.team.Code, Kind: alert.Email, Name: "x", To: []string{" ada@example.org ", "", "bob@example.org"}}
		require.Empty(t, fields(ok))
		require.Equal(t, []string{"name"}, fields(ok), "the name is taken")
		list, err := h.Channels.List(ctx, cli, access.Scope{})
		require.NoError(t, err)
		require.Equal(t, []string{"ada@example.org", "bob@example.org"}, list[0].To)
		require.Equal(t, "en", list[0].Language)
		require.Equal(t, alert.MentionOwner, list[0].Mention)
	})
}
