package access

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"ax/app/fault"
)

// Bounds of secrets.
const (
	MaxSecrets     = 100  // of a team
	MaxSecretValue = 8192 // bytes of a value
	maxSecretHosts = 10
)

// Secret is a value that tasks of the team send along without anybody reading
// it again: the ledger holds it sealed, and pages and the API never have it.
type Secret struct {
	ID        string // 32 hex digits
	TeamID    int64
	Name      string
	Hosts     []string // only calls to these get it; sorted
	CreatedBy string
	CreatedAt time.Time
	ChangedBy string
	ChangedAt time.Time
	Tasks     int // how many of the team's tasks name it
}

// Object of the secret in an audit row.
func (s Secret) Object() Object { return Object{Kind: "secret", ID: s.ID, Name: s.Name} }

// place is the one place where the value can be opened.
func (s Secret) place() string { return "secrets.sealed." + s.ID }

// secretStore keeps secrets. Each method is one transaction.
type secretStore interface {
	// Secrets of a team by name, with the number of tasks that name each.
	Secrets(ctx context.Context, team int64) ([]Secret, error)
	// Secret is NotFound when the team has none of the name.
	Secret(ctx context.Context, team int64, name string) (s Secret, sealed string, err error)
	// InsertSecret is a Conflict with the field when the team has the name
	// already, or has most of them.
	InsertSecret(ctx context.Context, s Secret, sealed string, most int, e Entry) error
	// ChangeSecret gives it other hosts, and another value unless sealed is
	// empty. NotFound when the team has none with the id.
	ChangeSecret(ctx context.Context, s Secret, sealed string, e Entry) error
	// DeleteSecret is a Conflict while a task that isn't archived names it.
	DeleteSecret(ctx context.Context, s Secret, e Entry) error
}

// Secrets are the use cases of teams' secrets.
type Secrets struct {
	store  secretStore
	sealer Sealer
	now    func() time.Time
}

// NewSecrets keeps secrets in the store, sealed.
func NewSecrets(store secretStore, sealer Sealer, now func() time.Time) *Secrets {
	return &Secrets{store: store, sealer: sealer, now: now}
}

// NewSecret is a secret as typed.
type NewSecret struct {
	Name  string // A-Z, 0-9 and _, beginning with a letter; never changes
	Value string // empty, at a change: the one from before
	Hosts string // apart by commas, spaces or lines; empty, at a change: those from before
}

var secretName = regexp.MustCompile(`^[A-Z][A-Z0-9_]{0,63}$`)

// List gives the team's secrets by name, without values. Faults: NotFound.
func (s *Secrets) List(ctx context.Context, a Actor, team int64) ([]Secret, error) {
	if err := a.Check(Read, team); err != nil {
		return nil, err
	}
	return s.store.Secrets(ctx, team)
}

// Add stores a secret that nobody can read again. Owners of the team only.
// Faults: NotFound, Denied, Invalid (name, value, hosts), Conflict at name.
func (s *Secrets) Add(ctx context.Context, a Actor, team Team, in NewSecret) (Secret, error) {
	if err := a.Check(ManageSecrets, team.ID); err != nil {
		return Secret{}, err
	}
	var bad []fault.FieldError
	if in.Name = strings.TrimSpace(in.Name); !secretName.MatchString(in.Name) {
		bad = append(bad, fault.Field("name", "Capital letters, digits and underscores, beginning with a letter, such as PAY_TOKEN"))
	}
	hosts, badHosts := readHosts(in.Hosts)
	if err := fault.Invalid(slices.Concat(bad, checkValue(in.Value), badHosts)...); err != nil {
		return Secret{}, err
	}
	now := s.now()
	made := Secret{
		ID: newID(), TeamID: team.ID, Name: in.Name, Hosts: hosts,
		CreatedBy: a.Name, CreatedAt: now, ChangedBy: a.Name, ChangedAt: now,
	}
	sealed, err := s.sealer.Seal(in.Value, made.place())
	if err != nil {
		return Secret{}, fmt.Errorf("seal secret %s: %w", made.Name, err)
	}
	err = s.store.InsertSecret(ctx, made, sealed, MaxSecrets, Entry{
		At: now, Actor: a, Action: "secret.create", Object: made.Object(), TeamID: team.ID,
		Changes: []Change{{Field: "value", New: masked}, {Field: "hosts", New: strings.Join(hosts, ", ")}},
	})
	if err != nil {
		return Secret{}, fmt.Errorf("create secret %s: %w", made.Name, err)
	}
	return made, nil
}

// masked stands for a value in the audit.
const masked = "***"

