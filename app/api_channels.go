package app

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"

	"ax/app/access"
	"ax/app/alert"
)

// channelIn names a channel.
type channelIn struct {
	ID string `path:"id" doc:"The channel's id" example:"8c3f0d7e5b1a4f6c9e2d7a0b4c6e8f10"`
}

// channelBody is a channel, without address and key: nobody reads those again.
type channelBody struct {
	ID       string            `json:"id" example:"8c3f0d7e5b1a4f6c9e2d7a0b4c6e8f10"`
	Team     string            `json:"team" doc:"Code of the team; empty: the installation" example:"payments"`
	Kind     alert.ChannelKind `json:"kind" enum:"feishu,dingtalk,wecom,slack,teams,webhook,email"`
	Name     string            `json:"name" example:"On call"`
	Language string            `json:"language" doc:"Of messages: en or zh-CN; empty for who may not see it"`
	Mention  alert.Mentioning  `json:"mention" doc:"owner, all or nobody"`
	Hint     string            `json:"hint" doc:"What of the address may be shown" example:"hooks.example.com …9f3c"`
	To       []string          `json:"to" nullable:"false" doc:"Of e-mail: the addresses"`
	Bad      string            `json:"bad_text" doc:"Text when something breaks; empty: ax's own"`
	Good     string            `json:"good_text" doc:"Text when it is over; empty: ax's own"`
	OffAt    instant           `json:"off_at" doc:"Since when nothing is sent; null: it is on"`
	OffWhy   string            `json:"off_why"`
	Version  int               `json:"version" doc:"Raised by every change; send it back with one"`
	// Key is told once.
	Key string `json:"key,omitempty" doc:"The key that ax made for a webhook: in the answer that made it, and never again"`
}

func channelShape(c alert.Channel, team, made string) channelBody {
	return channelBody{
		ID: c.ID, Team: team, Kind: c.Kind, Name: c.Name, Language: c.Language, Mention: c.Mention, Hint: c.Hint, To: list(c.To),
		Bad: c.Bad, Good: c.Good, OffAt: instant(c.OffAt), OffWhy: c.OffWhy, Version: c.Version, Key: made,
	}
}

// channelObject finds the channel of the path.
func channelObject(ctx context.Context, s *api, by access.Actor, c *gin.Context) error {
	_, err := s.alerts.Channels.Find(ctx, by, c.Param("id"))
	return err
}

func (s *api) channelOperations() {
	const path, one = "/alerts/channels", "/alerts/channels/{id}"
	add(s, operation{method: http.MethodGet, path: path, id: "list-channels", tag: tagAlerts, verb: access.Read,
		summary: "List channels", about: "Those of the token's team and those of the installation, without addresses and keys.",
	}, (*api).listChannels)
	add(s, operation{method: http.MethodPost, path: path, id: "create-channel", tag: tagAlerts, verb: access.ManageChannels, status: http.StatusCreated,
		body: alert.ChannelSpec{}, example: exampleChannel, summary: "Create a channel",
		about: "Address and key can't be read again. A webhook without a key gets one, which stands in this answer alone.",
	}, (*api).createChannel)
	add(s, operation{method: http.MethodGet, path: one, id: "get-channel", tag: tagAlerts, verb: access.Read, object: channelObject,
		summary: "Get a channel",
	}, (*api).getChannel)
	add(s, operation{method: http.MethodPut, path: one, id: "update-channel", tag: tagAlerts, verb: access.ManageChannels, object: channelObject, conflicts: true,
		body: alert.ChannelSpec{}, example: exampleChannelChange, summary: "Change a channel",
		about: "An address or key that is left out stays. The version that was read goes along: 409 when somebody changed it meanwhile.",
	}, (*api).updateChannel)
	add(s, operation{method: http.MethodDelete, path: one, id: "delete-channel", tag: tagAlerts, verb: access.ManageChannels, object: channelObject, status: http.StatusNoContent,
		summary: "Delete a channel", about: "With its subscriptions.",
	}, (*api).deleteChannel)
	add(s, operation{method: http.MethodPost, path: one + "/test", id: "test-channel", tag: tagAlerts, verb: access.ManageChannels, object: channelObject,
		summary: "Send a test message to a channel", about: "At once and once, also when the channel is off. What was answered is in the delivery.",
	}, (*api).testChannel)
}

type channelListOut struct {
	Body listOf[channelBody]
}

type channelOut struct {
	Body channelBody
}

type channelMade struct {
	Location string `header:"Location" doc:"Path of the new channel"`
	Body     channelBody
}

func (s *api) listChannels(ctx context.Context, k *call, _ *struct{}) (*channelListOut, error) {
	all, err := s.alerts.Channels.List(ctx, k.actor, access.Scope{})
	if err != nil {
		return nil, err
	}
	teams, err := s.teamCodes(ctx, k.actor)
	var items []channelBody
	for _, c := range all {
		items = append(items, channelShape(c, teams[c.TeamID], ""))
	}
	return &channelListOut{Body: listPage(items, "")}, err
}

// channelOut shows a channel that the actor may see; made is a key that is told
// now.
func (s *api) channelOut(ctx context.Context, k *call, c alert.Channel, made string, err error) (*channelOut, error) {
	if err != nil {
		return nil, err
	}
	teams, err := s.teamCodes(ctx, k.actor)
	return &channelOut{Body: channelShape(c, teams[c.TeamID], made)}, err
}

func (s *api) createChannel(ctx context.Context, k *call, _ *struct{}) (*channelMade, error) {
	var spec alert.ChannelSpec
	if err := decode(k.body, &spec); err != nil {
		return nil, err
	}
	c, made, err := s.alerts.Channels.Create(ctx, k.actor, spec)
	out, err := s.channelOut(ctx, k, c, made, err)
	if err != nil {
		return nil, err
	}
	return &channelMade{Location: apiPrefix + "/alerts/channels/" + c.ID, Body: out.Body}, nil
}

func (s *api) getChannel(ctx context.Context, k *call, in *channelIn) (*channelOut, error) {
	c, err := s.alerts.Channels.Find(ctx, k.actor, in.ID)
	return s.channelOut(ctx, k, c, "", err)
}

func (s *api) updateChannel(ctx context.Context, k *call, in *channelIn) (*channelOut, error) {
	var spec alert.ChannelSpec
	if err := decode(k.body, &spec); err != nil {
		return nil, err
	}
	c, made, err := s.alerts.Channels.Update(ctx, k.actor, in.ID, spec)
	return s.channelOut(ctx, k, c, made, err)
}

func (s *api) deleteChannel(ctx context.Context, k *call, in *channelIn) (*struct{}, error) {
	return nil, s.alerts.Channels.Delete(ctx, k.actor, in.ID, "")
}

func (s *api) testChannel(ctx context.Context, k *call, in *channelIn) (*deliveryMade, error) {
	if _, err := s.alerts.Channels.Find(ctx, k.actor, in.ID); err != nil {
		return nil, err
	}
	d, err := s.alerts.Deliveries.SendTest(ctx, k.actor, in.ID)
	return s.deliveryMade(ctx, k, d, err)
}
