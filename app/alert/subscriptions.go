package alert

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"ax/app/access"
	"ax/app/cron"
	"ax/app/fault"
)

// Subscribed is a subscription with what it names.
type Subscribed struct {
	Subscription
	Channel Channel // of a person's own: UserID and To are theirs
	Rule    string  // name of the rule; empty: of every rule, or of events
	Login   string  // whose own channel it is
	// On tells whether messages go out: the channel is on and, if it is a
	// person's, they have an address and may still see the team.
	On bool
}

// subscriptionStore keeps subscriptions. Each method is one transaction.
type subscriptionStore interface {
	Team(ctx context.Context, code string) (access.Team, error)
	Rule(ctx context.Context, id int64) (Rule, error)
	Channel(ctx context.Context, id string) (c Channel, sealed string, err error)
	// Subscriber gives a person by login with their role in the team; NotFound
	// when there is nobody.
	Subscriber(ctx context.Context, team int64, login string) (access.Person, access.Role, error)
	// SubscriptionsOf lists those of the teams, 0 for the installation.
	SubscriptionsOf(ctx context.Context, s access.Scope) ([]Subscribed, error)
	// InsertSubscription first makes the person's channel unless the team has it
	// already, if own is not nil. It is a Conflict with the field when the channel
	// is told of the same already, or the team has most of them.
	InsertSubscription(ctx context.Context, s Subscription, own *Channel, most int, e access.Entry) (Subscription, error)
	// DeleteSubscription asks for the entry under the lock; a person's channel
	// that is told of nothing any more goes with it.
	DeleteSubscription(ctx context.Context, id int64, entry func(Subscribed) (access.Entry, error)) error
}

// Subscriptions are the use cases of who is told of what. Editors of a team set
// which of its channels is told; everybody may have e-mail sent to themselves,
// and owners may for members. Those of the installation are administrators'.
type Subscriptions struct {
	store subscriptionStore
	now   func() time.Time
}

// NewSubscriptions keeps subscriptions in the store.
func NewSubscriptions(s subscriptionStore, now func() time.Time) *Subscriptions {
	return &Subscriptions{store: s, now: now}
}

// SubscriptionSpec is a subscription as it is written in a form or over the API.
type SubscriptionSpec struct {
	Team      string      `json:"team,omitempty"`       // code; "": the installation's
	ChannelID string      `json:"channel_id,omitempty"` // or
	Person    string      `json:"person,omitempty"`     // login: by e-mail
	RuleID    int64       `json:"rule_id,omitempty"`    // 0: of every rule
	Events    []EventType `json:"events,omitempty"`     // instead of rules
	Level     Level       `json:"level,omitempty"`      // p1: only of such
	After     int         `json:"after_seconds,omitempty"`
	Zone      string      `json:"zone,omitempty"` // of digests
	Reason    string      `json:"reason,omitempty"`
}

const (
	minAfter = time.Minute
	maxAfter = 24 * time.Hour
)

// List gives the subscriptions of the asked teams that the actor may see; those
// of the installation are seen by administrators and auditors.
func (s *Subscriptions) List(ctx context.Context, by access.Actor, asked access.Scope) ([]Subscribed, error) {
	scope := by.Scope().Narrow(asked)
	if !scope.All && len(scope.Teams) == 0 {
		return nil, nil
	}
	if by.Sees(0) && !scope.All && !slices.Contains(scope.Teams, 0) {
		scope.Teams = append(slices.Clone(scope.Teams), 0)
	}
	return s.store.SubscriptionsOf(ctx, scope)
}

// self tells whether the login is the actor's own.
func self(by access.Actor, login string) bool {
	return by.Kind == access.User && strings.EqualFold(strings.TrimSpace(login), by.Name)
}

// verb is the right that a subscription needs.
func (w SubscriptionSpec) verb(by access.Actor) access.Verb {
	switch {
	case w.Person == "" || w.Team == "":
		return access.EditRule
	case self(by, w.Person):
		return access.Read
	}
	return access.ManageChannels
}

