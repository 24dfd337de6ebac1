package sched

import (
	"context"
	"maps"
	"net/netip"
	"net/url"
	"slices"

	"ax/app/access"
	"ax/app/fault"
)

// targetFor refuses a target of which can be told already that its calls won't
// be made: an address that the team may not call, or a secret that it hasn't
// or that isn't for this host. A name is judged when it is called, by where it
// leads then. Faults: Invalid (target.kind, target.url, target.headers,
// target.http.cancel_url, and
// those of brokerFor).
func (s *Tasks) targetFor(ctx context.Context, team int64, w TargetSpec) error {
	if w.Kind == TargetShell && team != 0 {
		return s.commandsFor(ctx, team)
	}
	if w.Kind == TargetMQ && team != 0 {
		return s.brokerFor(ctx, team, w)
	}
	if w.Kind == TargetHTTP && w.Executor != "" && team != 0 {
		bad, err := s.secretsFor(ctx, team, nil, Target{Headers: w.Headers, HTTP: w.HTTP})
		if err != nil {
			return err
		}
		return fault.Invalid(bad...)
	}
	u, err := url.Parse(w.URL)
	if w.Kind != TargetHTTP || team == 0 || err != nil {
		return nil // said by others
	}
	badURL, err := s.addressFor(ctx, team, "target.url", u)
	if err != nil {
		return err
	}
	badHeaders, err := s.secretsFor(ctx, team, u, Target{Headers: w.Headers, HTTP: w.HTTP})
	if err != nil {
		return err
	}
	badCancel, err := s.cancelFor(ctx, team, w)
	if err != nil {
		return err
	}
	return fault.Invalid(slices.Concat(badURL, badHeaders, badCancel)...)
}

// cancelFor looks whether the team may call the address that tells the target to
// stop, with the secrets of its headers.
func (s *Tasks) cancelFor(ctx context.Context, team int64, w TargetSpec) ([]fault.FieldError, error) {
	const field = "target.http.cancel_url"
	if w.HTTP == nil || w.HTTP.CancelURL == "" {
		return nil, nil
	}
	u, err := url.Parse(w.HTTP.CancelURL)
	if err != nil {
		return nil, nil // said by others
	}
	bad, err := s.addressFor(ctx, team, field, u)
	if err != nil || len(bad) > 0 {
		return bad, err
	}
	have, err := s.secretsFor(ctx, team, u, Target{Headers: w.Headers, HTTP: w.HTTP})
	if err != nil || len(have) == 0 || w.HTTP.CancelURL == w.URL {
		return nil, err
	}
	return []fault.FieldError{{Name: field, Text: have[0].Text}}, nil
}

// commandsFor refuses commands to a team that an administrator didn't open them
// to. Each run looks again.
func (s *Tasks) commandsFor(ctx context.Context, team int64) error {
	ok, err := s.store.RunsCommands(ctx, team)
	if err != nil || ok {
		return err
	}
	return fault.Invalid(fault.Field("target.kind", "This team may not run commands. An administrator can open them on the team’s page."))
}

func (s *Tasks) addressFor(ctx context.Context, team int64, field string, u *url.URL) ([]fault.FieldError, error) {
	addr, err := netip.ParseAddr(u.Hostname())
	if err != nil {
		return nil, nil // a name, or nothing
	}
	if access.Metadata(addr) {
		return []fault.FieldError{fault.Field(field, "%s is a metadata service of clouds, which nothing may call", addr.String())}, nil
	}
	ok, err := s.targets.MayCall(ctx, team, addr)
	if err != nil || ok {
		return nil, err
	}
	return []fault.FieldError{fault.Field(field, "This team may not call %s, which is inside the network. An administrator can open it on the team's page.", addr.String())}, nil
}

// secretsFor looks whether the team has the secrets that headers name, and
// whether they are for the host of the address; of an executor (nil) that is
// seen when one is called.
func (s *Tasks) secretsFor(ctx context.Context, team int64, u *url.URL, t Target) ([]fault.FieldError, error) {
	names := t.Secrets()
	if len(names) == 0 {
		return nil, nil
	}
	have, err := s.store.Secrets(ctx, team)
	if err != nil {
		return nil, err
	}
	var to access.Destination
	if u != nil {
		to = access.DestinationOf(u)
	}
	var bad []fault.FieldError
	for _, name := range names {
		switch at := slices.IndexFunc(have, func(x access.Secret) bool { return x.Name == name }); {
		case at < 0:
			bad = append(bad, fault.Field("target.headers", "The team has no secret %s; an owner can make it on the team’s page", name))
		case u != nil && !have[at].For(to):
			bad = append(bad, fault.Field("target.headers", "The secret %s is not for %s; an owner can add the host on the team’s page", name, to.Host))
		}
	}
	return bad, nil
}

// targetChange is targetFor when a task gets another address or other headers.
// What stays doesn't stand in the way of other changes, whatever was closed
// meanwhile.
func (s *Tasks) targetChange(ctx context.Context, old Task, w TargetSpec) error {
	was := old.Spec.Target
	if w.Kind == was.Kind && w.URL == was.URL && maps.Equal(w.Headers, was.Headers) && sameMessage(w, was) && slices.Equal((Target{HTTP: w.HTTP}).Secrets(), (Target{HTTP: was.HTTP}).Secrets()) && w.HTTP.cancelURL() == was.HTTP.cancelURL() {
		return nil
	}
	return s.targetFor(ctx, old.TeamID, w)
}