// Change gives a secret another value or other hosts; what is empty stays. A
// host that it had not needs the value again: so nobody who doesn't know it
// can have it sent where they can read it. Owners of the team only.
// Faults: NotFound, Denied, Invalid (value, hosts).
func (s *Secrets) Change(ctx context.Context, a Actor, team Team, name string, in NewSecret) (Secret, error) {
	if err := a.Check(ManageSecrets, team.ID); err != nil {
		return Secret{}, err
	}
	was, _, err := s.find(ctx, team.ID, name)
	if err != nil {
		return Secret{}, err
	}
	is := was
	is.ChangedBy, is.ChangedAt = a.Name, s.now()
	var bad, badValue []fault.FieldError
	if strings.TrimSpace(in.Hosts) != "" {
		is.Hosts, bad = readHosts(in.Hosts)
	}
	further := slices.ContainsFunc(is.Hosts, func(h string) bool { return !slices.Contains(was.Hosts, h) })
	switch {
	case in.Value != "":
		badValue = checkValue(in.Value)
	case further:
		badValue = one(fault.Field("value", "Another host gets it: type the value again"))
	}
	if err := fault.Invalid(slices.Concat(badValue, bad)...); err != nil {
		return Secret{}, err
	}
	e := Entry{At: is.ChangedAt, Actor: a, Action: "secret.update", Object: is.Object(), TeamID: team.ID}
	if old, fresh := strings.Join(was.Hosts, ", "), strings.Join(is.Hosts, ", "); old != fresh {
		e.Changes = append(e.Changes, Change{Field: "hosts", Old: old, New: fresh})
	}
	sealed := ""
	if in.Value != "" {
		e.Changes = append(e.Changes, Change{Field: "value", Old: masked, New: masked})
		if sealed, err = s.sealer.Seal(in.Value, is.place()); err != nil {
			return Secret{}, fmt.Errorf("seal secret %s: %w", is.Name, err)
		}
	}
	if err := s.store.ChangeSecret(ctx, is, sealed, e); err != nil {
		return Secret{}, fmt.Errorf("change secret %s: %w", is.Name, err)
	}
	return is, nil
}

// Remove takes a secret away that no task names any more. Owners only.
// Faults: NotFound, Denied, Conflict (which task names it).
func (s *Secrets) Remove(ctx context.Context, a Actor, team Team, name string) error {
	if err := a.Check(ManageSecrets, team.ID); err != nil {
		return err
	}
	was, _, err := s.find(ctx, team.ID, name)
	if err != nil {
		return err
	}
	return s.store.DeleteSecret(ctx, was, Entry{
		At: s.now(), Actor: a, Action: "secret.delete", Object: was.Object(), TeamID: team.ID,
		Changes: []Change{{Field: "hosts", Old: strings.Join(was.Hosts, ", ")}},
	})
}

// Reveal opens a secret for a call of one of the team's tasks. Faults:
// NotFound, and Denied when it is not for that host.
func (s *Secrets) Reveal(ctx context.Context, team int64, name string, to Destination) (string, error) {
	found, sealed, err := s.store.Secret(ctx, team, name)
	if fault.KindOf(err) == fault.KindNotFound {
		return "", fault.NotFound("the team has no secret %s", name)
	}
	if err != nil {
		return "", fmt.Errorf("read secret %s: %w", name, err)
	}
	if !found.For(to) {
		return "", fault.Denied("the secret %s is not for %s", name, to.Host)
	}
	plain, err := s.sealer.Open(sealed, found.place())
	if err != nil {
		return "", fmt.Errorf("open secret %s: %w", name, err)
	}
	return plain, nil
}

func (s *Secrets) find(ctx context.Context, team int64, name string) (Secret, string, error) {
	found, sealed, err := s.store.Secret(ctx, team, name)
	if fault.KindOf(err) == fault.KindNotFound {
		err = NoObject()
	}
	return found, sealed, err
}

// checkValue looks whether a value fits into a header, which is a line.
func checkValue(v string) []fault.FieldError {
	switch {
	case v == "":
		return one(fault.Field("value", "A value is needed"))
	case len(v) > MaxSecretValue:
		return one(fault.Field("value", "At most %d bytes; this has %d", MaxSecretValue, len(v)))
	case !utf8.ValidString(v) || strings.ContainsFunc(v, isControl):
		return one(fault.Field("value", "One line, without control characters: encode what has several, for instance by base64"))
	case strings.TrimSpace(v) != v:
		return one(fault.Field("value", "It begins or ends with a space, which no header can carry"))
	case len(v) < 8:
		return one(fault.Field("value", "At least 8 characters: a shorter one can’t be kept out of what targets answer"))
	}
	return nil
}

// newID is 128 random bits in hex.
func newID() string {
	b := make([]byte, 16)
	rand.Read(b) // never fails: it would crash the process
	return hex.EncodeToString(b)
}

// Plain opens all secrets of a team, so that what a command prints can be
// masked. They go nowhere else.
func (s *Secrets) Plain(ctx context.Context, team int64) ([]string, error) {
	all, err := s.store.Secrets(ctx, team)
	if err != nil {
		return nil, fmt.Errorf("list the secrets of team %d: %w", team, err)
	}
	var out []string
	for _, one := range all {
		found, sealed, err := s.store.Secret(ctx, team, one.Name)
		if fault.KindOf(err) == fault.KindNotFound && err != nil {
			continue // removed meanwhile
		}
		if err != nil {
			return nil, fmt.Errorf("read secret %s: %w", one.Name, err)
		}
		plain, err := s.sealer.Open(sealed, found.place())
		if err != nil {
			return nil, fmt.Errorf("open secret %s: %w", one.Name, err)
		}
		out = append(out, plain)
	}
	return out, nil
}
