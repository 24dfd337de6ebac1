package access

import (
	"fmt"
	"strings"
	"time"

	"ax/app/fault"
)

// CallLife is how long an answer is kept for the same Idempotency-Key.
const CallLife = 24 * time.Hour

// CallPatience is how long a call may be open before another one with the
// same key may take its place: the process that had it has died.
const CallPatience = 2 * time.Minute

// maxCallKey bounds an Idempotency-Key, in bytes.
const maxCallKey = 255

// Call is one request that carries an Idempotency-Key. Keys of one actor are
// no keys of another.
type Call struct {
	Scope string // the actor: "token 12"
	Key   string
	Hash  string // of method, path and body, SHA-256 in hex
	Name  string // what the work is to be named, if nobody began it before
}

// Answer is what was said to a call.
type Answer struct {
	Status int
	Body   string
	Name   string // of the work, when it is still to be done: whoever takes it over from a process that died uses the same
}

// NewCall reads a request with an Idempotency-Key.
// Faults: Malformed, when the key is not 1 to 255 printable ASCII characters.
func NewCall(a Actor, key, method, path string, body []byte) (Call, error) {
	odd := func(r rune) bool { return r < 0x20 || r > 0x7e }
	if key == "" || len(key) > maxCallKey || strings.ContainsFunc(key, odd) {
		return Call{}, fault.Malformed("An Idempotency-Key has 1 to %d printable ASCII characters", maxCallKey)
	}
	return Call{
		Scope: fmt.Sprintf("%s %d", a.Kind, a.ID), Key: key,
		Hash: digest(method + "\n" + path + "\n" + string(body)),
	}, nil
}
