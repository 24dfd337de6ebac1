package access

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"ax/app/fault"
)

// brokerStore keeps brokers. Each method is one transaction.
type brokerStore interface {
	// Brokers of a team by name, with the number of tasks that name each.
	Brokers(ctx context.Context, team int64) ([]Broker, error)
	// Broker is NotFound when the team has none of the name.
	Broker(ctx context.Context, team int64, name string) (b Broker, sealed string, err error)
	// InsertBroker is a Conflict with the field when the team has the name
	// already, or has most of them.
	InsertBroker(ctx context.Context, b Broker, sealed string, most int, e Entry) error
	// ChangeBroker stores it, with another account unless sealed is empty.
	// NotFound when the team has none with the id.
	ChangeBroker(ctx context.Context, b Broker, sealed string, e Entry) error
	// DeleteBroker is a Conflict while a task that isn't archived names it.
	DeleteBroker(ctx context.Context, b Broker, e Entry) error
}

// brokerProbe connects to a broker and looks whether what tasks may publish to
// is there. The error is what people read.
type brokerProbe interface {
	Probe(ctx context.Context, b Broker, a BrokerAccount) error
}

// Brokers are the use cases of teams' message brokers.
type Brokers struct {
	store  brokerStore
	sealer Sealer
	probe  brokerProbe
	now    func() time.Time
}

// NewBrokers keeps brokers in the store, their accounts sealed.
func NewBrokers(store brokerStore, sealer Sealer, probe brokerProbe, now func() time.Time) *Brokers {
	return &Brokers{store: store, sealer: sealer, probe: probe, now: now}
}

// NewBroker is a broker as typed. At a change what is empty stays as it was.
type NewBroker struct {
	Name           string // small letters, digits, dots and dashes; never changes
	Kind           BrokerKind
	Address        string
	TLS            string // "true", "false"; empty, when made: as the scheme says
	User, Password string
	Places         string // one on each line
}

// List gives the team's brokers by name, without accounts. Faults: NotFound.
func (s *Brokers) List(ctx context.Context, a Actor, team int64) ([]Broker, error) {
	if err := a.Check(Read, team); err != nil {
		return nil, err
	}
	return s.store.Brokers(ctx, team)
}

// Find gives a broker of the team by its name, without its account. Faults:
// NotFound, Denied.
func (s *Brokers) Find(ctx context.Context, a Actor, team int64, name string) (Broker, error) {
	if err := a.Check(Read, team); err != nil {
		return Broker{}, err
	}
	b, _, err := s.find(ctx, team, name)
	return b, err
}

// Add stores a broker. Owners of the team only. Faults: NotFound, Denied,
// Invalid (name, kind, address, tls, user, password, places), Conflict at name.
func (s *Brokers) Add(ctx context.Context, a Actor, team Team, in NewBroker) (Broker, error) {
	if err := a.Check(ManageSecrets, team.ID); err != nil {
		return Broker{}, err
	}
	now := s.now()
	made := Broker{ID: newID(), TeamID: team.ID, Name: strings.TrimSpace(in.Name), Kind: in.Kind, CreatedBy: a.Name, CreatedAt: now, ChangedBy: a.Name, ChangedAt: now}
	var bad []fault.FieldError
	if !brokerName.MatchString(made.Name) {
		bad = append(bad, fault.Field("name", "Small letters, digits, dots and dashes, beginning with a letter or digit, such as shop-rabbit"))
	}
	if !slices.Contains(BrokerKinds(), in.Kind) {
		return Broker{}, fault.Invalid(append(bad, fault.Field("kind", "This must be amqp or redis; it is %q", string(in.Kind)))...)
	}
	address, secure, badAddress := readAddress(in.Kind, in.Address)
	places, badPlaces := readPlaces(in.Kind, in.Places)
	made.Address, made.Places = address, places
	made.TLS = secure || in.TLS == "true"
	if err := fault.Invalid(slices.Concat(bad, badAddress, checkTLS(in.TLS), checkAccount(in), badPlaces)...); err != nil {
		return Broker{}, err
	}
	sealed, err := s.seal(made, in)
	if err != nil {
		return Broker{}, err
	}
	err = s.store.InsertBroker(ctx, made, sealed, MaxBrokers, Entry{
		At: now, Actor: a, Action: "broker.create", Object: made.Object(), TeamID: team.ID, Changes: brokerChanges(Broker{}, made, true),
	})
	if err != nil {
		return Broker{}, fmt.Errorf("create broker %s: %w", made.Name, err)
	}
	return made, nil
}

