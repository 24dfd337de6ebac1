package app

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/gin-gonic/gin"

	"ax/app/access"
	"ax/app/alert"
	"ax/app/fault"
	"ax/views"
)

// reach is how messages find the person.
func (a *App) reach(ctx context.Context, who *visit) (views.Reach, error) {
	r := views.Reach{NoServer: !a.mailServer, Zone: cmp.Or(who.person.Zone, a.zone.String()), Other: views.ReachTeam{Key: views.OtherTeam}}
	var err error
	if r.ChatIDs, err = a.alerts.ChatIDs.List(ctx, who.actor); err != nil {
		return r, err
	}
	own, err := a.alerts.Subscriptions.Own(ctx, who.actor)
	if err != nil {
		return r, err
	}
	for _, team := range append(slices.Clone(who.teams), access.Team{}) {
		of := slices.DeleteFunc(slices.Clone(own), func(s alert.Subscribed) bool { return s.TeamID != team.ID })
		told := slices.ContainsFunc(of, func(s alert.Subscribed) bool { return s.Plain() })
		for _, s := range of {
			if !s.Plain() {
				r.Also = append(r.Also, views.ReachAlso{Subscribed: s, Team: team.Name})
			}
			if s.Zone != "" {
				r.Zone = s.Zone
			}
		}
		switch {
		case told, who.actor.Roles[team.ID].Valid(), team.ID == 0 && who.actor.Can(access.EditRule, 0):
			r.Teams = append(r.Teams, views.ReachTeam{Key: strconv.FormatInt(team.ID, 10), Name: team.Name, OwnNews: alert.NewsOf(team.Code, of)})
		case team.ID != 0:
			r.Others = append(r.Others, views.Team{Code: team.Code, Name: team.Name})
		}
	}
	return r, nil
}

// saveChatIDs keeps how robots call the person.
func (a *App) saveChatIDs(c *gin.Context) (reply, error) {
	f, err := a.form(c)
	if err != nil {
		return reply{}, err
	}
	ids := map[alert.ChannelKind]string{}
	for _, k := range alert.Mentioners() {
		ids[k] = f.text(string(k))
	}
	if err := a.alerts.ChatIDs.Set(c.Request.Context(), actor(c), ids); err != nil {
		return a.accountAgain(c, views.AboutChatIDs, err, func(p *views.AccountPage) { p.Reach.ChatIDs = ids })
	}
	a.flash(c, "Saved")
	return goTo("/account#s-chat-ids"), nil
}

// saveOwnAlerts sets what the person is told by e-mail, or (end=) ends one
// subscription.
func (a *App) saveOwnAlerts(c *gin.Context) (reply, error) {
	f, err := a.form(c)
	if err != nil {
		return reply{}, err
	}
	if f.has("end") {
		return a.endOwnAlert(c, f)
	}
	who, err := a.visit(c)
	if err != nil {
		return reply{}, err
	}
	now, err := a.reach(c.Request.Context(), who)
	if err != nil {
		return reply{}, err
	}
	typed, wants := f.reach(now)
	err = a.alerts.Subscriptions.SetOwn(c.Request.Context(), actor(c), wants, typed.Zone)
	if err != nil {
		return a.accountAgain(c, views.AboutMail, renamed(renamed(err, "team", views.OtherTeam), "zone", "day_zone"), func(p *views.AccountPage) {
			typed.ChatIDs, typed.Also = p.Reach.ChatIDs, p.Reach.Also
			p.Reach = typed
		})
	}
	a.flash(c, "Saved")
	return goTo("/account#s-mail"), nil
}

// reach is what was typed in the place of what is, and what it asks for.
func (f *form) reach(now views.Reach) (typed views.Reach, wants []alert.OwnNews) {
	typed = now
	typed.Zone, typed.Teams = f.text("day_zone"), slices.Clone(now.Teams)
	for i, r := range typed.Teams {
		if f.has("alerts." + r.Key) {
			typed.Teams[i].OwnNews = f.ownNews(r.Key, r.Team)
			wants = append(wants, typed.Teams[i].OwnNews)
		}
	}
	if code := f.text(views.OtherTeam); code != "" {
		typed.Other.OwnNews = f.ownNews(views.OtherTeam, code)
		wants = append(wants, typed.Other.OwnNews)
	}
	return typed, wants
}

func (f *form) ownNews(key, team string) alert.OwnNews {
	return alert.OwnNews{Team: team, Alerts: alert.Level(f.text("alerts." + key)), Daily: f.ticked("daily." + key), Weekly: f.ticked("weekly." + key)}
}

func (a *App) endOwnAlert(c *gin.Context, f *form) (reply, error) {
	id, _ := strconv.ParseInt(f.text("end"), 10, 64) // 0 is nobody's
	err := a.alerts.Subscriptions.Delete(c.Request.Context(), actor(c), id, "")
	if err != nil && fault.KindOf(err) != fault.KindNotFound { // ended on another page
		return reply{}, err
	}
	a.flash(c, "You are not told of it any more")
	return goTo("/account#s-mail"), nil
}
