package alert

import (
	"cmp"
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// maxCause bounds a cause in characters.
const maxCause = 200

// HostOf is the host of a target's address with its port, in small letters;
// empty when it can't be read.
func HostOf(target string) string {
	u, err := url.Parse(target)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Host)
}

// CauseOf names what failures have in common, for one incident of them all:
// whatever keeps a host from answering is one cause, its answers of 500 and
// more are another. Other errors are one when they differ in nothing but
// numbers, ids, times and quoted names. outcome is that of the attempt (or the
// state of the instance), status the HTTP status, 0 when none came. Without a
// host there is nothing in common: the cause is empty.
func CauseOf(host, outcome string, status int, errText string) string {
	if host == "" {
		return ""
	}
	text := plainError(errText)
	status = cmp.Or(status, answeredStatus(text))
	switch {
	case status >= 500:
		return "5xx " + host
	case outcome == "lost": // the node's fault, not the host's
		return clipRunes("lost "+host+" "+alike(text), maxCause)
	case status != 0:
		return clipRunes(fmt.Sprintf("%d %s %s", status, host, alike(text)), maxCause)
	case outcome == "timed_out" || unreachable(text):
		return "unreachable " + host
	}
	return strings.TrimSpace(clipRunes(host+" "+alike(text), maxCause))
}

// plainError is the text in one line of small letters.
func plainError(s string) string {
	return strings.ToLower(strings.Join(strings.Fields(s), " "))
}

// answeredStatus reads the status from what ax writes of an answer.
func answeredStatus(text string) int {
	for _, begin := range []string{"answered ", "answer "} {
		if rest, ok := strings.CutPrefix(text, begin); ok && len(rest) >= 3 {
			if n, err := strconv.Atoi(rest[:3]); err == nil && n >= 100 {
				return n
			}
		}
	}
	return 0
}

// unreachable tells whether an error says that nothing could be heard of the
// target: what Go's network, DNS and TLS say, and jobs of silence.
func unreachable(text string) bool {
	for _, part := range []string{
		"connection refused", "no route to host", "network is unreachable", "host is down", "connection reset", "broken pipe",
		"can't be resolved", "no such host", "server misbehaving", "i/o timeout", "timed out", "timeout", "no answer in time", "no connection in time",
		"closed the connection", "use of closed network connection", "connection aborted", "eof", "tls:", "x509:", "certificate",
		"no receipt came in time", "cannot assign requested address",
	} {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}

// alike is what errors of one cause share: quoted parts, words with a digit
// (numbers, ids, times, addresses) and names of days and months are left out.
func alike(text string) string {
	var out []string
	var quote byte // that a quoted part is to end with
	for _, word := range strings.Fields(text) {
		if quote != 0 {
			if strings.IndexByte(word, quote) >= 0 {
				quote = 0
			}
			continue
		}
		if bare := strings.TrimLeft(word, "([{=:"); bare != "" && strings.IndexByte("\"'`", bare[0]) >= 0 {
			if strings.IndexByte(bare[1:], bare[0]) < 0 {
				quote = bare[0]
			}
			word = "#"
		} else if varies(word) {
			word = "#"
		}
		if word != "#" || len(out) == 0 || out[len(out)-1] != "#" {
			out = append(out, word)
		}
	}
	return strings.Join(out, " ")
}

// varies tells whether a word may be another in the same error of another run.
func varies(word string) bool {
	if strings.ContainsAny(word, "0123456789\"`") {
		return true
	}
	word = strings.Trim(word, ",.;:()[]")
	return len(word) == 3 && strings.Contains("mon tue wed thu fri sat sun jan feb mar apr may jun jul aug sep oct nov dec gmt utc", word)
}

// clipRunes cuts after n characters.
func clipRunes(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n])
	}
	return s
}