// Create has a channel or a person told of something. Faults: NotFound, Denied,
// Invalid with all broken fields, Conflict at channel_id (it is told of that
// already, or MaxSubscriptions are there).
func (s *Subscriptions) Create(ctx context.Context, by access.Actor, w SubscriptionSpec) (Subscription, error) {
	team, err := teamOf(ctx, s.store, by, w.verb(by), w.Team)
	if err != nil {
		return Subscription{}, err
	}
	var bad problems
	now := s.now()
	made := Subscription{
		TeamID: team, RuleID: w.RuleID, Level: w.Level, Events: bad.events(w), Zone: bad.zone(w),
		CreatedBy: by.Name, CreatedAt: now,
	}
	bad.about(w)
	if w.After != 0 && len(w.Events) == 0 {
		made.After = bad.span("after_seconds", w.After, minAfter, maxAfter)
	}
	bad.line("reason", w.Reason, maxReason)
	own, to, err := s.target(ctx, &bad, by, w, team)
	if err == nil {
		err = s.rule(ctx, &bad, w, team)
	}
	if err != nil {
		return Subscription{}, err
	}
	if err := fault.Invalid(bad...); err != nil {
		return Subscription{}, err
	}
	made.ChannelID = to.ID
	e := access.Entry{At: now, Actor: by, Action: "subscription.create", TeamID: team, Reason: w.Reason,
		Object: access.Object{Kind: "subscription", Name: to.Name}, Changes: diffSubscriptions(Subscription{}, made)}
	stored, err := s.store.InsertSubscription(ctx, made, own, MaxSubscriptions, e)
	if err != nil {
		return Subscription{}, fmt.Errorf("subscribe %s: %w", to.Name, err)
	}
	return stored, nil
}

// target finds the channel that is to be told; own is one to make for a person.
func (s *Subscriptions) target(ctx context.Context, bad *problems, by access.Actor, w SubscriptionSpec, team int64) (own *Channel, to Channel, err error) {
	switch {
	case w.Person != "" && w.ChannelID != "":
		bad.add("person", "A channel or a person, not both")
	case w.Person != "":
		own, err = s.person(ctx, bad, by, w.Person, team)
		if own != nil {
			to = *own
		}
	case !isID(w.ChannelID):
		bad.add("channel_id", "Which channel is told? Or which person, by e-mail?")
	default:
		to, _, err = s.store.Channel(ctx, w.ChannelID)
		if err != nil && fault.KindOf(err) != fault.KindNotFound {
			return nil, Channel{}, err
		}
		if err != nil || to.TeamID != team {
			bad.add("channel_id", "The team has no such channel")
			return nil, Channel{}, nil
		}
		if to.UserID != 0 && !self(by, strings.TrimPrefix(to.Name, personMark)) && by.CheckShared(access.ManageChannels, team) != nil {
			bad.add("channel_id", "This channel is a person's own: they subscribe it themselves")
		}
		if slices.ContainsFunc(w.Events, func(e EventType) bool { return slices.Contains(WebhookEvents(), e) }) && to.Kind != Webhook {
			bad.add("events", "Only webhooks are told of single objects; other channels get alerts and digests")
		}
	}
	return own, to, err
}

// person gives the own channel of somebody who may see the team.
func (s *Subscriptions) person(ctx context.Context, bad *problems, by access.Actor, login string, team int64) (*Channel, error) {
	p, role, err := s.store.Subscriber(ctx, team, strings.ToLower(strings.TrimSpace(login)))
	if err != nil && fault.KindOf(err) != fault.KindNotFound {
		return nil, err
	}
	switch {
	case err != nil || team != 0 && role == "" && !self(by, login):
		bad.add("person", "Nobody in the team has the login %q", login)
		return nil, nil //nolint:nilnil // bad says that there is none
	case p.Disabled:
		bad.add("person", "%s is disabled", p.Login)
	case p.Email == "":
		bad.add("person", "%s has no e-mail address", p.Login)
	}
	language := p.Language
	if language == "" {
		language = "en"
	}
	now := s.now()
	return &Channel{
		ID: newChannelID(), TeamID: team, Kind: Email, Name: personMark + p.Login, Language: language, Mention: MentionNobody, UserID: p.ID,
		Version: 1, CreatedBy: by.Name, CreatedAt: now, ChangedBy: by.Name, ChangedAt: now,
	}, nil
}