func (s *Brokers) seal(b Broker, in NewBroker) (string, error) {
	raw, err := json.Marshal(BrokerAccount{User: in.User, Password: in.Password})
	if err != nil {
		return "", fmt.Errorf("write the account of broker %s: %w", b.Name, err)
	}
	sealed, err := s.sealer.Seal(string(raw), b.place())
	if err != nil {
		return "", fmt.Errorf("seal the account of broker %s: %w", b.Name, err)
	}
	return sealed, nil
}

// Change gives a broker other fields; what is empty stays. Another address, or
// giving up TLS, needs the password again: so nobody who doesn't know it can
// have it sent where they can read it. Owners of the team only. Faults:
// NotFound, Denied, Invalid (address, tls, user, password, places).
func (s *Brokers) Change(ctx context.Context, a Actor, team Team, name string, in NewBroker) (Broker, error) {
	if err := a.Check(ManageSecrets, team.ID); err != nil {
		return Broker{}, err
	}
	was, _, err := s.find(ctx, team.ID, name)
	if err != nil {
		return Broker{}, err
	}
	is := was
	is.ChangedBy, is.ChangedAt = a.Name, s.now()
	bad := checkTLS(in.TLS)
	if strings.TrimSpace(in.Address) != "" {
		var secure bool
		var wrong []fault.FieldError
		is.Address, secure, wrong = readAddress(was.Kind, in.Address)
		bad, is.TLS = append(bad, wrong...), was.TLS || secure
	}
	if in.TLS != "" {
		is.TLS = in.TLS == "true"
	}
	if strings.TrimSpace(in.Places) != "" {
		var wrong []fault.FieldError
		is.Places, wrong = readPlaces(was.Kind, in.Places)
		bad = append(bad, wrong...)
	}
	account := in.User != "" || in.Password != ""
	switch {
	case account:
		bad = append(bad, checkAccount(in)...)
	case is.Address != was.Address || was.TLS && !is.TLS:
		bad = append(bad, fault.Field("password", "The account goes another way now: type user and password again"))
	}
	if err := fault.Invalid(bad...); err != nil {
		return Broker{}, err
	}
	sealed := ""
	if account {
		if sealed, err = s.seal(is, in); err != nil {
			return Broker{}, err
		}
	}
	err = s.store.ChangeBroker(ctx, is, sealed, Entry{
		At: is.ChangedAt, Actor: a, Action: "broker.update", Object: is.Object(), TeamID: team.ID, Changes: brokerChanges(was, is, account),
	})
	if err != nil {
		return Broker{}, fmt.Errorf("change broker %s: %w", is.Name, err)
	}
	return is, nil
}

// Remove takes a broker away that no task names any more. Owners only.
// Faults: NotFound, Denied, Conflict (which task names it).
func (s *Brokers) Remove(ctx context.Context, a Actor, team Team, name string) error {
	if err := a.Check(ManageSecrets, team.ID); err != nil {
		return err
	}
	was, _, err := s.find(ctx, team.ID, name)
	if err != nil {
		return err
	}
	return s.store.DeleteBroker(ctx, was, Entry{
		At: s.now(), Actor: a, Action: "broker.delete", Object: was.Object(), TeamID: team.ID,
		Changes: []Change{{Field: "address", Old: was.Address}, {Field: "places", Old: strings.Join(was.Places, ", ")}},
	})
}

