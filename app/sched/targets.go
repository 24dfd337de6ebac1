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
// leads then. Faults: Invalid (target.url, target.headers, and those of
// brokerFor).
func (s *Tasks) targetFor(ctx context.Context, team int64, w TargetSpec) error {
	if w.Kind == TargetMQ && team != 0 {
		return s.brokerFor(ctx, team, w)
	}
	u, err := url.Parse(w.URL)
	if w.Kind != TargetHTTP || team == 0 || err != nil {
		return nil // said by others
	}
	badURL, err := s.addressFor(ctx, team, u)
	if err != nil {
		return err
	}
	badHeaders, err := s.secretsFor(ctx, team, u, w.Headers)
	if err != nil {
		return err
	}
	return fault.Invalid(slices.Concat(badURL, badHeaders)...)
}

func (s *Tasks) addressFor(ctx context.Context, team int64, u *url.URL) ([]fault.FieldError, error) {
	addr, err := netip.ParseAddr(u.Hostname())
	if err != nil {
		return nil, nil // a name, or nothing
	}
	if access.Metadata(addr) {
		return []fault.FieldError{fault.Field("target.url", "%s is a metadata service of clouds, which nothing may call", addr.String())}, nil
	}
	ok, err := s.targets.MayCall(ctx, team, addr)
	if err != nil || ok {
		return nil, err
	}
	return []fault.FieldError{fault.Field("target.url", "This team may not call %s, which is inside the network. An administrator can open it on the team's page.", addr.String())}, nil
}

// secretsFor looks whether the team has the secrets that headers name, and
// whether they are for the host of the address.
func (s *Tasks) secretsFor(ctx context.Context, team int64, u *url.URL, headers map[string]string) ([]fault.FieldError, error) {
	names := Target{Headers: headers}.Secrets()
	if len(names) == 0 {
		return nil, nil
	}
	have, err := s.store.Secrets(ctx, team)
	if err != nil {
		return nil, err
	}
	to := access.DestinationOf(u)
	var bad []fault.FieldError
	for _, name := range names {
		switch at := slices.IndexFunc(have, func(x access.Secret) bool { return x.Name == name }); {
		case at < 0:
			bad = append(bad, fault.Field("target.headers", "The team has no secret %s; an owner can make it on the team’s page", name))
		case !have[at].For(to):
			bad = append(bad, fault.Field("target.headers", "The secret %s is not for %s; an owner can add the host on the team’s page", name, to.Host))
		}
	}
	return bad, nil
}

// targetChange is targetFor when a task gets another address or other headers.
// What stays doesn't stand in the way of other changes, whatever was closed
// meanwhile.
func (s *Tasks) targetChange(ctx context.Context, old Task, w TargetSpec) error {
	if w.URL == old.Spec.Target.URL && maps.Equal(w.Headers, old.Spec.Target.Headers) && sameMessage(w, old.Spec.Target) {
		return nil
	}
	return s.targetFor(ctx, old.TeamID, w)
}
