package app

import (
	"math"
	"strconv"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"ax/app/access"
	"ax/app/fault"
)

// How often a person may act on pages, and ask for what costs: enough for
// quick hands, not for a loop.
const (
	actsPerSecond = 10
	actsBurst     = 300
)

// costly are the pages to look at that cost as much as an act.
var costly = map[string]bool{"/audit.csv": true, "/tasks/preview": true, "/alerts/rules/new": true, "/alerts/rules/:id": true, "/search": true, "/calendars/:code/export.csv": true, "/calendars/:code/export.ics": true}

// How often a token may call. A caller that is over it is told when to come
// again (429); nothing was done.
const (
	callsPerSecond = 100
	callsBurst     = 200
	// Triggers come in crowds: an hour's orders at once.
	triggersPerSecond = 500
	triggersBurst     = 1000
	// Test calls, by person and token: each holds a connection to somebody's
	// target for as long as 25 s.
	testsPerSecond = 10.0 / 60
	testsBurst     = 10
	// Wrong receipts, by address: more is guessing.
	strangersPerSecond = 10
	strangersBurst     = 100
	// bucketsKept is how many buckets there are before idle ones are dropped.
	bucketsKept = 10_000
)

// limits are token buckets by key.
type limits struct {
	rate  rate.Limit
	burst int

	mu      sync.Mutex
	buckets map[string]*rate.Limiter
}

func newLimits(perSecond float64, burst int) *limits {
	return &limits{rate: rate.Limit(perSecond), burst: burst, buckets: map[string]*rate.Limiter{}}
}

func bucketKey(a access.Actor) string { return string(a.Kind) + " " + strconv.FormatInt(a.ID, 10) }

// take takes one from the key's bucket; TooMany when it is empty.
func (l *limits) take(key string, now time.Time) error {
	b := l.bucket(key, now)
	if b.AllowN(now, 1) {
		return nil
	}
	return l.tooMany(b, now)
}

// look is take without taking.
func (l *limits) look(key string, now time.Time) error {
	if b := l.bucket(key, now); b.TokensAt(now) < 1 {
		return l.tooMany(b, now)
	}
	return nil
}

func (l *limits) tooMany(b *rate.Limiter, now time.Time) error {
	wait := (1 - b.TokensAt(now)) / float64(l.rate)
	return fault.TooMany("Too many requests: try again in %d s", max(1, int(math.Ceil(wait))))
}

func (l *limits) bucket(key string, now time.Time) *rate.Limiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	if b, ok := l.buckets[key]; ok {
		return b
	}
	if len(l.buckets) >= bucketsKept {
		l.dropIdle(now)
	}
	b := rate.NewLimiter(l.rate, l.burst)
	l.buckets[key] = b
	return b
}

// dropIdle drops the buckets that are full again; if none is, all: memory is
// bounded first.
func (l *limits) dropIdle(now time.Time) {
	for k, b := range l.buckets {
		if b.TokensAt(now) >= float64(l.burst) {
			delete(l.buckets, k)
		}
	}
	if len(l.buckets) >= bucketsKept {
		clear(l.buckets)
	}
}
