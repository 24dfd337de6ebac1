package access

import (
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Bounds of brokers.
const (
	MaxBrokers      = 20 // of a team
	maxBrokerPlaces = 100
)

// BrokerKind is what a message broker speaks.
type BrokerKind string

// The kinds.
const (
	BrokerAMQP  BrokerKind = "amqp"  // RabbitMQ
	BrokerRedis BrokerKind = "redis" // Redis Streams
)

// BrokerKinds are all.
func BrokerKinds() []BrokerKind { return []BrokerKind{BrokerAMQP, BrokerRedis} }

// DefaultExchange stands for the exchange of AMQP that has no name; its routing
// keys are names of queues.
const DefaultExchange = "(default)"

// Broker is a message broker that tasks of the team may publish to. Its account
// is held sealed, and pages and the API never have it.
type Broker struct {
	ID      string // 32 hex digits
	TeamID  int64
	Name    string
	Kind    BrokerKind
	Address string // amqp://host:port/vhost or redis://host:port/db, without an account
	TLS     bool
	// Places are what tasks may publish to: "exchange key" with the signs * and
	// # of topics in the key, or "stream" with about how many entries it keeps.
	Places    []string
	CreatedBy string
	CreatedAt time.Time
	ChangedBy string
	ChangedAt time.Time
	Tasks     int // how many of the team's tasks name it
}

// BrokerAccount is how ax signs in; both may be empty with Redis.
type BrokerAccount struct {
	User     string `json:"user"`
	Password string `json:"password"`
}

// Object of the broker in an audit row.
func (b Broker) Object() Object { return Object{Kind: "broker", ID: b.ID, Name: b.Name} }

// place is the one place where the account can be opened.
func (b Broker) place() string { return "brokers.sealed." + b.ID }

// Endpoint is where to connect: host and port, and the virtual host of AMQP or
// the number of the database of Redis.
func (b Broker) Endpoint() (addr, vhost string, db int) {
	u, err := url.Parse(b.Address)
	if err != nil {
		return "", "", 0 // never: it was written by readBroker
	}
	rest := strings.TrimPrefix(u.Path, "/")
	if b.Kind == BrokerRedis {
		db, _ = strconv.Atoi(rest)
		return u.Host, "", db
	}
	if rest == "" {
		rest = "/"
	}
	return u.Host, rest, 0
}

// Destination of its connections.
func (b Broker) Destination() Destination {
	addr, _, _ := b.Endpoint()
	host, port, _ := net.SplitHostPort(addr)
	return Destination{Host: host, Port: port}
}

// Allows tells whether tasks may publish to an exchange with a key; the
// exchange without a name is DefaultExchange.
func (b Broker) Allows(exchange, key string) bool {
	return b.Kind == BrokerAMQP && slices.ContainsFunc(b.Places, func(p string) bool {
		name, pattern, _ := strings.Cut(p, " ")
		return name == exchange && keyMatches(strings.Split(pattern, "."), strings.Split(key, "."))
	})
}

// AllowsStream tells whether tasks may add to a stream, and about how many
// entries it keeps; 0: all.
func (b Broker) AllowsStream(stream string) (most int64, ok bool) {
	if b.Kind != BrokerRedis {
		return 0, false
	}
	for _, p := range b.Places {
		if name, kept, _ := strings.Cut(p, " "); name == stream {
			most, _ = strconv.ParseInt(kept, 10, 64)
			return most, true
		}
	}
	return 0, false
}

// keyMatches compares as topic exchanges do: * is one word, # any number.
func keyMatches(pattern, key []string) bool {
	switch {
	case len(pattern) == 0:
		return len(key) == 0
	case pattern[0] == "#":
		return keyMatches(pattern[1:], key) || len(key) > 0 && keyMatches(pattern, key[1:])
	case len(key) == 0:
		return false
	}
	return (pattern[0] == "*" || pattern[0] == key[0]) && keyMatches(pattern[1:], key[1:])
}