// Test connects and looks whether what tasks may publish to is there, changing
// nothing. Owners only. Faults: NotFound, Denied, Invalid (what was wrong).
func (s *Brokers) Test(ctx context.Context, a Actor, team Team, name string) error {
	if err := a.Check(ManageSecrets, team.ID); err != nil {
		return err
	}
	b, sealed, err := s.find(ctx, team.ID, name)
	if err != nil {
		return err
	}
	account, err := s.account(b, sealed)
	if err != nil {
		return err
	}
	if err := s.probe.Probe(ctx, b, account); err != nil {
		return fault.Invalid(fault.Field("", "%s: %s", b.Name, err.Error()))
	}
	return nil
}

// Open gives a broker with its account, to publish for a task of the team.
// Faults: NotFound.
func (s *Brokers) Open(ctx context.Context, team int64, name string) (Broker, BrokerAccount, error) {
	b, sealed, err := s.store.Broker(ctx, team, name)
	if fault.KindOf(err) == fault.KindNotFound && err != nil {
		return Broker{}, BrokerAccount{}, fault.NotFound("the team has no broker %s", name)
	}
	if err != nil {
		return Broker{}, BrokerAccount{}, fmt.Errorf("read broker %s: %w", name, err)
	}
	account, err := s.account(b, sealed)
	return b, account, err
}

func (s *Brokers) account(b Broker, sealed string) (BrokerAccount, error) {
	plain, err := s.sealer.Open(sealed, b.place())
	if err != nil {
		return BrokerAccount{}, fmt.Errorf("open the account of broker %s: %w", b.Name, err)
	}
	var account BrokerAccount
	if err := json.Unmarshal([]byte(plain), &account); err != nil {
		return BrokerAccount{}, fmt.Errorf("read the account of broker %s", b.Name) // the error would quote it
	}
	return account, nil
}

func (s *Brokers) find(ctx context.Context, team int64, name string) (Broker, string, error) {
	found, sealed, err := s.store.Broker(ctx, team, name)
	if fault.KindOf(err) == fault.KindNotFound {
		err = NoObject()
	}
	return found, sealed, err
}

// brokerChanges are what an audit row says of a change, without the account.
func brokerChanges(was, is Broker, account bool) []Change {
	var out []Change
	add := func(field, old, fresh string) {
		if old != fresh {
			out = append(out, Change{Field: field, Old: old, New: fresh})
		}
	}
	add("kind", string(was.Kind), string(is.Kind))
	add("address", was.Address, is.Address)
	secure := func(b Broker) string {
		if b.ID == "" {
			return ""
		}
		return strconv.FormatBool(b.TLS)
	}
	add("tls", secure(was), secure(is))
	add("places", strings.Join(was.Places, ", "), strings.Join(is.Places, ", "))
	if account {
		out = append(out, Change{Field: "account", New: masked})
	}
	return out
}

func checkTLS(typed string) []fault.FieldError {
	if slices.Contains([]string{"", "true", "false"}, typed) {
		return nil
	}
	return one(fault.Field("tls", "This must be true or false; it is %q", typed))
}

// checkAccount looks at user and password. Redis may do without.
func checkAccount(in NewBroker) []fault.FieldError {
	var bad []fault.FieldError
	for field, v := range map[string]string{"user": in.User, "password": in.Password} {
		if len(v) > 255 || !utf8.ValidString(v) || strings.ContainsFunc(v, isControl) {
			bad = append(bad, fault.Field(field, "One line of at most 255 bytes, without control characters"))
		}
	}
	switch {
	case in.Kind == BrokerAMQP && in.User == "":
		bad = append(bad, fault.Field("user", "A user name is needed"))
	case in.User != "" && in.Password == "":
		bad = append(bad, fault.Field("password", "A password is needed"))
	case in.Password != "" && len(in.Password) < 4:
		bad = append(bad, fault.Field("password", "At least 4 characters: a shorter one can’t be kept out of what the broker says"))
	}
	return bad
}
