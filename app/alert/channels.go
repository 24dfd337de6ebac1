package alert

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"ax/app/access"
	"ax/app/fault"
)

// channelStore keeps channels. Each method is one transaction.
type channelStore interface {
	Team(ctx context.Context, code string) (access.Team, error)
	// ChannelsOf lists those of the scope and of the installation, by team and
	// name.
	ChannelsOf(ctx context.Context, s access.Scope) ([]Channel, error)
	// Channel is NotFound when there is none with the id. To of a person's own
	// is their address, empty when they have none or may not see the team.
	Channel(ctx context.Context, id string) (c Channel, sealed string, err error)
	// InsertChannel is a Conflict with the field when the team has the name
	// already, or has most of them.
	InsertChannel(ctx context.Context, c Channel, sealed string, most int, e access.Entry) error
	// ChangeChannel locks a channel, asks change what is to become of it, and
	// stores that with the entry.
	ChangeChannel(ctx context.Context, id string, change func(c Channel, sealed string) (ChannelChange, error)) error
	// DeleteChannel also takes its subscriptions away; the entry is asked for
	// with how many.
	DeleteChannel(ctx context.Context, id string, entry func(was Channel, subscriptions int) (access.Entry, error)) error
}

// ChannelChange is what becomes of a channel.
type ChannelChange struct {
	Channel Channel
	Sealed  string
	Entry   access.Entry
}

// Channels are the use cases of channels. Those of a team are seen by its
// members and changed by its owners; of those of the installation everybody in
// a team sees name and kind, and administrators change them.
type Channels struct {
	store  channelStore
	sealer access.Sealer
	now    func() time.Time
}

// NewChannels keeps channels in the store, with addresses and keys sealed.
func NewChannels(s channelStore, sealer access.Sealer, now func() time.Time) *Channels {
	return &Channels{store: s, sealer: sealer, now: now}
}

// List gives the channels of the asked teams that the actor may see, and those
// of the installation, by team and name. The zero Scope asks for all teams.
func (s *Channels) List(ctx context.Context, by access.Actor, asked access.Scope) ([]Channel, error) {
	scope, ok := shared(by, asked)
	if !ok {
		return nil, nil
	}
	list, err := s.store.ChannelsOf(ctx, scope)
	for i, c := range list {
		list[i] = c.shownTo(by)
	}
	return list, err
}

// shownTo leaves of a channel of the installation only what everybody may know.
func (c Channel) shownTo(by access.Actor) Channel {
	if c.TeamID != 0 || by.Sees(0) {
		return c
	}
	return Channel{ID: c.ID, Kind: c.Kind, Name: c.Name}
}

// Find gives a channel that the actor may see; NotFound otherwise.
func (s *Channels) Find(ctx context.Context, by access.Actor, id string) (Channel, error) {
	c, err := s.may(ctx, by, access.Read, id)
	return c.shownTo(by), err
}

func (s *Channels) may(ctx context.Context, by access.Actor, v access.Verb, id string) (Channel, error) {
	if !isID(id) {
		return Channel{}, access.NoObject()
	}
	c, _, err := s.store.Channel(ctx, id)
	if err != nil {
		return Channel{}, notFound(err)
	}
	if err := by.CheckShared(v, c.TeamID); err != nil {
		return Channel{}, err
	}
	return c, nil
}

