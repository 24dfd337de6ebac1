package access

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/fault"
)

// keptBroker is a broker as the memory keeps it.
type keptBroker struct {
	Broker
	sealed string
}

// brokerBook keeps brokers for tests, and takes what is probed.
type brokerBook struct {
	rows   []keptBroker
	audit  []Entry
	probed []BrokerAccount
	wrong  error
}

func (m *brokerBook) Probe(_ context.Context, _ Broker, a BrokerAccount) error {
	m.probed = append(m.probed, a)
	return m.wrong
}

func (m *brokerBook) Brokers(_ context.Context, team int64) (out []Broker, err error) {
	for _, k := range m.rows {
		if k.TeamID == team {
			out = append(out, k.Broker)
		}
	}
	return out, nil
}

func (m *brokerBook) Broker(_ context.Context, team int64, name string) (Broker, string, error) {
	for _, k := range m.rows {
		if k.TeamID == team && k.Name == name {
			return k.Broker, k.sealed, nil
		}
	}
	return Broker{}, "", fault.NotFound("no broker")
}

func (m *brokerBook) InsertBroker(_ context.Context, b Broker, sealed string, _ int, e Entry) error {
	m.rows, m.audit = append(m.rows, keptBroker{b, sealed}), append(m.audit, e)
	return nil
}

func (m *brokerBook) ChangeBroker(_ context.Context, b Broker, sealed string, e Entry) error {
	at := slices.IndexFunc(m.rows, func(k keptBroker) bool { return k.ID == b.ID })
	m.rows[at].Broker = b
	if sealed != "" {
		m.rows[at].sealed = sealed
	}
	m.audit = append(m.audit, e)
	return nil
}

func (m *brokerBook) DeleteBroker(_ context.Context, b Broker, e Entry) error {
	m.rows = slices.DeleteFunc(m.rows, func(k keptBroker) bool { return k.ID == b.ID })
	m.audit = append(m.audit, e)
	return nil
}

func newBrokerBook(t *testing.T) (*Brokers, *brokerBook) {
	t.Helper()
	vault, err := NewVault([]byte("a secret of the tests"))
	require.NoError(t, err)
	book := &brokerBook{}
	return NewBrokers(book, vault, book, func() time.Time { return time.UnixMilli(1_796_000_000_000) }), book
}

func rabbitOf(address string) NewBroker {
	return NewBroker{Name: "rabbit", Kind: BrokerAMQP, Address: address, User: "shop", Password: "canary-pass", Places: "orders order.*\n"}
}

var shopTeam = Team{ID: 7, Code: "shop"}

func TestABrokerIsKeptWithoutItsAccountInSight(t *testing.T) {
	s, book := newBrokerBook(t)
	owner := Actor{Kind: User, Name: "ann", Roles: map[int64]Role{7: Owner}}
	made, err := s.Add(t.Context(), owner, shopTeam, rabbitOf("amqp://Rabbit.example.com/shop"))
	require.NoError(t, err)
	require.Equal(t, "amqp://rabbit.example.com:5672/shop", made.Address)
	require.Equal(t, []string{"orders order.*"}, made.Places)
	require.NotContains(t, book.rows[0].sealed, "canary")
	opened, account, err := s.Open(t.Context(), 7, "rabbit")
	require.NoError(t, err)
	require.Equal(t, made, opened)
	require.Equal(t, BrokerAccount{User: "shop", Password: "canary-pass"}, account)
	_, _, err = s.Open(t.Context(), 8, "rabbit")
	require.Equal(t, fault.KindNotFound, fault.KindOf(err))

	require.NoError(t, s.Test(t.Context(), owner, shopTeam, "rabbit"))
	book.wrong = errors.New("404 no exchange")
	require.ErrorContains(t, s.Test(t.Context(), owner, shopTeam, "rabbit"), "rabbit: 404 no exchange")
	require.Equal(t, account, book.probed[0])

	_, err = s.Change(t.Context(), owner, shopTeam, "rabbit", NewBroker{Places: "orders #"})
	require.NoError(t, err)
	_, account, err = s.Open(t.Context(), 7, "rabbit")
	require.NoError(t, err)
	require.Equal(t, "canary-pass", account.Password, "what is left empty stays")
	require.NoError(t, s.Remove(t.Context(), owner, shopTeam, "rabbit"))
	require.Empty(t, book.rows)
	for _, e := range book.audit {
		for _, c := range e.Changes {
			require.NotContains(t, c.Old+c.New, "canary")
		}
	}
	require.Equal(t, []string{"broker.create", "broker.update", "broker.delete"}, []string{book.audit[0].Action, book.audit[1].Action, book.audit[2].Action})
}

