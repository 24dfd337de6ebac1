package alert

import (
	"time"

	"ax/app/access"
)

// Services are the package's use cases of people, on one store.
type Services struct {
	Incidents     *Incidents
	Deliveries    *Deliveries
	Rules         *Rules
	Channels      *Channels
	Subscriptions *Subscriptions
	Silences      *Silences
	ChatIDs       *ChatIDs
}

// Store keeps what people see and set of alerts.
type Store interface {
	incidentStore
	deliveryStore
	ruleStore
	channelStore
	subscriptionStore
	silenceStore
	chatIDStore
}

// ServicesOptions are what the services need; all are required but Send and
// Queues.
type ServicesOptions struct {
	Store  Store
	Sealer access.Sealer
	Send   Sender        // of test messages; nil: this process sends none
	Queues []string      // that rules can name; empty: any
	NewID  func() string // UUIDv7
	Now    func() time.Time
}

// NewServices panics when a part is missing: a programmer's error at start.
func NewServices(o ServicesOptions) Services {
	if o.Store == nil || o.Sealer == nil || o.NewID == nil || o.Now == nil {
		panic("alert.NewServices: a required part is missing")
	}
	return Services{
		Incidents:  NewIncidents(o.Store, o.Now),
		Deliveries: NewDeliveries(DeliveriesOptions{Store: o.Store, Send: o.Send, NewID: o.NewID, Now: o.Now}),
		Rules:      NewRules(o.Store, o.Queues, o.Now), Channels: NewChannels(o.Store, o.Sealer, o.Now),
		Subscriptions: NewSubscriptions(o.Store, o.Now), Silences: NewSilences(o.Store, o.Now),
		ChatIDs: NewChatIDs(o.Store, o.Now),
	}
}

// entry begins the audit row of what an actor did.
func entry(a access.Actor, now time.Time, action string, object access.Object, team int64) access.Entry {
	return access.Entry{At: now, Actor: a, Action: action, Object: object, TeamID: team}
}
