package app_test

import (
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"ax/app"
	"ax/app/access"
	"ax/app/alert"
)

// mailed is an editor of the team payments who has an e-mail address.
func (h *house) mailed() *client {
	h.t.Helper()
	h.found()
	h.person("ann", access.NewUser{Email: "ann@example.com"})
	require.NoError(h.t, h.opt.Teams.SetMember(h.t.Context(), root, h.team, "ann", access.Editor))
	return h.as("ann")
}

// news are what ann is told of, as short lines.
func (h *house) news() []string {
	h.t.Helper()
	all, err := h.opt.Alerts.Subscriptions.List(h.t.Context(), root, access.Scope{All: true})
	require.NoError(h.t, err)
	var out []string
	for _, s := range all {
		line := s.Login + " " + string(s.Level) + " " + s.Zone
		for _, e := range s.Events {
			line += " " + string(e)
		}
		out = append(out, line)
	}
	slices.Sort(out)
	return out
}

func TestOnesIDsAtRobotsAreKeptAndRefusedAtTheirFields(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	c := h.as("viewer")
	bad := c.post("/account/chat-ids", "slack", "@ann", "dingtalk", "13800138000")
	require.Equal(t, 422, bad.status)
	require.Contains(t, bad.text("#f-slack-error"), "A member id such as U012AB3CD")
	require.Equal(t, "@ann", bad.attr("#f-slack", "value"))
	require.Equal(t, "13800138000", bad.attr("#f-dingtalk", "value"), "what was typed stays")
	require.Empty(t, c.get("/account").attr("#f-dingtalk", "value"), "nothing was kept")

	require.Equal(t, "/account#s-chat-ids", c.post("/account/chat-ids", "slack", "U012AB3CD").location())
	require.Equal(t, "U012AB3CD", c.get("/account").attr("#f-slack", "value"))
	require.Empty(t, h.as("operator").get("/account").attr("#f-slack", "value"), "another’s are their own")
	c.post("/account/chat-ids", "slack", "")
	require.Empty(t, c.get("/account").attr("#f-slack", "value"))
}

func TestOneIsToldByMailOfWhatOneChooses(t *testing.T) {
	t.Parallel()
	h := newHouse(t, func(o *app.Options) { o.MailServer = true })
	c := h.mailed()
	page := c.get("/account")
	require.False(t, page.has("[data-test=no-server]"))
	require.False(t, page.has("[data-test=no-address]"))
	key := strconv.FormatInt(h.team.ID, 10)
	save := func(pairs ...string) {
		t.Helper()
		require.Equal(t, "/account#s-mail", c.post("/account/alerts", pairs...).location())
	}

	save("alerts."+key, "p1", "daily."+key, "true", "day_zone", "Europe/Berlin")
	require.Equal(t, []string{"ann  Europe/Berlin digest.daily", "ann p1 "}, h.news())
	page = c.get("/account")
	require.True(t, page.has(`[data-test=mail-team] input[value=p1][checked]`))
	require.Equal(t, "Europe/Berlin", page.attr("#f-day-zone option[selected][value='Europe/Berlin']", "value"))

	save("alerts."+key, "p1", "daily."+key, "true", "day_zone", "Europe/Berlin")
	require.Len(t, h.news(), 2, "the same again changes nothing")
	save("alerts."+key, "all", "daily."+key, "true", "weekly."+key, "true", "day_zone", "UTC")
	require.Equal(t, []string{"ann  ", "ann  UTC digest.daily", "ann  UTC digest.weekly"}, h.news())
	save("day_zone", "UTC")
	require.Len(t, h.news(), 3, "a team that was not asked about stays")
	save("alerts."+key, "", "day_zone", "")
	require.Empty(t, h.news())
}

func TestWhatIsWrongWithMailIsSaidAndNothingChanges(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	c := h.mailed()
	key := strconv.FormatInt(h.team.ID, 10)
	require.True(t, c.get("/account").has("[data-test=no-server]"), "this installation has no mail server")
	bad := c.post("/account/alerts", "alerts."+key, "p1", "daily."+key, "true", "day_zone", "Mars/Olympus")
	require.Equal(t, 422, bad.status)
	require.NotEmpty(t, bad.text("#f-day-zone-error"))
	require.True(t, bad.has(`[data-test=mail-team] input[value=p1][checked]`), "what was chosen stays")
	require.Equal(t, 422, c.post("/account/alerts", "alerts."+key, "loud", "day_zone", "UTC").status)
	require.Equal(t, 422, c.post("/account/alerts", "other", h.other.Code, "alerts.other", "p1", "day_zone", "UTC").status, "a team that one does not see")
	require.Empty(t, h.news())

	viewer := h.as("viewer")
	require.True(t, viewer.get("/account").has("[data-test=no-address]"))
	refused := viewer.post("/account/alerts", "alerts."+key, "p1", "day_zone", "UTC")
	require.Equal(t, 422, refused.status)
	require.Contains(t, refused.text("[data-test=mail-form] [role=alert]"), "viewer has no e-mail address")
	require.Empty(t, h.news())
}

func TestWhatTheFormCanNotSayIsListedAndEnds(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	c := h.mailed()
	rules, err := h.opt.Alerts.Rules.List(t.Context(), root, access.Scope{Teams: []int64{h.team.ID}})
	require.NoError(t, err)
	_, err = h.opt.Alerts.Subscriptions.Create(t.Context(), root, alert.SubscriptionSpec{Team: h.team.Code, Person: "ann", RuleID: rules[0].ID})
	require.NoError(t, err)
	page := c.get("/account")
	require.Contains(t, page.text("[data-test=mail-also]"), rules[0].Name)
	c.post("/account/alerts", "alerts."+strconv.FormatInt(h.team.ID, 10), "", "day_zone", "UTC")
	require.Len(t, h.news(), 1, "the form leaves it alone")
	end := page.attr("[data-test=mail-also] button", "value")
	require.Equal(t, 403, h.as("viewer").post("/account/alerts", "end", end).status, "another’s")
	require.Equal(t, "/account#s-mail", c.post("/account/alerts", "end", end).location())
	require.Empty(t, h.news())
}

func TestAdministratorsChooseAmongAllTeamsAndTheInstallation(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.found()
	h.person("boss", access.NewUser{Email: "boss@example.com", Admin: true})
	c := h.as("boss")
	require.Equal(t, []string{"The whole installation"}, c.get("/account").texts("[data-test=mail-team] legend.strong"))
	require.Equal(t, "/account#s-mail", c.post("/account/alerts", "alerts.0", "p1", "other", h.other.Code, "alerts.other", "all", "day_zone", "UTC").location())
	require.Equal(t, []string{"boss  ", "boss p1 "}, h.news())
	require.Equal(t, []string{"Store", "The whole installation"}, c.get("/account").texts("[data-test=mail-team] legend.strong"))
}
