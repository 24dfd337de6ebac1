package app

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"ax/app/access"
	"ax/app/alert"
	"ax/app/cron"
	"ax/app/fault"
	"ax/app/sched"
	"ax/views"
)

// showNewChannel asks for the kind first, then shows the form of it. htmx gets
// the preview of what is typed.
func (a *App) showNewChannel(c *gin.Context) (reply, error) {
	code, named := c.GetQuery("team")
	team, teams, err := a.alertTeam(c, access.ManageChannels, code, named)
	if err != nil {
		return reply{}, err
	}
	f, err := a.queryForm(c)
	if err != nil {
		return reply{status: http.StatusRequestEntityTooLarge}, err
	}
	page := a.channelForm(c, alert.Channel{}, team, f.typedChannel(alert.Channel{}), nil)
	page.Teams = teams
	if !slices.Contains(alert.ChannelKinds(), page.Values.Kind) {
		page.Values.Kind = ""
		return show(views.ChannelKindPage(page)), nil
	}
	if !f.has("language") {
		page.Values.Language = a.viewer(c).Lang
	}
	return show(views.ChannelForm(page)).piecewise(views.ChannelPreviewPart(page)), nil
}

// channelForm is the form without what a stored channel has around it.
func (a *App) channelForm(c *gin.Context, ch alert.Channel, team access.Team, v views.ChannelValues, failed error) views.ChannelPage {
	page := views.ChannelPage{
		Stored: ch, Team: views.Team{Code: team.Code, Name: team.Name}, Values: v, Errors: errorsOf(failed), MayEdit: true,
		Telling: views.TellValues{What: views.TellAll, After: "0", Zone: a.zoneOf(c).String()}, Zones: cron.Zones(),
	}
	if a.external != nil {
		page.Base = a.external.String()
	}
	if ch.ID != "" {
		page.MayEdit = actor(c).CheckShared(access.ManageChannels, ch.TeamID) == nil && ch.UserID == 0
		page.MayTell = actor(c).CheckShared(access.EditRule, ch.TeamID) == nil
	}
	if text, ok := fault.TextOf(failed); ok && fault.KindOf(failed) == fault.KindConflict && len(fault.Fields(failed)) == 0 {
		page.Moved, page.Errors = views.TranslateText(a.viewer(c).Lang, text), nil
	}
	return page
}

// channelPage is the form of a stored channel with all that stands around it.
func (a *App) channelPage(c *gin.Context, ch alert.Channel, v views.ChannelValues, failed error) (views.ChannelPage, error) {
	ctx, team := c.Request.Context(), teamByID(c, ch.TeamID)
	page := a.channelForm(c, ch, team, v, failed)
	subs, err := a.subscriptionsOf(c, ch.TeamID)
	if err != nil {
		return page, err
	}
	for _, s := range subs {
		if s.ChannelID == ch.ID {
			page.Told = append(page.Told, views.ChannelTold{ID: s.ID, Rule: s.Rule, RuleID: s.RuleID, Events: s.Events, Level: s.Level, After: s.After, Zone: s.Zone, By: s.CreatedBy})
		}
	}
	if page.Rules, err = a.alerts.Rules.List(ctx, actor(c), access.Scope{Teams: []int64{ch.TeamID}}); err != nil {
		return page, err
	}
	page.Alone = aloneWithout(ch, subs, page.Rules)
	if actor(c).Sees(ch.TeamID) {
		log, err := a.alerts.Deliveries.List(ctx, actor(c), alert.DeliveryFilter{Channel: ch.ID}, sched.PageRequest{Limit: 5})
		if err != nil {
			return page, err
		}
		page.Deliveries = log.Items
	}
	return page, nil
}

// aloneWithout names the rules of the team that nobody would be told of without
// the channel.
func aloneWithout(ch alert.Channel, subs []alert.Subscribed, rules []alert.Rule) []string {
	var out []string
	for _, r := range rules {
		if r.TeamID != ch.TeamID || !r.Enabled {
			continue
		}
		mine, others := false, false
		for _, s := range subs {
			if len(s.Events) > 0 || s.RuleID != 0 && s.RuleID != r.ID || s.Level == alert.P1 && r.Level == alert.P2 {
				continue
			}
			mine = mine || s.ChannelID == ch.ID
			others = others || s.ChannelID != ch.ID && s.On
		}
		if mine && !others {
			out = append(out, r.Name)
		}
	}
	return out
}

