package access

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"ax/app/fault"

	"github.com/stretchr/testify/require"
)

func (h *house) try(t *testing.T, login, password, address string) error {
	t.Helper()
	_, _, err := h.sessions.SignIn(t.Context(), Credentials{Login: login, Password: password, Address: address})
	return err
}

// wait is how long a refused sign-in must wait; 0 when it was looked at.
func wait(t *testing.T, err error) time.Duration {
	t.Helper()
	if fault.KindOf(err) != fault.KindTooMany {
		return 0
	}
	text, _ := fault.TextOf(err)
	return time.Duration(text.Args[0].(int)) * time.Second
}

// DB-05: whatever headers say, the address here is the socket's.
func TestTwentyWrongSignInsFromOneSocketAreHeldBack(t *testing.T) {
	h := newHouse(t)
	h.person(t, "ops")
	looked := 0
	for port := range 20 {
		if err := h.try(t, "ops", "wrong password", fmt.Sprintf("198.51.100.7:%d", 40000+port)); wait(t, err) == 0 {
			looked++
		}
	}
	require.Equal(t, freeTries, looked)
	require.Len(t, h.hasher.verified, freeTries, "a refused try costs no hash")
	for _, e := range h.audit[1:] {
		require.Equal(t, "session.refuse", e.Action)
		require.Equal(t, "198.51.100.7", e.Actor.Address, "the audit has the real address")
	}
	require.Len(t, h.audit, 1+freeTries, "a flood does not fill the audit")
}

func TestTheAccountIsHeldBackOverManyAddresses(t *testing.T) {
	for name, login := range map[string]string{"somebody": "ops", "nobody, who looks the same": "nobody"} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			h.person(t, "ops")
			looked := 0
			for i := range 50 {
				if err := h.try(t, login, "wrong password", fmt.Sprintf("203.0.113.%d:9", i)); wait(t, err) == 0 {
					looked++
				}
			}
			require.Equal(t, freeTries, looked)
		})
	}
}

func TestTheAddressIsHeldBackOverManyAccounts(t *testing.T) {
	h := newHouse(t)
	looked := 0
	for i := range 50 {
		if err := h.try(t, fmt.Sprintf("user%d", i), "wrong password", fmt.Sprintf("[2001:db8:1:2::%x]:443", i)); wait(t, err) == 0 {
			looked++
		}
	}
	require.Equal(t, freeTries, looked, "one /64 is one address")
	require.Zero(t, wait(t, h.try(t, "user1", "wrong password", "[2001:db8:1:3::1]:443")), "the next /64 is another")
}

func TestTheWaitDoublesUpToItsCapAndIsForgotten(t *testing.T) {
	h := newHouse(t)
	h.person(t, "ops")
	for range freeTries {
		require.Zero(t, wait(t, h.try(t, "ops", "wrong password", "192.0.2.1")))
	}
	var waits []time.Duration
	for range 11 {
		w := wait(t, h.try(t, "ops", "wrong password", "192.0.2.1"))
		waits = append(waits, w)
		h.forward(w)
		require.Zero(t, wait(t, h.try(t, "ops", "wrong password", "192.0.2.1")), "the wait that is told is enough")
	}
	s := time.Second
	require.Equal(t, []time.Duration{s, 2 * s, 4 * s, 8 * s, 16 * s, 32 * s, 64 * s, 128 * s, 256 * s, 300 * s, 300 * s}, waits)
	h.forward(forgetAfter + s)
	for range freeTries {
		require.Zero(t, wait(t, h.try(t, "ops", "wrong password", "192.0.2.1")))
	}
}

func TestARefusedTryDoesNotLengthenTheWait(t *testing.T) {
	h := newHouse(t)
	h.person(t, "ops")
	for range freeTries {
		_ = h.try(t, "ops", "wrong password", "192.0.2.1")
	}
	for range 10 {
		require.Equal(t, time.Second, wait(t, h.try(t, "ops", pass, "192.0.2.1")), "even with the right password")
	}
	h.forward(time.Second)
	require.NoError(t, h.try(t, "ops", pass, "192.0.2.1"))
}

