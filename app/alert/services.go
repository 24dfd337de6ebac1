package alert

import (
	"log/slog"
	"time"

	"ax/app/access"
)

// Services are the use cases of what people set, on one store.
type Services struct {
	Rules         *Rules
	Channels      *Channels
	Subscriptions *Subscriptions
	Silences      *Silences
	ChatIDs       *ChatIDs
	Holder        *Holder
}

// Store keeps what people set about alerts.
type Store interface {
	ruleStore
	channelStore
	subscriptionStore
	silenceStore
	chatIDStore
	holdBook
}

// ServicesOptions are what the services need; all are required but Queues.
type ServicesOptions struct {
	Store  Store
	Sealer access.Sealer
	Queues []string // that rules can name; empty: any
	Log    *slog.Logger
	Now    func() time.Time
}

// NewServices panics when a part is missing: a programmer's error at start.
func NewServices(o ServicesOptions) Services {
	if o.Store == nil || o.Sealer == nil || o.Log == nil || o.Now == nil {
		panic("alert.NewServices: a required part is missing")
	}
	return Services{
		Rules: NewRules(o.Store, o.Queues, o.Now), Channels: NewChannels(o.Store, o.Sealer, o.Now),
		Subscriptions: NewSubscriptions(o.Store, o.Now), Silences: NewSilences(o.Store, o.Now),
		ChatIDs: NewChatIDs(o.Store, o.Now), Holder: NewHolder(o.Store, o.Log, o.Now),
	}
}
