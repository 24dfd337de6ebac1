package access

import (
	"net"
	"net/netip"
	"sync"
	"time"
)

// The throttle of sign-ins. Every failure counts for the account (known or
// not), for the address, and for the two together. After freeTries failures
// the next try must wait: 1 s, then twice as long each time, up to the cap.
//
// Nobody is locked out. A refused try is not counted and does not lengthen
// the wait. One address waits longer at its cap than an account does, so a
// single attacker can't hold an account. And an address from which the
// account did sign in before is judged by its own failures alone.
const (
	freeTries       = 5
	firstWait       = time.Second
	accountCap      = time.Minute
	addressCap      = 5 * time.Minute
	forgetAfter     = 30 * time.Minute    // without a failure
	forgetKnown     = 30 * 24 * time.Hour // without a sign-in
	maxThrottleKeys = 20_000              // bounds the memory: about 4 MB
)

// tries are the failures of one key.
type tries struct {
	failures int
	last     time.Time // of the last counted try
	before   time.Time // of the one before that
	known    bool      // pair only: it has signed in
}

// throttle holds the failures seen by this process. It is in memory: a
// restart forgets, and each web process counts for itself.
type throttle struct {
	mu   sync.Mutex
	seen map[string]*tries
}

func newThrottle() *throttle { return &throttle{seen: map[string]*tries{}} }

func accountKey(login string) string       { return "a " + login }
func addressKey(address string) string     { return "i " + address }
func pairKey(login, address string) string { return "p " + login + " " + address }

// begin counts a try as failed before the password is looked at, so that
// tries side by side can't all slip through. It gives the time still to wait,
// in which case nothing was counted.
func (t *throttle) begin(login, address string, now time.Time) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	account, addr, pair := accountKey(login), addressKey(address), pairKey(login, address)
	wait := t.waits(pair, addressCap, now)
	if p := t.seen[pair]; p == nil || !p.known {
		wait = max(wait, t.waits(account, accountCap, now), t.waits(addr, addressCap, now))
	}
	if wait > 0 {
		return wait
	}
	for _, key := range []string{account, addr, pair} {
		t.count(key, now)
	}
	return 0
}

// forgive takes a counted try back: it was no wrong password. Its time goes
// with it, or a right password would make the code that follows wait.
func (t *throttle) forgive(login, address string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, key := range []string{accountKey(login), addressKey(address), pairKey(login, address)} {
		if s := t.seen[key]; s != nil && s.failures > 0 {
			s.failures--
			s.last = s.before
		}
	}
}

// succeed takes the try back and remembers the pair. The other failures of
// the account and the address stay: an attacker with one good account must
// not win fresh tries by it.
func (t *throttle) succeed(login, address string) {
	at := t.lastOf(pairKey(login, address))
	t.forgive(login, address)
	t.mu.Lock()
	defer t.mu.Unlock()
	if s := t.seen[pairKey(login, address)]; s != nil {
		s.failures, s.known, s.last = 0, true, at
	}
}

func (t *throttle) lastOf(key string) time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s := t.seen[key]; s != nil {
		return s.last
	}
	return time.Time{}
}

// waits tells how long the key must still wait at now.
func (t *throttle) waits(key string, limit time.Duration, now time.Time) time.Duration {
	s := t.seen[key]
	if s == nil || s.stale(now) || s.failures < freeTries {
		return 0
	}
	wait := limit
	if n := s.failures - freeTries; n < 20 { // 2^20 s is above every cap
		wait = min(limit, firstWait<<n)
	}
	return s.last.Add(wait).Sub(now)
}

func (t *throttle) count(key string, now time.Time) {
	s := t.seen[key]
	if s == nil {
		t.makeRoom(now)
		s = &tries{}
		t.seen[key] = s
	}
	if now.Sub(s.last) > forgetAfter {
		s.failures = 0
	}
	s.failures++
	s.before, s.last = s.last, now
}

// stale tells whether the key's failures are forgotten.
func (s *tries) stale(now time.Time) bool {
	return now.Sub(s.last) > forgetAfter && (!s.known || now.Sub(s.last) > forgetKnown)
}

// makeRoom drops what is forgotten when the memory is full, else the key that
// was quiet the longest. The keys under attack are the loud ones: they stay.
func (t *throttle) makeRoom(now time.Time) {
	if len(t.seen) < maxThrottleKeys {
		return
	}
	quiet := ""
	for key, s := range t.seen {
		switch {
		case s.stale(now):
			delete(t.seen, key)
		case quiet == "" || s.last.Before(t.seen[quiet].last):
			quiet = key
		}
	}
	if len(t.seen) >= maxThrottleKeys {
		delete(t.seen, quiet)
	}
}

// throttled is the part of an address that one person holds: an IPv4 address,
// or the /64 of an IPv6 address.
func throttled(address string) string {
	ip, err := netip.ParseAddr(host(address))
	if err != nil {
		return address
	}
	ip = ip.Unmap().WithZone("")
	if ip.Is6() {
		if p, err := ip.Prefix(64); err == nil {
			return p.String()
		}
	}
	return ip.String()
}

// host is the address without its port, in a form that can be stored.
func host(address string) string {
	if h, _, err := net.SplitHostPort(address); err == nil {
		address = h
	}
	return clip(address, 64)
}
