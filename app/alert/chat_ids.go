package alert

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"ax/app/access"
	"ax/app/fault"
)

// chatIDStore keeps how robots call people. Each method is one transaction.
type chatIDStore interface {
	ChatIDs(ctx context.Context, user int64) (map[ChannelKind]string, error)
	// SetChatIDs puts ids in the place of all that were there.
	SetChatIDs(ctx context.Context, user int64, ids map[ChannelKind]string, e access.Entry) error
}

// ChatIDs are the use cases of one's own ids at the robots, by which they can
// mention the person.
type ChatIDs struct {
	store chatIDStore
	now   func() time.Time
}

// NewChatIDs keeps ids in the store.
func NewChatIDs(s chatIDStore, now func() time.Time) *ChatIDs { return &ChatIDs{store: s, now: now} }

// Mentioners lists the kinds of channel whose robots can mention a person.
func Mentioners() []ChannelKind { return []ChannelKind{Feishu, DingTalk, WeCom, Slack, Teams} }

// chatIDForm is what an id of each kind looks like: of DingTalk a mobile number
// or a user id, of Teams the address that a person signs in with or their object
// id.
var chatIDForm = map[ChannelKind]*regexp.Regexp{
	Feishu:   regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`),
	DingTalk: regexp.MustCompile(`^(\+?[0-9]{1,4}-?)?[0-9]{5,15}$|^[A-Za-z0-9_.$:@-]{1,64}$`),
	WeCom:    regexp.MustCompile(`^[A-Za-z0-9_.@-]{1,64}$`),
	Slack:    regexp.MustCompile(`^[UW][A-Z0-9]{5,20}$`),
	Teams:    regexp.MustCompile(`^[^@\s<>"]{1,60}@[A-Za-z0-9.-]{1,39}$|^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`),
}

// chatID checks an id of a kind and says what would be right.
func (p *problems) chatID(k ChannelKind, v string) {
	if chatIDForm[k].MatchString(v) {
		return
	}
	switch k {
	case Feishu:
		p.add(string(k), "An open_id such as ou_7d8a6e6df7621556, or a user_id; this is %q", v)
	case DingTalk:
		p.add(string(k), "A mobile number such as 13800138000, or a user id; this is %q", v)
	case WeCom:
		p.add(string(k), "A user id such as zhangsan; this is %q", v)
	case Slack:
		p.add(string(k), "A member id such as U012AB3CD; this is %q", v)
	default:
		p.add(string(k), "The address that you sign in with, or your object id; this is %q", v)
	}
}

// List gives the actor's own ids by kind. Faults: Denied, of tokens.
func (s *ChatIDs) List(ctx context.Context, by access.Actor) (map[ChannelKind]string, error) {
	if err := person(by); err != nil {
		return nil, err
	}
	return s.store.ChatIDs(ctx, by.ID)
}

// Set puts ids in the place of all that the actor had; an empty one is none.
// Field names of its faults are the kinds. Faults: Denied, of tokens; Invalid.
func (s *ChatIDs) Set(ctx context.Context, by access.Actor, ids map[ChannelKind]string) error {
	if err := person(by); err != nil {
		return err
	}
	var bad problems
	clean := map[ChannelKind]string{}
	for _, k := range Mentioners() {
		v := strings.TrimSpace(ids[k])
		if v == "" {
			continue
		}
		bad.chatID(k, v)
		clean[k] = v
	}
	for k := range ids {
		if !slices.Contains(Mentioners(), k) {
			bad.add(string(k), "No robot of this kind mentions people")
		}
	}
	if err := fault.Invalid(bad...); err != nil {
		return err
	}
	was, err := s.store.ChatIDs(ctx, by.ID)
	if err != nil {
		return fmt.Errorf("read the chat ids of %s: %w", by.Name, err)
	}
	e := access.Entry{At: s.now(), Actor: by, Action: "user.chat_ids", Object: object("user", by.ID, by.Name)}
	for _, k := range Mentioners() { // a mobile number is nobody else's business
		e.Changes = append(e.Changes, maskedDiff(string(k), was[k], clean[k])...)
	}
	if len(e.Changes) == 0 {
		return nil
	}
	if err := s.store.SetChatIDs(ctx, by.ID, clean, e); err != nil {
		return fmt.Errorf("store the chat ids of %s: %w", by.Name, err)
	}
	return nil
}

func maskedDiff(field, was, is string) []access.Change {
	if was == is {
		return nil
	}
	mask := func(s string) string {
		if s == "" {
			return ""
		}
		return access.Masked
	}
	return []access.Change{{Field: field, Old: mask(was), New: mask(is)}}
}

func person(by access.Actor) error {
	if by.Kind != access.User || by.ID == 0 {
		return fault.Denied("Only a person has chat ids of their own")
	}
	return nil
}