// Create makes a channel. made is the key that ax made for a webhook without
// one: nobody can read it again. Owners of the team; administrators for the
// installation. Faults: NotFound, Denied, Invalid with all broken fields,
// Conflict at name (taken, or MaxChannels are there).
func (s *Channels) Create(ctx context.Context, by access.Actor, w ChannelSpec) (c Channel, made string, err error) {
	team, err := teamOf(ctx, s.store, by, access.ManageChannels, w.Team)
	if err != nil && fault.KindOf(err) != fault.KindInvalid {
		return Channel{}, "", err
	}
	bad := fault.Fields(err)
	c, secret, made, err := w.resolve(Channel{}, ChannelSecret{}, newKey)
	if err := fault.Invalid(append(bad, fault.Fields(err)...)...); err != nil {
		return Channel{}, "", err
	}
	now := s.now()
	c.ID, c.TeamID, c.Version = newChannelID(), team, 1
	c.CreatedBy, c.CreatedAt, c.ChangedBy, c.ChangedAt = by.Name, now, by.Name, now
	sealed, err := s.seal(c, secret)
	if err != nil {
		return Channel{}, "", err
	}
	err = s.store.InsertChannel(ctx, c, sealed, MaxChannels, access.Entry{
		At: now, Actor: by, Action: "channel.create", Object: c.Object(), TeamID: team, Reason: w.Reason,
		Changes: diffChannels(Channel{OffAt: now}, c, secret.URL != "", secret.Key != ""),
	})
	if err != nil {
		return Channel{}, "", fmt.Errorf("create the channel %q: %w", c.Name, err)
	}
	return c, made, nil
}

// Update changes a channel. An empty address or key keeps the old one, but
// another host needs the key again. made is a key that ax made. A stale version
// is a Conflict that names who changed it. Faults: NotFound, Denied, Invalid,
// Conflict.
func (s *Channels) Update(ctx context.Context, by access.Actor, id string, w ChannelSpec) (c Channel, made string, err error) {
	fresh := newKey() // one for every try of the transaction
	c, err = s.change(ctx, by, id, "channel.update", w.Reason, func(old Channel, sealed string) (Channel, string, []access.Change, error) {
		was, err := s.open(old, sealed)
		if err != nil {
			return Channel{}, "", nil, err
		}
		is, secret, shown, err := w.resolve(old, was, func() string { return fresh })
		bad, plain := problems(fault.Fields(err)), err
		if bad.version(w.Version); len(bad) > 0 {
			return Channel{}, "", nil, fault.Invalid(bad...)
		}
		if plain != nil {
			return Channel{}, "", nil, plain
		}
		if w.Version != old.Version {
			return Channel{}, "", nil, fault.Conflict("%s changed the channel meanwhile: it is at version %d, you began from %d", old.ChangedBy, old.Version, w.Version)
		}
		made = shown
		if !secret.is(was) {
			sealed, err = s.seal(is, secret)
		}
		return is, sealed, diffChannels(old, is, secret.URL != was.URL, secret.Key != was.Key), err
	})
	if err != nil {
		return Channel{}, "", err
	}
	return c, made, nil
}

// TurnOn lets messages be sent again; nothing changes when they are.
// Faults: NotFound, Denied.
func (s *Channels) TurnOn(ctx context.Context, by access.Actor, id, reason string) (Channel, error) {
	return s.turn(ctx, by, id, "channel.on", reason, func(c *Channel) { c.OffAt, c.OffWhy = time.Time{}, "" })
}

// TurnOff holds messages to the channel back until it is turned on. why is shown
// to people: their own words, or what the receiver answered.
// Faults: NotFound, Denied, Invalid (reason).
func (s *Channels) TurnOff(ctx context.Context, by access.Actor, id, why string) (Channel, error) {
	now := s.now()
	return s.turn(ctx, by, id, "channel.off", why, func(c *Channel) { c.OffAt, c.OffWhy = now, why })
}

func (s *Channels) turn(ctx context.Context, by access.Actor, id, action, reason string, set func(*Channel)) (Channel, error) {
	c, err := s.may(ctx, by, access.ManageChannels, id)
	if err != nil || c.On() == (action == "channel.on") {
		return c, err
	}
	if err := checkReason(reason); err != nil {
		return Channel{}, err
	}
	return s.change(ctx, by, id, action, reason, func(old Channel, sealed string) (Channel, string, []access.Change, error) {
		is := old
		set(&is)
		return is, sealed, diffChannels(old, is, false, false), nil
	})
}

