package app

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/gin-gonic/gin"

	"ax/app/access"
	"ax/app/alert"
)

// deliveryIn names a message.
type deliveryIn struct {
	ID string `path:"id" doc:"The delivery's id" example:"0193868e-2f40-7c11-9a02-6b1fd2f0c7e1"`
}

// DeliveryBody is one message on its way to one channel. The framework looks
// into embedded types only when they are exported.
type DeliveryBody struct {
	ID         string              `json:"id" format:"uuid" example:"0193868e-2f40-7c11-9a02-6b1fd2f0c7e1"`
	ChannelID  string              `json:"channel_id" example:"8c3f0d7e5b1a4f6c9e2d7a0b4c6e8f10"`
	Team       string              `json:"team" doc:"Code of the channel's team; empty: the installation" example:"payments"`
	Kind       alert.MessageKind   `json:"kind" enum:"opened,repeated,grown,escalated,closed,test,digest,event,run"`
	Event      alert.EventType     `json:"event" doc:"Of events and digests; else empty" example:"instance.finished"`
	Title      string              `json:"title" doc:"The rule, the event, or the kind"`
	MessageID  string              `json:"message_id" format:"uuid" doc:"What the receiver gets as the id: a replay has that of the first delivery"`
	IncidentID string              `json:"incident_id" doc:"Empty: it tells of none"`
	Object     string              `json:"object" doc:"Messages of one object go in order" example:"instance/0193868e-2f40-7c11-9a02-6b1fd2f0c7e1"`
	State      alert.DeliveryState `json:"state" enum:"waiting,delivered,refused"`
	Tries      int                 `json:"tries"`
	CreatedAt  instant             `json:"created_at" nullable:"false"`
	DueAt      instant             `json:"due_at" nullable:"false" doc:"Of the next try, while it waits"`
	SentAt     instant             `json:"sent_at" doc:"The latest try"`
	EndedAt    instant             `json:"ended_at"`
	MergedInto string              `json:"merged_into" doc:"The delivery whose message told of this one too; empty: none"`
	ReplayOf   string              `json:"replay_of" doc:"The delivery that was sent again; empty: none"`
	Answer     answerBody          `json:"answer"`
}

// answerBody is what came back.
type answerBody struct {
	Verdict alert.Verdict `json:"verdict" doc:"accepted, again, give_up, turn_off; empty: it was not tried" example:"accepted"`
	Status  int           `json:"status" doc:"HTTP or SMTP; 0: none came" example:"200"`
	Code    string        `json:"code" doc:"The robot's own"`
	Body    string        `json:"body" doc:"Excerpt, secrets masked"`
	TookMs  int64         `json:"took_ms"`
}

func deliveryShape(d alert.Delivery, team string) DeliveryBody {
	return DeliveryBody{
		ID: d.ID, ChannelID: d.ChannelID, Team: team, Kind: d.Kind, Event: d.Message.Event, Title: d.Title(), MessageID: d.Message.ID,
		IncidentID: d.IncidentID, Object: d.Object, State: d.State, Tries: d.Tries,
		CreatedAt: instant(d.CreatedAt), DueAt: instant(d.DueAt), SentAt: instant(d.SentAt), EndedAt: instant(d.EndedAt),
		MergedInto: d.MergedInto, ReplayOf: d.ReplayOf,
		Answer: answerBody{Verdict: d.Answer.Verdict, Status: d.Answer.Status, Code: d.Answer.Code, Body: d.Answer.Body, TookMs: d.Answer.Took.Milliseconds()},
	}
}

// wholeDelivery is a message with what it says.
type wholeDelivery struct {
	DeliveryBody
	Message json.RawMessage `json:"message" doc:"What it says, as facts; each channel words them in its own way"`
}

// deliveryObject finds the message of the path.
func deliveryObject(ctx context.Context, s *api, by access.Actor, c *gin.Context) error {
	_, err := s.findDelivery(ctx, by, c.Param("id"))
	return err
}

