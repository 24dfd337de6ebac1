package access

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ax/app/fault"
)

// errWrongCode is a code that does not prove anything: wrong, too old, or
// used before. Which of them is nobody's business.
var errWrongCode = errors.New("wrong code")

// guess throttles one try of a code like a password, on keys of its own: who
// knows the password must not win fresh tries at the code by signing in
// again and again. The error is errWrongCode, TooMany, or what try gave.
func (s *Sessions) guess(p Person, address string, now time.Time, try func() (bool, error)) error {
	key, from := "2 "+p.Login, throttled(address)
	if wait := s.throttle.begin(key, from, now); wait > 0 {
		return fault.TooMany("Too many wrong codes. Try again in %d s", seconds(wait))
	}
	ok, err := try()
	switch {
	case err != nil:
		s.throttle.forgive(key, from)
		return err
	case !ok:
		return errWrongCode
	}
	s.throttle.succeed(key, from)
	return nil
}

// match finds which step of the app's codes this is.
func (s *Sessions) match(step SecondStep, code string, now time.Time) (int64, bool, error) {
	secret, err := s.sealer.Open(step.Secret, step.where())
	if err != nil {
		return 0, false, fmt.Errorf("open the secret of the second step: %w", err)
	}
	n, ok := totpMatch(secret, typedCode(code), now, step.LastStep)
	return n, ok, nil
}

// spend uses a code of the app, or a recovery code, up.
func (s *Sessions) spend(ctx context.Context, a Actor, p Person, step SecondStep, code string, now time.Time) (bool, error) {
	n, ok, err := s.match(step, code, now)
	if err != nil {
		return false, err
	}
	if ok { // two that show the same code at once: the store lets one of them win
		return s.store.UseStep(ctx, p.ID, n, now)
	}
	if len(typedCode(code)) <= totpDigits {
		return false, nil
	}
	e := Entry{At: now, Actor: a, Action: "second_step.recover", Object: p.Object()}
	return s.store.UseRecoveryCode(ctx, p.ID, recoveryDigest(p.ID, code), now, e)
}

// wrongCode records a wrong code, and says it at its field.
func (s *Sessions) wrongCode(ctx context.Context, a Actor, p Person, now time.Time, err error) error {
	if !errors.Is(err, errWrongCode) {
		return err
	}
	e := Entry{At: now, Actor: a, Action: "second_step.refuse", Object: p.Object()}
	if err := s.store.RecordAudit(ctx, e); err != nil {
		return fmt.Errorf("record the refused code: %w", err)
	}
	return fault.Invalid(fault.Field("code", "This code is wrong, or was used before"))
}
