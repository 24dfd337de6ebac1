package alert

import (
	"time"

	"ax/app/access"
)

// Services are the package's use cases of people, on one store.
type Services struct {
	Incidents  *Incidents
	Deliveries *Deliveries
}

// Store keeps what people see and change of alerts.
type Store interface {
	incidentStore
	deliveryStore
}

// ServicesOptions are what the services need; all are required but Send.
type ServicesOptions struct {
	Store Store
	Send  Sender        // of test messages; nil: this process sends none
	NewID func() string // UUIDv7
	Now   func() time.Time
}

// NewServices panics when a part is missing: a programmer's error at start.
func NewServices(o ServicesOptions) Services {
	if o.Store == nil || o.NewID == nil || o.Now == nil {
		panic("alert.NewServices: a required part is missing")
	}
	return Services{
		Incidents:  NewIncidents(o.Store, o.Now),
		Deliveries: NewDeliveries(DeliveriesOptions{Store: o.Store, Send: o.Send, NewID: o.NewID, Now: o.Now}),
	}
}

// entry begins the audit row of what an actor did.
func entry(a access.Actor, now time.Time, action string, object access.Object, team int64) access.Entry {
	return access.Entry{At: now, Actor: a, Action: action, Object: object, TeamID: team}
}