func (s *api) findDelivery(ctx context.Context, by access.Actor, id string) (alert.Delivery, error) {
	if !isID(id) {
		return alert.Delivery{}, access.NoObject()
	}
	return s.alerts.Deliveries.Find(ctx, by, id)
}

func (s *api) deliveryOperations() {
	add(s, operation{
		method: http.MethodGet, path: "/alerts/deliveries", id: "list-deliveries", tag: tagAlerts, verb: access.Read,
		summary: "List messages to channels", about: "Newest first, without what they say. What has ended is kept for 30 days.",
	}, (*api).listDeliveries)
	add(s, operation{
		method: http.MethodGet, path: "/alerts/deliveries/{id}", id: "get-delivery", tag: tagAlerts, verb: access.Read, object: deliveryObject,
		summary: "Get a message to a channel",
	}, (*api).getDelivery)
	add(s, operation{
		method: http.MethodPost, path: "/alerts/deliveries/{id}/replay", id: "replay-delivery", tag: tagAlerts, verb: access.Acknowledge, object: deliveryObject,
		status: http.StatusAccepted, conflicts: true,
		summary: "Send a message again",
		about:   "As it was, and with its id, so that the receiver can tell. 409 while it is on its way, or when its channel is gone.",
	}, (*api).replayDelivery)
}

type deliveryListIn struct {
	ListIn
	Channel  string              `query:"channel" maxLength:"32" doc:"A channel's id"`
	Incident string              `query:"incident" maxLength:"36" doc:"An incident's id"`
	State    alert.DeliveryState `query:"state" enum:"waiting,delivered,refused"`
}

type deliveryListOut struct {
	Body listOf[DeliveryBody]
}

func (s *api) listDeliveries(ctx context.Context, k *call, in *deliveryListIn) (*deliveryListOut, error) {
	if err := checkCursor(in.Cursor, isID); err != nil {
		return nil, err
	}
	f := alert.DeliveryFilter{Channel: in.Channel, Incident: in.Incident, State: in.State}
	page, err := s.alerts.Deliveries.List(ctx, k.actor, f, in.page())
	if err != nil {
		return nil, err
	}
	teams, err := s.teamCodes(ctx, k.actor)
	if err != nil {
		return nil, err
	}
	var items []DeliveryBody
	for _, d := range page.Items {
		items = append(items, deliveryShape(d, teams[d.TeamID]))
	}
	return &deliveryListOut{Body: listPage(items, page.Next)}, nil
}

type wholeDeliveryOut struct {
	Body wholeDelivery
}

func (s *api) getDelivery(ctx context.Context, k *call, in *deliveryIn) (*wholeDeliveryOut, error) {
	d, err := s.findDelivery(ctx, k.actor, in.ID)
	if err != nil {
		return nil, err
	}
	teams, err := s.teamCodes(ctx, k.actor)
	if err != nil {
		return nil, err
	}
	says, err := json.Marshal(d.Message)
	return &wholeDeliveryOut{Body: wholeDelivery{deliveryShape(d, teams[d.TeamID]), says}}, err
}

// deliveryMade is a new message and where it is.
type deliveryMade struct {
	Location string `header:"Location" doc:"Path of the new message"`
	Body     DeliveryBody
}

func (s *api) deliveryMade(ctx context.Context, k *call, d alert.Delivery, err error) (*deliveryMade, error) {
	if err != nil {
		return nil, err
	}
	teams, err := s.teamCodes(ctx, k.actor)
	return &deliveryMade{Location: apiPrefix + "/alerts/deliveries/" + d.ID, Body: deliveryShape(d, teams[d.TeamID])}, err
}

func (s *api) replayDelivery(ctx context.Context, k *call, in *deliveryIn) (*deliveryMade, error) {
	if _, err := s.findDelivery(ctx, k.actor, in.ID); err != nil {
		return nil, err
	}
	d, err := s.alerts.Deliveries.Replay(ctx, k.actor, in.ID)
	return s.deliveryMade(ctx, k, d, err)
}
