package access

import (
	"context"
	"time"

	"ax/app/fault"
)

func (m *memory) SecondStep(_ context.Context, user int64) (SecondStep, error) {
	defer m.lock()()
	s := m.second[user]
	for _, used := range m.recovery[user] {
		if !used {
			s.Left++
		}
	}
	return s, nil
}

func (m *memory) BeginSecondStep(_ context.Context, s SecondStep, e Entry) error {
	defer m.lock()()
	if m.second[s.UserID].On() {
		return fault.Conflict("on")
	}
	m.second[s.UserID] = s
	m.record(e, "", 0)
	return nil
}

func (m *memory) ConfirmSecondStep(_ context.Context, s SecondStep, codes []string, e Entry) error {
	defer m.lock()()
	if was := m.second[s.UserID]; was.On() || was.Secret != s.Secret {
		return fault.Conflict("not begun")
	}
	s.Left = 0
	m.second[s.UserID] = s
	m.putCodes(s.UserID, codes)
	m.record(e, "", 0)
	return nil
}

func (m *memory) putCodes(user int64, codes []string) {
	m.recovery[user] = map[string]bool{}
	for _, c := range codes {
		m.recovery[user][c] = false
	}
}

func (m *memory) UseStep(_ context.Context, user, step int64, at time.Time) (bool, error) {
	defer m.lock()()
	s := m.second[user]
	if !s.On() || s.LastStep >= step {
		return false, nil
	}
	s.LastStep, s.UsedAt = step, at
	m.second[user] = s
	return true, nil
}

func (m *memory) UseRecoveryCode(_ context.Context, user int64, digest string, _ time.Time, e Entry) (bool, error) {
	defer m.lock()()
	if used, ok := m.recovery[user][digest]; !ok || used {
		return false, nil
	}
	m.recovery[user][digest] = true
	m.record(e, "", 0)
	return true, nil
}

func (m *memory) ReplaceRecoveryCodes(_ context.Context, user int64, digests []string, e Entry) error {
	defer m.lock()()
	m.putCodes(user, digests)
	m.record(e, "", 0)
	return nil
}

func (m *memory) DropSecondStep(_ context.Context, user int64, e Entry) (bool, error) {
	defer m.lock()()
	if !m.second[user].On() {
		return false, nil
	}
	delete(m.second, user)
	delete(m.recovery, user)
	m.record(e, "", 0)
	return true, nil
}

func (m *memory) InsertHalf(_ context.Context, h HalfSignIn) error {
	defer m.lock()()
	m.halves[h.Hash] = h
	return nil
}

func (m *memory) Half(_ context.Context, hash string) (HalfSignIn, error) {
	defer m.lock()()
	return m.halves[hash], nil
}

func (m *memory) TakeHalf(_ context.Context, hash string) (bool, error) {
	defer m.lock()()
	_, ok := m.halves[hash]
	delete(m.halves, hash)
	return ok, nil
}
