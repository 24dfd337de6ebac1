package app

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"ax/app/access"
	"ax/app/sched"
	"ax/views"
)

const (
	// figuresFor is how long the figures around a page are shown before they
	// are read anew: many viewers must not cost more than one.
	figuresFor = 5 * time.Second
	// figuresLimit bounds what a page waits for figures that it can do without.
	figuresLimit = time.Second
	// lettersShown is where counting dead letters for the sidebar ends.
	lettersShown = sched.MaxPage
)

// sidebar keeps the figures of the sidebar for a few seconds.
type sidebar struct {
	mu      sync.Mutex
	letters map[string]counted // by scope
	health  views.Health
	at      time.Time
}

type counted struct {
	n  int64
	at time.Time
}

// dressed is the viewer with all that stands around a whole page. What can't
// be read is left out: the page itself matters more.
func (a *App) dressed(c *gin.Context) views.Viewer {
	v := a.viewer(c)
	v.Flash = a.takeFlash(c)
	if !v.SignedIn() {
		return v
	}
	ctx, cancel := context.WithTimeout(c.Request.Context(), figuresLimit)
	defer cancel()
	v.Counts.DeadLetters = a.openLetters(ctx, actor(c), scopeOf(c), v.Now)
	v.Counts.Alerts = a.firingCount(ctx, actor(c), scopeOf(c))
	h := a.health(ctx, v.Now)
	v.Health = &h
	return v
}

func (a *App) openLetters(ctx context.Context, by access.Actor, scope access.Scope, now time.Time) int64 {
	if !scope.All && len(scope.Teams) == 0 {
		return 0
	}
	key := fmt.Sprint(scope)
	a.sidebar.mu.Lock()
	kept, ok := a.sidebar.letters[key]
	a.sidebar.mu.Unlock()
	if ok && fresh(kept.at, now) {
		return kept.n
	}
	page, err := a.letters.List(ctx, by, sched.LetterFilter{
		Scope: scope, Statuses: []sched.LetterStatus{sched.LetterOpen, sched.LetterTaken},
	}, sched.PageRequest{Limit: lettersShown})
	if err != nil {
		return kept.n
	}
	a.sidebar.mu.Lock()
	defer a.sidebar.mu.Unlock()
	for k, old := range a.sidebar.letters {
		if !fresh(old.at, now) {
			delete(a.sidebar.letters, k)
		}
	}
	if a.sidebar.letters == nil {
		a.sidebar.letters = map[string]counted{}
	}
	n := int64(len(page.Items))
	a.sidebar.letters[key] = counted{n, now}
	return n
}

// health is what the foot of the sidebar says.
func (a *App) health(ctx context.Context, now time.Time) views.Health {
	a.sidebar.mu.Lock()
	kept, at := a.sidebar.health, a.sidebar.at
	a.sidebar.mu.Unlock()
	if fresh(at, now) {
		return kept
	}
	checks := a.ready(ctx)
	h := views.Health{Ledger: passes(checks, "database"), Redis: passes(checks, "redis")}
	if list, err := a.nodes.Nodes(ctx, now.Add(-time.Hour)); err == nil {
		for _, n := range list {
			if !n.ClosedAt.IsZero() { // stopped in order: nobody misses it
				continue
			}
			h.Known++
			if n.DeadAt.IsZero() && now.Sub(n.BeatAt) < a.beats.Dead {
				h.Nodes++
			}
		}
	}
	a.sidebar.mu.Lock()
	defer a.sidebar.mu.Unlock()
	a.sidebar.health, a.sidebar.at = h, now
	return h
}

// passes tells whether the check of the name does, or isn't made.
func passes(checks []Check, name string) bool {
	return !slices.ContainsFunc(checks, func(k Check) bool { return k.Name == name && !k.OK })
}

// fresh holds for a clock that went back, too.
func fresh(at, now time.Time) bool { return !at.IsZero() && now.Sub(at).Abs() < figuresFor }
