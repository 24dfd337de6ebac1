package views

import (
	"context"
	"net/url"
	"time"

	"ax/app/alert"
	"ax/app/fault"
	"ax/views/ui"
)

// DeliveryQuery is what narrows the log of messages, as its address has it.
type DeliveryQuery struct {
	Channel  string // id
	State    alert.DeliveryState
	Incident string // id
	Kind     alert.MessageKind
	After    string // key of the page
	Before   string
}

// Path is the log's address.
func (q DeliveryQuery) Path() string {
	values := url.Values{}
	for _, p := range [...]struct{ key, value string }{
		{"channel", q.Channel}, {"state", string(q.State)}, {"incident", q.Incident}, {"kind", string(q.Kind)}, {"after", q.After}, {"before", q.Before},
	} {
		if p.value != "" {
			values.Set(p.key, p.value)
		}
	}
	if len(values) == 0 {
		return "/alerts/deliveries"
	}
	return "/alerts/deliveries?" + values.Encode()
}

func (q DeliveryQuery) first() DeliveryQuery {
	q.After, q.Before = "", ""
	return q
}

func (q DeliveryQuery) narrowed() bool { return q.first() != DeliveryQuery{} }

// DeliveriesPage is the log of messages.
type DeliveriesPage struct {
	Query    DeliveryQuery
	Rows     []alert.Delivery
	Channels []alert.Channel // to choose from, and to name those of the rows
	Newer    string          // keys of the pages beside this one
	Older    string
	Kept     time.Duration // how long the ledger keeps messages; 0: for good
	Errors   []fault.FieldError
}

// DeliveryPage is one message, with every known fact.
type DeliveryPage struct {
	Delivery alert.Delivery
	Channel  alert.Channel // the zero Channel: it is gone
	Text     alert.Text    // as it was, or will be, worded
	Body     string        // of a webhook: the object as JSON
	MaySend  bool
}

func deliveryPath(id string) string { return "/alerts/deliveries/" + id }

// channelOf finds the channel of a row; the zero Channel when it is gone.
func (p DeliveriesPage) channelOf(d alert.Delivery) alert.Channel {
	for _, c := range p.Channels {
		if c.ID == d.ChannelID {
			return c
		}
	}
	return alert.Channel{}
}

// messageTitle names a message: the rule and why it is told.
func messageTitle(ctx context.Context, d alert.Delivery) string {
	m := d.Message
	switch {
	case m.Rule != "":
		return t(ctx, "%s: %s", ruleTitle(ctx, m.Rule), kindOfMessage(ctx, d.Kind))
	case m.Event != "":
		return eventWord(ctx, m.Event)
	}
	return t(ctx, "Message: %s", kindOfMessage(ctx, d.Kind))
}

// states of the log to choose from.
func (p DeliveriesPage) states(ctx context.Context) []ui.Tab {
	var tabs []ui.Tab
	for _, s := range []struct {
		state alert.DeliveryState
		word  string
	}{{"", t(ctx, "All|states")}, {alert.Waiting, t(ctx, "Waiting")}, {alert.Delivered, t(ctx, "Delivered")}, {alert.Refused, t(ctx, "Given up")}} {
		q := p.Query.first()
		q.State = s.state
		tabs = append(tabs, ui.Tab{Label: s.word, Href: q.Path(), On: p.Query.State == s.state})
	}
	return tabs
}

// channelOptions are the channels to narrow the log to.
func (p DeliveriesPage) channelOptions(ctx context.Context) []ui.Option {
	out := []ui.Option{{Label: t(ctx, "Every channel")}}
	known := p.Query.Channel == ""
	for _, c := range p.Channels {
		out = append(out, ui.Option{Value: c.ID, Label: c.Name})
		known = known || c.ID == p.Query.Channel
	}
	if !known {
		out = append(out, ui.Option{Value: p.Query.Channel, Label: t(ctx, "deleted channel")})
	}
	return out
}

func (p DeliveriesPage) kindOptions(ctx context.Context) []ui.Option {
	return []ui.Option{
		{Label: t(ctx, "Every kind")},
		{Value: string(alert.Opened), Label: t(ctx, "Alert opened")}, {Value: string(alert.Repeated), Label: t(ctx, "Alert still so")},
		{Value: string(alert.Grown), Label: t(ctx, "Alert grew")}, {Value: string(alert.Escalated), Label: t(ctx, "Alert escalated")},
		{Value: string(alert.Closed), Label: t(ctx, "Alert over")}, {Value: string(alert.Event), Label: t(ctx, "Event")},
		{Value: string(alert.Summing), Label: t(ctx, "Summary")}, {Value: string(alert.Test), Label: t(ctx, "Test")},
		{Value: string(alert.Ran), Label: t(ctx, "End of a run")},
	}
}

func (p DeliveriesPage) tokens(ctx context.Context) []ui.Token {
	if p.Query.Incident == "" {
		return nil
	}
	q := p.Query.first()
	q.Incident = ""
	return []ui.Token{{Key: "incident", Value: p.Query.Incident, Remove: q.Path(), Label: t(ctx, "Remove the filter %s", "incident")}}
}

// pager says what is shown, and how far the log goes back.
func (p DeliveriesPage) pager(ctx context.Context) ui.Pager {
	page := ui.Pager{Shown: tn(ctx, "%d shown", len(p.Rows)), NewerWord: t(ctx, "Newer"), OldWord: t(ctx, "Older")}
	if p.Kept > 0 {
		page.Shown = t(ctx, "%s · kept for %s", page.Shown, viewer(ctx).Span(p.Kept))
	}
	if q := p.Query.first(); p.Newer != "" {
		q.Before = p.Newer
		page.Newer = q.Path()
	}
	if q := p.Query.first(); p.Older != "" {
		q.After = p.Older
		page.Older = q.Path()
	}
	return page
}

// nextWords say what comes next of a message.
func nextWords(ctx context.Context, d alert.Delivery) string {
	switch now := viewer(ctx).Now; {
	case d.State != alert.Waiting:
		return ""
	case d.DueAt.After(now):
		return t(ctx, "next try %s", relative(ctx, d.DueAt))
	}
	return t(ctx, "due now")
}