// change is the one shape of all changes; the right is asked for under the lock.
func (s *Channels) change(ctx context.Context, by access.Actor, id, action, reason string,
	set func(old Channel, sealed string) (Channel, string, []access.Change, error),
) (Channel, error) {
	if !isID(id) {
		return Channel{}, access.NoObject()
	}
	var out Channel
	now := s.now()
	err := s.store.ChangeChannel(ctx, id, func(old Channel, sealed string) (ChannelChange, error) {
		if err := by.CheckShared(access.ManageChannels, old.TeamID); err != nil {
			return ChannelChange{}, err
		}
		is, sealed, diff, err := set(old, sealed)
		is.Version, is.ChangedBy, is.ChangedAt = old.Version+1, by.Name, now
		out = is
		return ChannelChange{is, sealed, access.Entry{
			At: now, Actor: by, Action: action, Object: is.Object(), TeamID: is.TeamID, Reason: reason, Changes: diff,
		}}, err
	})
	if err != nil {
		return Channel{}, fmt.Errorf("change channel %s: %w", id, notFound(err))
	}
	return out, nil
}

// Delete takes a channel away, with its subscriptions: whoever asks has been
// told of them. Faults: NotFound, Denied, Invalid (reason), Conflict (the hook
// of a task names it).
func (s *Channels) Delete(ctx context.Context, by access.Actor, id, reason string) error {
	if _, err := s.may(ctx, by, access.ManageChannels, id); err != nil {
		return err
	}
	if err := checkReason(reason); err != nil {
		return err
	}
	err := s.store.DeleteChannel(ctx, id, func(was Channel, subscriptions int) (access.Entry, error) {
		e := access.Entry{
			At: s.now(), Actor: by, Action: "channel.delete", Object: was.Object(), TeamID: was.TeamID, Reason: reason,
			Changes: []access.Change{{Field: "hint", Old: was.Hint}, {Field: "subscriptions", Old: fmt.Sprint(subscriptions), New: "0"}},
		}
		return e, by.CheckShared(access.ManageChannels, was.TeamID)
	})
	if err != nil {
		return fmt.Errorf("delete channel %s: %w", id, notFound(err))
	}
	return nil
}

// Open gives a channel with its secret, for the courier alone. To of a person's
// own channel is their present address; it is empty when they have none, are
// disabled, or may not see the team any more. Faults: NotFound.
func (s *Channels) Open(ctx context.Context, id string) (Channel, ChannelSecret, error) {
	c, sealed, err := s.store.Channel(ctx, id)
	if err != nil {
		return Channel{}, ChannelSecret{}, fmt.Errorf("read channel %s: %w", id, err)
	}
	secret, err := s.open(c, sealed)
	return c, secret, err
}

// seal gives the sealed form of a secret; of an empty one it is empty.
func (s *Channels) seal(c Channel, secret ChannelSecret) (string, error) {
	if secret.is(ChannelSecret{}) {
		return "", nil
	}
	plain, err := json.Marshal(secret)
	if err != nil {
		return "", fmt.Errorf("write the address of channel %s: %w", c.Name, err)
	}
	sealed, err := s.sealer.Seal(string(plain), c.Place())
	if err != nil {
		return "", fmt.Errorf("seal the address of channel %s: %w", c.Name, err)
	}
	return sealed, nil
}

func (s *Channels) open(c Channel, sealed string) (ChannelSecret, error) {
	var secret ChannelSecret
	if sealed == "" {
		return secret, nil
	}
	plain, err := s.sealer.Open(sealed, c.Place())
	if err == nil {
		err = json.Unmarshal([]byte(plain), &secret)
	}
	if err != nil {
		return ChannelSecret{}, fmt.Errorf("open the address of channel %s: %w", c.Name, err)
	}
	return secret, nil
}

// newChannelID is 128 random bits in hex.
func newChannelID() string { return randomHex(16) }

// newKey is the key of a webhook: 256 random bits in hex.
func newKey() string { return randomHex(32) }

func randomHex(n int) string {
	b := make([]byte, n)
	rand.Read(b) // never fails: it would crash the process
	return hex.EncodeToString(b)
}

// isID tells what can be the id of a channel; the ledger is not asked for others.
func isID(id string) bool {
	b, err := hex.DecodeString(id)
	return err == nil && len(b) == 16
}
