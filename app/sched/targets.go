package sched

import (
	"context"
	"net/netip"
	"net/url"

	"ax/app/access"
	"ax/app/fault"
)

// targetFor refuses a target whose address says already that calls of the team
// will be refused. A name is judged when it is called, by where it leads then.
func (s *Tasks) targetFor(ctx context.Context, team int64, w TargetSpec) error {
	u, err := url.Parse(w.URL)
	if w.Kind != TargetHTTP || team == 0 || err != nil {
		return nil // said by others
	}
	addr, err := netip.ParseAddr(u.Hostname())
	if err != nil {
		return nil // a name, or nothing
	}
	if access.Metadata(addr) {
		return fault.Invalid(fault.Field("target.url", "%s is a metadata service of clouds, which nothing may call", addr.String()))
	}
	ok, err := s.targets.MayCall(ctx, team, addr)
	if err == nil && !ok {
		err = fault.Invalid(fault.Field("target.url", "This team may not call %s, which is inside the network. An administrator can open it on the team's page.", addr.String()))
	}
	return err
}

// targetChange is targetFor when a task gets another address. One that stays
// doesn't stand in the way of other changes, whatever was closed meanwhile.
func (s *Tasks) targetChange(ctx context.Context, old Task, w TargetSpec) error {
	if w.URL == old.Spec.Target.URL {
		return nil
	}
	return s.targetFor(ctx, old.TeamID, w)
}
