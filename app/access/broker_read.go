package access

import (
	"net"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"ax/app/fault"
)

var (
	brokerName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,63}$`)
	// exchangeName is what a task may name; a stream takes more signs.
	exchangeName = regexp.MustCompile(`^[A-Za-z0-9_.:-]{1,127}$`)
	keyPattern   = regexp.MustCompile(`^[A-Za-z0-9_:#*-]*(\.[A-Za-z0-9_:#*-]+)*$`)
)

// maxKey is the longest routing key of AMQP, in bytes, and the longest name of
// a stream.
const maxKey = 255

// readAddress reads a broker's address as it is typed and writes it in one way.
// Secure tells that its scheme asks for TLS.
func readAddress(kind BrokerKind, typed string) (address string, secure bool, bad []fault.FieldError) {
	u, err := url.Parse(strings.TrimSpace(typed))
	plain, port := "amqp", "5672"
	if kind == BrokerRedis {
		plain, port = "redis", "6379"
	}
	switch {
	case err != nil || typed == "" || len(typed) > 300:
		return "", false, one(fault.Field("address", "An address is needed, such as %s", plain+"://broker.example.com:"+port))
	case u.Scheme != plain && u.Scheme != plain+"s":
		return "", false, one(fault.Field("address", "The address must begin with %s", plain+"://"))
	case u.User != nil:
		return "", false, one(fault.Field("address", "User name and password have fields of their own"))
	case u.RawQuery != "" || u.Fragment != "":
		return "", false, one(fault.Field("address", "Nothing follows the path; leave out what begins with ? or #"))
	case !hostForm.MatchString(strings.ToLower(u.Hostname())):
		return "", false, one(fault.Field("address", "The address names no host"))
	}
	secure = u.Scheme != plain
	if secure && kind == BrokerAMQP {
		port = "5671"
	}
	if u.Port() != "" {
		port = u.Port()
	}
	if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
		return "", false, one(fault.Field("address", "A port is between 1 and 65535"))
	}
	path, bad := brokerPath(kind, strings.TrimPrefix(u.Path, "/"))
	address = plain + "://" + net.JoinHostPort(strings.ToLower(u.Hostname()), port)
	if path != "" {
		address += "/" + url.PathEscape(path)
	}
	return address, secure, bad
}

// brokerPath is the virtual host, or the number of the database.
func brokerPath(kind BrokerKind, path string) (string, []fault.FieldError) {
	switch {
	case path == "" || path == "/" && kind == BrokerAMQP:
		return "", nil
	case kind == BrokerAMQP && (len(path) > 127 || !utf8.ValidString(path) || strings.ContainsFunc(path, func(r rune) bool { return unicode.IsControl(r) || unicode.IsSpace(r) })):
		return "", one(fault.Field("address", "The path is a virtual host of at most 127 characters, without blanks"))
	case kind == BrokerAMQP:
		return path, nil
	}
	if n, err := strconv.Atoi(path); err != nil || n < 0 || n > 999 {
		return "", one(fault.Field("address", "The path is the number of a database, from 0 to 999"))
	}
	return path, nil
}

// readPlaces reads what tasks may publish to, one on each line.
func readPlaces(kind BrokerKind, typed string) ([]string, []fault.FieldError) {
	var out []string
	for line := range strings.Lines(typed) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		place, bad := readPlace(kind, words)
		if bad != nil {
			return nil, bad
		}
		if !slices.Contains(out, place) {
			out = append(out, place)
		}
	}
	slices.Sort(out)
	switch n := len(out); {
	case n == 0 && kind == BrokerRedis:
		return nil, one(fault.Field("places", "Which streams may tasks add to? One on each line"))
	case n == 0:
		return nil, one(fault.Field("places", "Which exchanges and routing keys may tasks publish to? One pair on each line, such as orders order.*"))
	case n > maxBrokerPlaces:
		return nil, one(fault.Field("places", "At most %d lines; these are %d", maxBrokerPlaces, n))
	}
	return out, nil
}

func readPlace(kind BrokerKind, words []string) (string, []fault.FieldError) {
	line := strings.Join(words, " ")
	if kind == BrokerRedis {
		return readStream(words, line)
	}
	switch {
	case len(words) != 2:
		return "", one(fault.Field("places", "An exchange and a routing key on each line, such as orders order.*; this is %q", line))
	case words[0] != DefaultExchange && !exchangeName.MatchString(words[0]):
		return "", one(fault.Field("places", "%q is not the name of an exchange", words[0]))
	case words[0] == DefaultExchange && strings.ContainsAny(words[1], "*#"):
		return "", one(fault.Field("places", "The default exchange reaches every queue of the virtual host: name each queue, without * and #"))
	case len(words[1]) > maxKey || !keyPattern.MatchString(words[1]) || !wholeWords(words[1]):
		return "", one(fault.Field("places", "%q is not a routing key; * stands for one word, # for any number of words", words[1]))
	}
	return line, nil
}

// wholeWords tells whether * and # stand alone between dots, as topics have
// them.
func wholeWords(pattern string) bool {
	return !slices.ContainsFunc(strings.Split(pattern, "."), func(w string) bool { return len(w) > 1 && strings.ContainsAny(w, "*#") })
}

func readStream(words []string, line string) (string, []fault.FieldError) {
	if len(words) > 2 || len(words[0]) > maxKey || !StreamName(words[0]) {
		return "", one(fault.Field("places", "A stream on each line, and how many entries it keeps if not all, such as orders 100000; this is %q", line))
	}
	if len(words) == 2 {
		if n, err := strconv.ParseInt(words[1], 10, 64); err != nil || n < 1 || n > 1_000_000_000 {
			return "", one(fault.Field("places", "%q is not a number of entries", words[1]))
		}
	}
	return line, nil
}

// ExchangeName tells whether a task may name an exchange so.
func ExchangeName(s string) bool { return s == DefaultExchange || exchangeName.MatchString(s) }

// StreamName tells whether a task may name a stream so.
func StreamName(s string) bool {
	return s != "" && len(s) <= maxKey && utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) || unicode.IsSpace(r) })
}

// RoutingKey tells whether a message may have the key: no patterns.
func RoutingKey(s string) bool {
	return len(s) <= maxKey && keyPattern.MatchString(s) && !strings.ContainsAny(s, "*#")
}