// rule looks whether the rule is one that the team can be told of: its own or
// one of the installation.
func (s *Subscriptions) rule(ctx context.Context, bad *problems, w SubscriptionSpec, team int64) error {
	if w.RuleID == 0 {
		return nil
	}
	r, err := s.store.Rule(ctx, w.RuleID)
	if err != nil && fault.KindOf(err) != fault.KindNotFound {
		return err
	}
	if err != nil || r.TeamID != 0 && r.TeamID != team {
		bad.add("rule_id", "The team has no such rule")
	}
	return nil
}

func (p *problems) events(w SubscriptionSpec) []EventType {
	var out []EventType
	for _, e := range slices.Concat(WebhookEvents(), Digests()) { // in this order, each once
		if slices.Contains(w.Events, e) {
			out = append(out, e)
		}
	}
	for _, e := range w.Events {
		oneOf(p, "events", e, slices.Concat(WebhookEvents(), Digests())...)
	}
	if w.Person != "" && slices.ContainsFunc(out, func(e EventType) bool { return slices.Contains(WebhookEvents(), e) }) {
		p.add("events", "Only webhooks are told of single objects; other channels get alerts and digests")
	}
	return out
}

// about checks what belongs to rules alone.
func (p *problems) about(w SubscriptionSpec) {
	if len(w.Events) == 0 {
		if w.Level != "" && w.Level != P1 {
			p.add("level", "p1 tells of such alone, nothing tells of both; this is %q", string(w.Level))
		}
		return
	}
	if w.RuleID != 0 {
		p.add("rule_id", "A subscription tells of rules or of events: leave one of them out")
	}
	if w.Level != "" {
		p.add("level", "Events have no level: leave it out")
	}
	if w.After != 0 {
		p.add("after_seconds", "Nobody acknowledges an event: leave it out")
	}
}

func (p *problems) zone(w SubscriptionSpec) string {
	digest := slices.ContainsFunc(w.Events, func(e EventType) bool { return slices.Contains(Digests(), e) })
	switch {
	case !digest && w.Zone != "":
		p.add("zone", "Only digests have a day of their own: leave it out")
	case digest && w.Zone == "":
		p.add("zone", "In which time zone does the day begin? Such as Asia/Shanghai")
	case digest:
		p.loads("zone", w.Zone)
	}
	return w.Zone
}

// loads refuses a zone that there is none of.
func (p *problems) loads(name, zone string) *time.Location {
	loc, err := cron.LoadZone(zone)
	if e, ok := errors.AsType[*cron.Error](err); ok { // it names what comes near
		p.add(name, e.Format, e.Args...)
	} else if err != nil {
		p.add(name, "There is no time zone %q; write it as Asia/Shanghai", zone)
	}
	return loc
}

// Delete ends a subscription: of the editors of its team, and of the person that
// it is sent to. Faults: NotFound, Denied, Invalid (reason).
func (s *Subscriptions) Delete(ctx context.Context, by access.Actor, id int64, reason string) error {
	err := s.store.DeleteSubscription(ctx, id, func(was Subscribed) (access.Entry, error) {
		if !by.Sees(was.TeamID) {
			return access.Entry{}, access.NoObject()
		}
		if !self(by, was.Login) {
			if err := by.Check(access.EditRule, was.TeamID); err != nil {
				return access.Entry{}, err
			}
		}
		return access.Entry{
			At: s.now(), Actor: by, Action: "subscription.delete", TeamID: was.TeamID, Reason: reason,
			Object: object("subscription", was.ID, was.Channel.Name), Changes: diffSubscriptions(was.Subscription, Subscription{}),
		}, checkReason(reason)
	})
	if err != nil {
		return fmt.Errorf("delete subscription %d: %w", id, notFound(err))
	}
	return nil
}

func diffSubscriptions(was, is Subscription) []access.Change {
	events := func(s Subscription) string {
		var words []string
		for _, e := range s.Events {
			words = append(words, string(e))
		}
		return strings.Join(words, ", ")
	}
	var c []access.Change
	c = differ(c, "channel_id", was.ChannelID, is.ChannelID)
	c = differ(c, "rule_id", idText(was.RuleID), idText(is.RuleID))
	c = differ(c, "events", events(was), events(is))
	c = differ(c, "level", string(was.Level), string(is.Level))
	c = differ(c, "after_seconds", seconds(was.After), seconds(is.After))
	return differ(c, "zone", was.Zone, is.Zone)
}