func TestOnlyOwnersKeepBrokers(t *testing.T) {
	s, _ := newBrokerBook(t)
	owner := Actor{Kind: User, Name: "ann", Roles: map[int64]Role{7: Owner}}
	_, err := s.Add(t.Context(), owner, shopTeam, rabbitOf("amqp://rabbit.example.com"))
	require.NoError(t, err)
	for _, role := range []Role{Viewer, Operator, Editor} {
		a := Actor{Kind: User, Name: "bob", Roles: map[int64]Role{7: role}}
		_, add := s.Add(t.Context(), a, shopTeam, rabbitOf("amqp://rabbit.example.com"))
		_, change := s.Change(t.Context(), a, shopTeam, "rabbit", NewBroker{})
		for _, err := range []error{add, change, s.Remove(t.Context(), a, shopTeam, "rabbit"), s.Test(t.Context(), a, shopTeam, "rabbit")} {
			require.Equal(t, fault.KindDenied, fault.KindOf(err), role)
		}
		list, err := s.List(t.Context(), a, 7)
		require.NoError(t, err)
		require.Len(t, list, 1, "names may be read: tasks name them")
	}
	_, err = s.List(t.Context(), Actor{Kind: User, Name: "eve"}, 7)
	require.Equal(t, fault.KindNotFound, fault.KindOf(err))
}

// Whoever may change a broker without knowing the password must not have it
// sent to a listener of theirs, or in the clear.
func TestAnAccountGoesNoOtherWayWithoutBeingTypedAgain(t *testing.T) {
	s, _ := newBrokerBook(t)
	owner := Actor{Kind: User, Name: "ann", Roles: map[int64]Role{7: Owner}}
	_, err := s.Add(t.Context(), owner, shopTeam, rabbitOf("amqps://rabbit.example.com"))
	require.NoError(t, err)
	for name, in := range map[string]NewBroker{
		"another host": {Address: "amqps://evil.example.com"},
		"another port": {Address: "amqps://rabbit.example.com:5673"},
		"without TLS":  {TLS: "false"},
	} {
		_, err := s.Change(t.Context(), owner, shopTeam, "rabbit", in)
		require.Len(t, fault.Fields(err), 1, name)
		require.Equal(t, "password", fault.Fields(err)[0].Name, name)
		in.User, in.Password = "shop", "another-pass"
		_, err = s.Change(t.Context(), owner, shopTeam, "rabbit", in)
		require.NoError(t, err, name)
		_, err = s.Change(t.Context(), owner, shopTeam, "rabbit", NewBroker{Address: "amqps://rabbit.example.com", TLS: "true", User: "shop", Password: "canary-pass"})
		require.NoError(t, err, name)
	}
}

func TestBadBrokersAreRefused(t *testing.T) {
	s, _ := newBrokerBook(t)
	owner := Actor{Kind: User, Name: "ann", Roles: map[int64]Role{7: Owner}}
	for name, c := range map[string]struct {
		change func(*NewBroker)
		field  string
	}{
		"no name":              {func(b *NewBroker) { b.Name = "" }, "name"},
		"a capital":            {func(b *NewBroker) { b.Name = "Rabbit" }, "name"},
		"another kind":         {func(b *NewBroker) { b.Kind = "kafka" }, "kind"},
		"no address":           {func(b *NewBroker) { b.Address = "" }, "address"},
		"another scheme":       {func(b *NewBroker) { b.Address = "redis://rabbit.example.com" }, "address"},
		"an account in it":     {func(b *NewBroker) { b.Address = "amqp://shop:pass@rabbit.example.com" }, "address"},
		"options in it":        {func(b *NewBroker) { b.Address = "amqp://rabbit.example.com/?heartbeat=1" }, "address"},
		"no host":              {func(b *NewBroker) { b.Address = "amqp:///shop" }, "address"},
		"port 0":               {func(b *NewBroker) { b.Address = "amqp://rabbit.example.com:0" }, "address"},
		"a blank vhost":        {func(b *NewBroker) { b.Address = "amqp://rabbit.example.com/a%20b" }, "address"},
		"no user":              {func(b *NewBroker) { b.User = "" }, "user"},
		"no password":          {func(b *NewBroker) { b.Password = "" }, "password"},
		"a short password":     {func(b *NewBroker) { b.Password = "abc" }, "password"},
		"a password of lines":  {func(b *NewBroker) { b.Password = "abcdef\n" }, "password"},
		"half a TLS":           {func(b *NewBroker) { b.TLS = "on" }, "tls"},
		"no places":            {func(b *NewBroker) { b.Places = " \n" }, "places"},
		"no key":               {func(b *NewBroker) { b.Places = "orders" }, "places"},
		"three words":          {func(b *NewBroker) { b.Places = "orders a b" }, "places"},
		"every queue":          {func(b *NewBroker) { b.Places = "(default) #" }, "places"},
		"half a word":          {func(b *NewBroker) { b.Places = "orders order.clo*" }, "places"},
		"a hundred and one":    {func(b *NewBroker) { b.Places = manyPlaces(101) }, "places"},
		"a database too many":  {func(b *NewBroker) { b.Kind, b.Address, b.Places = BrokerRedis, "redis://r.example.com/1000", "orders" }, "address"},
		"entries without end":  {func(b *NewBroker) { b.Kind, b.Address, b.Places = BrokerRedis, "redis://r.example.com", "orders many" }, "places"},
		"a stream with blanks": {func(b *NewBroker) { b.Kind, b.Address, b.Places = BrokerRedis, "redis://r.example.com", "a b c" }, "places"},
	} {
		in := rabbitOf("amqp://rabbit.example.com")
		c.change(&in)
		_, err := s.Add(t.Context(), owner, shopTeam, in)
		require.NotEmpty(t, fault.Fields(err), name)
		require.Equal(t, c.field, fault.Fields(err)[0].Name, name)
	}
}

