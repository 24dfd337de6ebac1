package access

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"ax/app/fault"
)

// SecondStep is the code that a person's sign-in asks for after the password.
type SecondStep struct {
	UserID      int64
	Secret      string // sealed; see SecondStep.where
	CreatedAt   time.Time
	ConfirmedAt time.Time // zero: begun, and asked for by nobody yet
	LastStep    int64     // of the code used last; that and older ones are refused
	UsedAt      time.Time // zero: never
	Left        int       // recovery codes that aren't used
}

// On tells whether sign-ins ask for the code.
func (s SecondStep) On() bool { return !s.ConfirmedAt.IsZero() }

// where the secret stands, for the Sealer.
func (s SecondStep) where() string { return "second_steps.secret." + strconv.FormatInt(s.UserID, 10) }

// secondStepStore keeps second steps. Each method is one transaction.
type secondStepStore interface {
	// SecondStep is the zero value when the person has none.
	SecondStep(ctx context.Context, user int64) (SecondStep, error)
	// BeginSecondStep stores one that is not confirmed, in the place of
	// another such; it is a Conflict when the person has one that is on.
	BeginSecondStep(ctx context.Context, s SecondStep, e Entry) error
	// ConfirmSecondStep switches on the one with the sealed secret, with the
	// digests of its recovery codes; a Conflict when it isn't there to be.
	ConfirmSecondStep(ctx context.Context, s SecondStep, codes []string, e Entry) error
	// UseStep notes that the code of the step was used, if none of it or of a
	// later one was; it tells whether this call did.
	UseStep(ctx context.Context, user, step int64, at time.Time) (bool, error)
	// UseRecoveryCode takes the code of the digest if it is there and unused.
	UseRecoveryCode(ctx context.Context, user int64, digest string, at time.Time, e Entry) (bool, error)
	// ReplaceRecoveryCodes puts others in the place of all that there are; a
	// Conflict when the second step is off.
	ReplaceRecoveryCodes(ctx context.Context, user int64, digests []string, e Entry) error
	// DropSecondStep takes it and its codes away, and tells whether there was
	// one; nothing taken, nothing recorded.
	DropSecondStep(ctx context.Context, user int64, e Entry) (bool, error)
}

// SecondStepSetup is shown once, to the person, when the second step begins.
type SecondStepSetup struct {
	Secret string // base32 in groups of four
	URI    string // otpauth://…, for apps that take a link
}

// SecondStep of the person who asks, without its secret.
func (s *Sessions) SecondStep(ctx context.Context, a Actor) (SecondStep, error) {
	if a.Kind != User {
		return SecondStep{}, onlyPeople()
	}
	step, err := s.store.SecondStep(ctx, a.ID)
	step.Secret = ""
	return step, err
}

func onlyPeople() error { return fault.Denied("Only a person has a second step") }

// BeginSecondStep makes a secret for an authenticator app. It counts only
// when a code of it was shown to ConfirmSecondStep. Issuer is what the app
// calls this installation. Faults: Invalid (step_password), TooMany, Conflict
// (it is on), Denied.
func (s *Sessions) BeginSecondStep(ctx context.Context, a Actor, password, issuer string) (SecondStepSetup, error) {
	p, err := s.confirm(ctx, a, "step_password", password)
	if err != nil {
		return SecondStepSetup{}, err
	}
	secret := newTOTPSecret()
	step := SecondStep{UserID: p.ID, CreatedAt: s.now()}
	if step.Secret, err = s.sealer.Seal(secret, step.where()); err != nil {
		return SecondStepSetup{}, fmt.Errorf("seal the secret of the second step: %w", err)
	}
	e := Entry{At: step.CreatedAt, Actor: a, Action: "second_step.begin", Object: p.Object()}
	if err := s.store.BeginSecondStep(ctx, step, e); err != nil {
		return SecondStepSetup{}, fmt.Errorf("begin the second step of %s: %w", p.Login, err)
	}
	return SecondStepSetup{Secret: inGroups(secret), URI: totpURI(issuer, p.Login, secret)}, nil
}