func (a *App) channelOf(c *gin.Context) (alert.Channel, error) {
	return a.alerts.Channels.Find(c.Request.Context(), actor(c), c.Param("id"))
}

// showChannel shows a channel; htmx gets the preview of what is typed.
func (a *App) showChannel(c *gin.Context) (reply, error) {
	ch, err := a.channelOf(c)
	if err != nil {
		return reply{}, err
	}
	f, err := a.queryForm(c)
	if err != nil {
		return reply{status: http.StatusRequestEntityTooLarge}, err
	}
	if wantsPiece(c) {
		return fragment(views.ChannelPreviewPart(a.channelForm(c, ch, teamByID(c, ch.TeamID), f.typedChannel(ch), nil))), nil
	}
	page, err := a.channelPage(c, ch, channelValues(ch), nil)
	return show(views.ChannelForm(page)), err
}

// createChannel makes a channel. The key that ax made is shown on the answer:
// nobody can read it again.
func (a *App) createChannel(c *gin.Context) (reply, error) {
	f, err := a.form(c)
	if err != nil {
		return reply{}, err
	}
	team, teams, err := a.alertTeam(c, access.ManageChannels, f.text("team"), true)
	if err != nil {
		return reply{}, err
	}
	v := f.typedChannel(alert.Channel{})
	if !slices.Contains(alert.ChannelKinds(), v.Kind) {
		return reply{}, fault.Malformed("Choose the kind of the channel first")
	}
	page := a.channelForm(c, alert.Channel{}, team, v, nil)
	page.Teams = teams
	if f.text("step") == "look" {
		return show(views.ChannelForm(page)), nil
	}
	made, key, err := a.alerts.Channels.Create(c.Request.Context(), actor(c), f.channelSpec(v, team.Code))
	if kind := fault.KindOf(err); err != nil && (kind == fault.KindInvalid || kind == fault.KindConflict) {
		page.Errors = errorsOf(err)
		return show(views.ChannelForm(page)), err
	}
	if err != nil {
		return reply{}, err
	}
	return a.channelSaved(c, made, key, "The channel %s is made. Now say what it is told of")
}

// channelSaved goes on to the channel, or shows it with a key that ax made.
func (a *App) channelSaved(c *gin.Context, ch alert.Channel, key, format string) (reply, error) {
	if key == "" {
		a.flash(c, format, ch.Name)
		return goTo("/alerts/channels/%s", ch.ID), nil
	}
	page, err := a.channelPage(c, ch, channelValues(ch), nil)
	page.Key = key
	return show(views.ChannelForm(page)), err
}

// saveChannel changes a channel.
func (a *App) saveChannel(c *gin.Context) (reply, error) {
	ch, f, err := a.channelPosted(c)
	if err != nil {
		return reply{}, err
	}
	v := f.typedChannel(ch)
	if f.text("step") == "look" {
		page, err := a.channelPage(c, ch, v, nil)
		return show(views.ChannelForm(page)), err
	}
	is, key, err := a.alerts.Channels.Update(c.Request.Context(), actor(c), ch.ID, f.channelSpec(v, ""))
	if kind := fault.KindOf(err); err != nil && (kind == fault.KindInvalid || kind == fault.KindConflict) {
		if now, failed := a.channelOf(c); failed == nil && len(fault.Fields(err)) == 0 {
			ch, v.Version = now, now.Version // saving again goes over theirs
		}
		page, failed := a.channelPage(c, ch, v, err)
		if failed != nil {
			return reply{}, failed
		}
		return show(views.ChannelForm(page)), err
	}
	if err != nil {
		return reply{}, err
	}
	return a.channelSaved(c, is, key, "The channel %s is saved")
}

// channelPosted is the channel of the address and what was sent.
func (a *App) channelPosted(c *gin.Context) (alert.Channel, *form, error) {
	ch, err := a.channelOf(c)
	if err != nil {
		return ch, nil, err
	}
	f, err := a.form(c)
	return ch, f, err
}