func TestThePersonGetsInDuringAnAttack(t *testing.T) {
	attack := func(h *house, addresses int) {
		for i := range 300 {
			_ = h.try(t, "ops", "wrong password", fmt.Sprintf("198.51.100.%d", i%addresses))
			h.forward(time.Second)
		}
	}
	t.Run("at once from an address of before", func(t *testing.T) {
		h := newHouse(t)
		h.person(t, "ops")
		require.NoError(t, h.try(t, "ops", pass, "10.0.0.1:1"))
		attack(h, 100)
		require.NoError(t, h.try(t, "ops", pass, "10.0.0.1:2"))
	})
	t.Run("after a short wait from a new address", func(t *testing.T) {
		h := newHouse(t)
		h.person(t, "ops")
		attack(h, 1)
		w := wait(t, h.try(t, "ops", pass, "10.0.0.1:1"))
		require.LessOrEqual(t, w, accountCap)
		h.forward(w)
		require.NoError(t, h.try(t, "ops", pass, "10.0.0.1:1"))
	})
	t.Run("other people are not held back", func(t *testing.T) {
		h := newHouse(t)
		h.person(t, "ops")
		h.person(t, "other")
		attack(h, 100)
		require.NoError(t, h.try(t, "other", pass, "10.0.0.1:1"))
	})
}

func TestOneGoodAccountWinsNoFreshTries(t *testing.T) {
	h := newHouse(t)
	h.person(t, "ops")
	h.person(t, "mallory")
	looked := 0
	for range 20 {
		_ = h.try(t, "mallory", pass, "198.51.100.7")
		if wait(t, h.try(t, "ops", "wrong password", "198.51.100.7")) == 0 {
			looked++
		}
	}
	require.Equal(t, freeTries, looked)
}

func TestTriesSideBySideDoNotSlipThrough(t *testing.T) {
	th, now := newThrottle(), noon().at
	var wg sync.WaitGroup
	var mu sync.Mutex
	looked := 0
	for range 100 {
		wg.Go(func() {
			if th.begin("ops", "192.0.2.1", now) == 0 {
				mu.Lock()
				looked++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	require.Equal(t, freeTries, looked)
}

func TestTheMemoryOfTheThrottleIsBoundedAndKeepsTheLoud(t *testing.T) {
	th, c := newThrottle(), noon()
	flood := func(from, to int) {
		for i := from; i < to; i++ {
			c.forward(time.Millisecond)
			th.begin(fmt.Sprintf("user%d", i), fmt.Sprintf("a%d", i), c.at)
		}
	}
	attack := func() {
		for range freeTries {
			th.begin("ops", "192.0.2.1", c.at)
		}
	}
	attack()
	flood(0, maxThrottleKeys/3-10)
	attack()
	flood(maxThrottleKeys/3, maxThrottleKeys/3+200)
	require.Len(t, th.seen, maxThrottleKeys)
	require.NotZero(t, th.begin("ops", "192.0.2.1", c.at))
	require.NotContains(t, th.seen, accountKey("user0"))
}

func TestTheThrottledPartOfAnAddress(t *testing.T) {
	for in, want := range map[string]string{
		"192.0.2.1:80":             "192.0.2.1",
		"192.0.2.1":                "192.0.2.1",
		"[::ffff:192.0.2.1]:80":    "192.0.2.1",
		"[2001:db8::1]:80":         "2001:db8::/64",
		"2001:db8:0:0:ffff::9":     "2001:db8::/64",
		"[fe80::1%eth0]:80":        "fe80::/64",
		"@":                        "@",
		"":                         "",
		"an address, made up by x": "an address, made up by x",
	} {
		require.Equal(t, want, throttled(in), "%q", in)
	}
}
