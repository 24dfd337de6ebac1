package app

import (
	"context"

	"github.com/gin-gonic/gin"

	"ax/app/access"
	"ax/app/alert"
	"ax/app/sched"
	"ax/views"
)

// listChannels shows where messages go, with the latest to each.
func (a *App) listChannels(c *gin.Context) (reply, error) {
	p, err := a.channelsPage(c)
	return show(views.AlertsChannelsTab(p)), err
}

func (a *App) channelsPage(c *gin.Context) (views.ChannelsPage, error) {
	top, err := a.alertsTop(c)
	if err != nil {
		return views.ChannelsPage{}, err
	}
	p := views.ChannelsPage{AlertsTop: top.AlertsTop}
	told, err := a.toldOf(c)
	if err != nil {
		return p, err
	}
	for _, ch := range top.channels {
		r, err := a.channelRow(c, ch, told)
		if err != nil {
			return p, err
		}
		p.Rows = append(p.Rows, r)
	}
	return p, nil
}

// toldOf counts the subscriptions of channels.
func (a *App) toldOf(c *gin.Context) (map[string]int, error) {
	subs, err := a.alerts.Subscriptions.List(c.Request.Context(), actor(c), scopeOf(c))
	out := map[string]int{}
	for _, s := range subs {
		out[s.ChannelID]++
	}
	return out, err
}

func (a *App) channelRow(c *gin.Context, ch alert.Channel, told map[string]int) (views.ChannelRow, error) {
	by := actor(c)
	r := views.ChannelRow{Channel: ch, Team: teamNamed(c, ch.TeamID), Told: told[ch.ID], MayManage: by.CheckShared(access.ManageChannels, ch.TeamID) == nil}
	if !by.Sees(ch.TeamID) { // of the installation's channels only the name is everybody's
		r.Told = max(r.Told, 1)
		return r, nil
	}
	last, err := a.lastMessage(c.Request.Context(), by, ch.ID)
	r.Last = last
	return r, err
}

// lastMessage is the latest to a channel that was tried; nil when none was.
func (a *App) lastMessage(ctx context.Context, by access.Actor, channel string) (*alert.Delivery, error) {
	page, err := a.alerts.Deliveries.List(ctx, by, alert.DeliveryFilter{Channel: channel}, sched.PageRequest{Limit: 5})
	for _, d := range page.Items {
		if !d.SentAt.IsZero() {
			return &d, err
		}
	}
	return nil, err
}

// testedRow is a channel's row of the list with what came back of a test.
func (a *App) testedRow(c *gin.Context, ch alert.Channel, answer alert.Answer) (reply, error) {
	told, err := a.toldOf(c)
	if err != nil {
		return reply{}, err
	}
	r, err := a.channelRow(c, ch, told)
	r.Tested = &answer
	return fragment(views.ChannelLine(r)), err
}
