package app_test

import (
	"context"

	"ax/app/access"
)

// brokerProbe answers for all brokers.
type brokerProbe struct{ wrong error }

func (p *brokerProbe) Probe(context.Context, access.Broker, access.BrokerAccount) error {
	return p.wrong
}
