package demo

import (
	"context"
	"fmt"
	"io"
	"time"

	"ax/app/access"
	"ax/app/alert"
)

// House is an empty installation to be furnished. Commands is the folder of
// WriteCommands, or empty where no command can be run; all else is required.
type House struct {
	People   access.Services
	Brokers  *access.Brokers
	Tasks    tasks
	Alerts   alert.Services
	Cases    casebook
	By       access.Actor
	Target   *Target
	Messages Messages
	Console  string // address of the API
	Commands string
	NewID    func() string // UUIDv7
	Now      func() time.Time
	Out      io.Writer // what the person at the terminal is to read
}

// Furnish makes a person to sign in as, tasks of every kind, runs, and a past
// of alerts. The target is a service too, until ctx ends: it registers as an
// executor and reads messages.
func (h House) Furnish(ctx context.Context) error {
	team, err := h.People.Teams.EnsureDefault(ctx)
	if err != nil {
		return err
	}
	if h.Commands != "" {
		if err := h.People.Teams.SetCommands(ctx, h.By, team, true, "the demo's own commands"); err != nil {
			return err
		}
	}
	password := h.NewID()
	if _, err := h.People.Users.Create(ctx, h.By, access.NewUser{Login: "demo", Name: "Demo", Password: password, Admin: true}); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(h.Out, "Sign in as demo with the password %s\nThe target of its tasks: %s\n", password, h.Target.URL()); err != nil {
		return err
	}
	if err := h.hire(ctx, team); err != nil {
		return err
	}
	if err := h.fill(ctx, team.Code); err != nil {
		return err
	}
	return FillAlerts(ctx, AlertsOptions{Alerts: h.Alerts, Cases: h.Cases, By: h.By, Team: team, Base: h.Target.URL(), NewID: h.NewID, Now: h.Now()})
}

// hire lets the target register as an executor and take messages.
func (h House) hire(ctx context.Context, team access.Team) error {
	token, _, err := h.People.Tokens.Create(ctx, h.By, access.NewToken{TeamID: team.ID, Name: "billing service", Role: access.Operator, Executors: []string{serviceName}})
	if err != nil {
		return err
	}
	if err := h.Target.join(ctx, h.Console, token); err != nil {
		return err
	}
	_, err = h.Brokers.Add(ctx, h.By, team, access.NewBroker{
		Name: brokerName, Kind: access.BrokerRedis, Address: "redis://" + h.Messages.Addr(), Password: h.Messages.Password(), Places: orderStream + " 10000",
	})
	if err != nil {
		return err
	}
	go h.Target.listen(ctx, h.Messages, orderStream)
	return nil
}
