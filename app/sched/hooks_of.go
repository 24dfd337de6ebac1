package sched

import (
	"context"
	"net/url"
	"reflect"
	"slices"

	"ax/app/access"
	"ax/app/fault"
)

// Channels are those that the hooks of the team's tasks can name, by name. Who
// may see the team may see them.
func (s *Tasks) Channels(ctx context.Context, by access.Actor, team int64) ([]HookChannel, error) {
	if !by.Sees(team) {
		return nil, nil
	}
	return s.store.HookChannels(ctx, team)
}

// hooksFor refuses hooks of which can be told already that they won't do: an
// address that the team may not call, a secret that it hasn't or that isn't for
// the host, or a channel that isn't the team's. Faults: Invalid.
func (s *Tasks) hooksFor(ctx context.Context, team int64, w *Hooks) error {
	if w == nil || team == 0 {
		return nil
	}
	bad, err := s.askable(ctx, team, w.Before)
	if err != nil {
		return err
	}
	if len(w.After) > 0 {
		have, err := s.store.HookChannels(ctx, team)
		if err != nil {
			return err
		}
		for _, h := range w.After {
			if h.Channel != "" && !slices.ContainsFunc(have, func(c HookChannel) bool { return c.ID == h.Channel }) {
				bad = append(bad, fault.Field("hooks.after", "The team has no channel %q; there are its own, by their ids", h.Channel))
			}
		}
	}
	return fault.Invalid(bad...)
}

// askable is the same of the hook before alone.
func (s *Tasks) askable(ctx context.Context, team int64, h *BeforeHook) ([]fault.FieldError, error) {
	if h == nil {
		return nil, nil
	}
	u, err := url.Parse(h.URL)
	if err != nil {
		return nil, nil //nolint:nilerr // said by others
	}
	badURL, err := s.addressFor(ctx, team, "hooks.before.url", u)
	if err != nil {
		return nil, err
	}
	badHeaders, err := s.secretsFor(ctx, team, u, h.target())
	return ofHook(append(badURL, badHeaders...)), err
}

// hooksChange is hooksFor when a task gets other hooks. What stays doesn't stand
// in the way of other changes, whatever was closed or removed meanwhile.
func (s *Tasks) hooksChange(ctx context.Context, old Task, w *Hooks) error {
	was := old.Spec.Hooks
	if w == nil || was == nil {
		return s.hooksFor(ctx, old.TeamID, w)
	}
	changed := *w
	var p problems
	if reflect.DeepEqual(p.beforeHook(w.Before), was.Before) {
		changed.Before = nil
	}
	changed.After = slices.DeleteFunc(slices.Clone(w.After), func(h AfterHook) bool { return slices.Contains(was.After, h) })
	return s.hooksFor(ctx, old.TeamID, &changed)
}
