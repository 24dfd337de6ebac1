package access

import "time"

// CallLife is how long an answer is kept for the same Idempotency-Key.
const CallLife = 24 * time.Hour

// CallPatience is how long a call may be open before another one with the
// same key may take its place: the process that had it has died.
const CallPatience = 2 * time.Minute

// Call is one request that carries an Idempotency-Key.
type Call struct {
	Scope string // who asks and where: "token 12 POST /api/v1/tasks"
	Key   string // the header, 1–255 printable ASCII
	Hash  string // of the body, SHA-256 in hex
}

// Answer is what was said to a call.
type Answer struct {
	Status int
	Body   string
}
