package views

import (
	"context"

	"ax/app/access"
	"ax/views/ui"
)

// BrokerValues are the fields of a broker's form as they were typed. The
// password is never sent back.
type BrokerValues struct{ Name, Kind, Address, TLS, User, Places string }

// The forms of a team's brokers.
const (
	FormBroker       = "add-broker"
	FormChangeBroker = "change-broker"
	FormRemoveBroker = "remove-broker"
	FormTestBroker   = "test-broker"
)

// brokerOptions are the team's brokers, to choose one from.
func (p TeamPage) brokerOptions() []ui.Option {
	out := make([]ui.Option, len(p.Brokers))
	for i, b := range p.Brokers {
		out[i] = ui.Option{Value: b.Name, Label: b.Name}
	}
	return out
}

func brokerKinds() []ui.Option {
	var out []ui.Option
	for _, k := range access.BrokerKinds() {
		out = append(out, ui.Option{Value: string(k), Label: brokerKindName(k)})
	}
	return out
}

// tlsOptions are how a connection is made. kept is what stays when nothing is
// chosen.
func tlsOptions(ctx context.Context, kept string) []ui.Option {
	return []ui.Option{
		{Value: "", Label: kept}, {Value: "true", Label: t(ctx, "With TLS")}, {Value: "false", Label: t(ctx, "Without TLS")},
	}
}