func manyPlaces(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("orders k" + strings.Repeat("x", i) + "\n")
	}
	return b.String()
}

func TestAnAddressIsWrittenInOneWay(t *testing.T) {
	for typed, want := range map[string]struct {
		kind        BrokerKind
		address     string
		secure      bool
		addr, vhost string
		db          int
	}{
		"amqp://Rabbit.example.com":           {BrokerAMQP, "amqp://rabbit.example.com:5672", false, "rabbit.example.com:5672", "/", 0},
		"amqp://rabbit.example.com/":          {BrokerAMQP, "amqp://rabbit.example.com:5672", false, "rabbit.example.com:5672", "/", 0},
		"amqp://rabbit.example.com/%2f":       {BrokerAMQP, "amqp://rabbit.example.com:5672", false, "rabbit.example.com:5672", "/", 0},
		"amqps://rabbit.example.com/shop":     {BrokerAMQP, "amqp://rabbit.example.com:5671/shop", true, "rabbit.example.com:5671", "shop", 0},
		"amqp://[fd12::7]:5673/a%2Fb":         {BrokerAMQP, "amqp://[fd12::7]:5673/a%2Fb", false, "[fd12::7]:5673", "a/b", 0},
		"amqp://rabbit.example.com/%E5%BA%97": {BrokerAMQP, "amqp://rabbit.example.com:5672/%E5%BA%97", false, "rabbit.example.com:5672", "店", 0},
		"redis://10.1.2.3":                    {BrokerRedis, "redis://10.1.2.3:6379", false, "10.1.2.3:6379", "", 0},
		"rediss://10.1.2.3:6380/4":            {BrokerRedis, "redis://10.1.2.3:6380/4", true, "10.1.2.3:6380", "", 4},
	} {
		address, secure, bad := readAddress(want.kind, typed)
		require.Empty(t, bad, typed)
		require.Equal(t, want.address, address, typed)
		require.Equal(t, want.secure, secure, typed)
		addr, vhost, db := Broker{Kind: want.kind, Address: address}.Endpoint()
		require.Equal(t, []any{want.addr, want.vhost, want.db}, []any{addr, vhost, db}, typed)
	}
}

func TestTheListIsReadAsTopicsAre(t *testing.T) {
	b := Broker{Kind: BrokerAMQP, Places: []string{"(default) jobs", "fan #", "orders order.*", "orders shop.#.close"}}
	for _, c := range []struct {
		exchange, key string
		ok            bool
	}{
		{"orders", "order.close", true}, {"orders", "order", false}, {"orders", "order.close.now", false}, {"orders", "", false},
		{"orders", "shop.close", true}, {"orders", "shop.a.b.close", true}, {"orders", "shop.a.b", false},
		{"fan", "", true}, {"fan", "any.thing", true}, {"(default)", "jobs", true}, {"(default)", "other", false}, {"", "jobs", false},
		{"amq.direct", "order.close", false}, {"order", "order.close", false}, {"orders order.*", "", false},
	} {
		require.Equal(t, c.ok, b.Allows(c.exchange, c.key), c)
	}
	r := Broker{Kind: BrokerRedis, Places: []string{"orders", "short 1000"}}
	most, ok := r.AllowsStream("short")
	require.Equal(t, []any{int64(1000), true}, []any{most, ok})
	most, ok = r.AllowsStream("orders")
	require.Equal(t, []any{int64(0), true}, []any{most, ok})
	_, ok = r.AllowsStream("short 1000")
	require.False(t, ok)
	require.False(t, r.Allows("orders", ""))
}