func (a *App) turnChannelOn(c *gin.Context) (reply, error) {
	ch, f, err := a.channelPosted(c)
	if err == nil {
		ch, err = a.alerts.Channels.TurnOn(c.Request.Context(), actor(c), ch.ID, f.text("reason"))
	}
	if err != nil {
		return reply{}, err
	}
	a.flash(c, "The channel %s is on", ch.Name)
	return goBack(c, "/alerts/channels/"+ch.ID), nil
}

func (a *App) turnChannelOff(c *gin.Context) (reply, error) {
	ch, f, err := a.channelPosted(c)
	if err == nil {
		ch, err = a.alerts.Channels.TurnOff(c.Request.Context(), actor(c), ch.ID, f.text("reason"))
	}
	if err != nil {
		return reply{}, err
	}
	a.flash(c, "The channel %s is off: nothing is sent there", ch.Name)
	return goBack(c, "/alerts/channels/"+ch.ID), nil
}

// testChannel sends a test and shows what came back, in place.
func (a *App) testChannel(c *gin.Context) (reply, error) {
	ch, _, err := a.channelPosted(c)
	if err != nil {
		return reply{}, err
	}
	sent, err := a.alerts.Deliveries.SendTest(c.Request.Context(), actor(c), ch.ID)
	if err != nil {
		return reply{}, err
	}
	if wantsPiece(c) && !strings.HasSuffix(c.GetHeader("HX-Target"), "channel-test") { // a row of a list
		return a.testedRow(c, ch, sent.Answer)
	}
	page, err := a.channelPage(c, ch, channelValues(ch), nil)
	page.Test = &sent
	return show(views.ChannelForm(page)).piecewise(views.ChannelTestPart(page)), err
}

func (a *App) deleteChannel(c *gin.Context) (reply, error) {
	ch, f, err := a.channelPosted(c)
	if err == nil {
		err = a.alerts.Channels.Delete(c.Request.Context(), actor(c), ch.ID, f.text("delete_reason"))
	}
	if err != nil {
		return reply{}, err
	}
	a.flash(c, "The channel %s is deleted", ch.Name)
	return goTo("/alerts/channels"), nil
}

// tellChannel has the channel told of something.
func (a *App) tellChannel(c *gin.Context) (reply, error) {
	ch, f, err := a.channelPosted(c)
	if err == nil {
		err = actor(c).CheckShared(access.EditRule, ch.TeamID)
	}
	if err != nil {
		return reply{}, err
	}
	v := views.TellValues{What: f.text("what"), After: f.text("after"), Zone: f.text("zone"), Events: f.all("events")}
	spec := f.tellSpec(v, teamByID(c, ch.TeamID).Code, ch.ID)
	if err = f.err(); err == nil {
		_, err = a.alerts.Subscriptions.Create(c.Request.Context(), actor(c), spec)
		err = renamed(renamed(renamed(err, "channel_id", "what"), "rule_id", "what"), "after_seconds", "after")
	}
	if kind := fault.KindOf(err); err != nil && (kind == fault.KindInvalid || kind == fault.KindConflict) {
		page, failed := a.channelPage(c, ch, channelValues(ch), nil)
		if failed != nil {
			return reply{}, failed
		}
		page.Telling, page.TellErrors = v, errorsOf(err)
		return show(views.ChannelForm(page)), err
	}
	if err != nil {
		return reply{}, err
	}
	a.flash(c, "%s is told of it from now on", ch.Name)
	return goTo("/alerts/channels/%s#told", ch.ID), nil
}

// untellChannel ends one of its subscriptions.
func (a *App) untellChannel(c *gin.Context) (reply, error) {
	ch, f, err := a.channelPosted(c)
	if err != nil {
		return reply{}, err
	}
	id, _ := strconv.ParseInt(f.text("subscription"), 10, 64) // 0 is nobody's
	if err := a.alerts.Subscriptions.Delete(c.Request.Context(), actor(c), id, f.text("reason")); err != nil {
		return reply{}, err
	}
	a.flash(c, "%s is not told of it any more", ch.Name)
	return goTo("/alerts/channels/%s#told", ch.ID), nil
}
