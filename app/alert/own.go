package alert

import (
	"context"
	"slices"

	"ax/app/access"
	"ax/app/fault"
)

// Everything is OwnNews.Alerts of who wants to hear of both levels.
const Everything Level = "all"

// OwnNews is what a person has sent to themselves of a team, by e-mail.
type OwnNews struct {
	Team   string // code; "": the installation
	Alerts Level  // P1 alone, Everything, or "" for none
	Daily  bool   // summary
	Weekly bool   // review of dead letters
}

// Own gives the actor's own subscriptions by e-mail, of the teams that they may
// see. Faults: Denied, of tokens.
func (s *Subscriptions) Own(ctx context.Context, by access.Actor) ([]Subscribed, error) {
	if err := aPerson(by); err != nil {
		return nil, err
	}
	all, err := s.List(ctx, by, access.Scope{})
	return slices.DeleteFunc(all, func(x Subscribed) bool { return !self(by, x.Login) }), err
}

func aPerson(by access.Actor) error {
	if by.Kind != access.User || by.ID == 0 {
		return fault.Denied("Only a person is told by e-mail of their own")
	}
	return nil
}

// Plain tells whether the subscription is one that OwnNews can say: of every
// rule at once, or of digests.
func (s Subscription) Plain() bool { return s.RuleID == 0 && s.After == 0 }

// NewsOf is what the subscriptions of one team come to.
func NewsOf(team string, all []Subscribed) OwnNews {
	n := OwnNews{Team: team}
	for _, s := range all {
		switch {
		case !s.Plain():
		case len(s.Events) > 0:
			n.Daily = n.Daily || slices.Contains(s.Events, DigestDaily)
			n.Weekly = n.Weekly || slices.Contains(s.Events, DigestWeekly)
		case s.Level == P1 && n.Alerts == "":
			n.Alerts = P1
		case s.Level == "":
			n.Alerts = Everything
		}
	}
	return n
}

// SetOwn brings the actor's own subscriptions of the named teams in line with
// what they want; the days of digests begin in the zone. What tells of one rule,
// or later than at once, stays. Nothing changes when something is wrong with
// the words. Faults: those of Create and Delete.
func (s *Subscriptions) SetOwn(ctx context.Context, by access.Actor, wants []OwnNews, zone string) error {
	own, err := s.Own(ctx, by)
	if err != nil {
		return err
	}
	if err := checkNews(wants, zone); err != nil {
		return err
	}
	var p ownPlan
	for _, w := range wants {
		team, err := teamOf(ctx, s.store, by, access.Read, w.Team)
		if err != nil {
			return err
		}
		p.add(w, zone, by.Name, slices.DeleteFunc(slices.Clone(own), func(x Subscribed) bool { return x.TeamID != team || !x.Plain() }))
	}
	return s.carryOut(ctx, by, p)
}

// checkNews looks at what all of it has in common, before any of it changes.
func checkNews(wants []OwnNews, zone string) error {
	var bad problems
	for _, w := range wants {
		if w.Alerts != "" && w.Alerts != P1 && w.Alerts != Everything {
			bad.add("alerts", "p1 tells of such alone, all tells of both; this is %q", string(w.Alerts))
		}
		if (w.Daily || w.Weekly) && zone == "" {
			bad.add("zone", "In which time zone does the day begin? Such as Asia/Shanghai")
		} else if w.Daily || w.Weekly {
			bad.loads("zone", zone)
		}
		if len(bad) > 0 {
			break // it is wrong with each of them
		}
	}
	return fault.Invalid(bad...)
}

// ownPlan is what has to change. A digest whose zone changes is stored anew
// when the old one is gone: the ledger takes none that tells the same.
type ownPlan struct {
	first, last []SubscriptionSpec
	drop        []int64
}

func (p *ownPlan) add(w OwnNews, zone, login string, was []Subscribed) {
	want := map[EventType]bool{DigestDaily: w.Daily, DigestWeekly: w.Weekly}
	level, told := w.Alerts, w.Alerts == ""
	if level == Everything {
		level = ""
	}
	moved := map[EventType]bool{}
	for _, x := range was {
		switch {
		case len(x.Events) == 0 && !told && x.Level == level:
			told = true
			continue
		case len(x.Events) > 0 && x.Zone == zone && !slices.ContainsFunc(x.Events, func(e EventType) bool { return !want[e] }):
			for _, e := range x.Events {
				want[e] = false
			}
			continue
		case len(x.Events) == 1:
			moved[x.Events[0]] = true
		}
		p.drop = append(p.drop, x.ID)
	}
	if !told {
		p.first = append(p.first, SubscriptionSpec{Team: w.Team, Person: login, Level: level})
	}
	for _, e := range Digests() {
		spec := SubscriptionSpec{Team: w.Team, Person: login, Events: []EventType{e}, Zone: zone}
		switch {
		case want[e] && moved[e]:
			p.last = append(p.last, spec)
		case want[e]:
			p.first = append(p.first, spec)
		}
	}
}

// carryOut makes before it drops: a channel that is told of nothing goes, and
// what waits in it would go with it.
func (s *Subscriptions) carryOut(ctx context.Context, by access.Actor, p ownPlan) error {
	for _, w := range p.first {
		if _, err := s.Create(ctx, by, w); err != nil {
			return err
		}
	}
	for _, id := range p.drop {
		if err := s.Delete(ctx, by, id, ""); err != nil && fault.KindOf(err) != fault.KindNotFound { // ended meanwhile
			return err
		}
	}
	for _, w := range p.last {
		if _, err := s.Create(ctx, by, w); err != nil {
			return err
		}
	}
	return nil
}