func inGroups(s string) string {
	var b strings.Builder
	for i, r := range s {
		if i > 0 && i%4 == 0 {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// ConfirmSecondStep switches the second step on with a first code, and gives
// the recovery codes, shown nowhere else.
// Faults: Invalid (code), TooMany, Conflict (nothing was begun), Denied.
func (s *Sessions) ConfirmSecondStep(ctx context.Context, a Actor, code string) ([]string, error) {
	if a.Kind != User {
		return nil, onlyPeople()
	}
	p, err := s.store.User(ctx, a.ID)
	if err != nil {
		return nil, fmt.Errorf("confirm the second step: %w", err)
	}
	step, err := s.store.SecondStep(ctx, p.ID)
	if err != nil {
		return nil, fmt.Errorf("confirm the second step: %w", err)
	}
	if step.Secret == "" || step.On() {
		return nil, fault.Conflict("Begin the second step first")
	}
	now := s.now()
	err = s.guess(p, a.Address, now, func() (ok bool, err error) {
		step.LastStep, ok, err = s.match(step, code, now)
		return ok, err
	})
	if err != nil {
		return nil, s.wrongCode(ctx, a, p, now, err)
	}
	step.ConfirmedAt, step.UsedAt = now, now
	codes, digests := newRecoveryCodes(p.ID)
	if err := s.store.ConfirmSecondStep(ctx, step, digests, secondStepEntry(now, a, "second_step.on", p, "off", "on")); err != nil {
		return nil, fmt.Errorf("confirm the second step of %s: %w", p.Login, err)
	}
	return codes, nil
}

func newRecoveryCodes(user int64) (codes, digests []string) {
	for range recoveryCodes {
		c := newRecoveryCode()
		codes, digests = append(codes, c), append(digests, recoveryDigest(user, c))
	}
	return codes, digests
}

func secondStepEntry(at time.Time, a Actor, action string, p Person, was, is string) Entry {
	return Entry{At: at, Actor: a, Action: action, Object: p.Object(), Changes: differ(nil, "second_step", was, is)}
}

// NewRecoveryCodes replaces all recovery codes; the old ones are void.
// Faults: Invalid (step_password, code), TooMany, Conflict (it is off), Denied.
func (s *Sessions) NewRecoveryCodes(ctx context.Context, a Actor, password, code string) ([]string, error) {
	p, err := s.confirmBoth(ctx, a, password, code)
	if err != nil {
		return nil, err
	}
	codes, digests := newRecoveryCodes(p.ID)
	e := Entry{At: s.now(), Actor: a, Action: "second_step.codes", Object: p.Object()}
	if err := s.store.ReplaceRecoveryCodes(ctx, p.ID, digests, e); err != nil {
		return nil, fmt.Errorf("make new recovery codes of %s: %w", p.Login, err)
	}
	return codes, nil
}

// SwitchOffSecondStep needs both the password and a code.
// Faults: Invalid (step_password, code), TooMany, Conflict (it is off), Denied.
func (s *Sessions) SwitchOffSecondStep(ctx context.Context, a Actor, password, code string) error {
	p, err := s.confirmBoth(ctx, a, password, code)
	if err != nil {
		return err
	}
	if _, err := s.store.DropSecondStep(ctx, p.ID, secondStepEntry(s.now(), a, "second_step.off", p, "on", "off")); err != nil {
		return fmt.Errorf("switch off the second step of %s: %w", p.Login, err)
	}
	return nil
}

// confirmBoth asks for the password and a code of the person's second step.
func (s *Sessions) confirmBoth(ctx context.Context, a Actor, password, code string) (Person, error) {
	p, err := s.confirm(ctx, a, "step_password", password)
	if err != nil {
		return Person{}, err
	}
	step, err := s.store.SecondStep(ctx, p.ID)
	if err != nil {
		return Person{}, fmt.Errorf("read the second step of %s: %w", p.Login, err)
	}
	if !step.On() {
		return Person{}, fault.Conflict("The second step is off")
	}
	now := s.now()
	err = s.guess(p, a.Address, now, func() (bool, error) { return s.spend(ctx, a, p, step, code, now) })
	if err != nil {
		return Person{}, s.wrongCode(ctx, a, p, now, err)
	}
	return p, nil
}

// TakeOffSecondStep is for somebody who has lost the phone and the recovery
// codes. Admins and the command line only. Faults: NotFound, Denied, Conflict
// (there is none).
func (s *Sessions) TakeOffSecondStep(ctx context.Context, a Actor, id int64) error {
	if err := a.Check(Administer, 0); err != nil {
		return err
	}
	p, err := s.store.User(ctx, id)
	if err != nil {
		return fmt.Errorf("take off a second step: %w", err)
	}
	gone, err := s.store.DropSecondStep(ctx, id, secondStepEntry(s.now(), a, "second_step.take_off", p, "on", "off"))
	if err == nil && !gone {
		return fault.Conflict("The second step is off")
	}
	if err != nil {
		return fmt.Errorf("take off the second step of %s: %w", p.Login, err)
	}
	return nil
}
