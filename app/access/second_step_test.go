package access

import (
	"encoding/base32"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/fault"
)

// app is somebody's phone.
type app struct {
	key []byte
	h   *house
}

func (a app) code() string { return hotp(a.key, totpStep(a.h.at), totpDigits) }

// secured is somebody signed in with a second step that is on.
func (h *house) secured(t *testing.T, login string) (Actor, app, []string) {
	t.Helper()
	h.person(t, login)
	a, _ := h.browser(t, login)
	setup, err := h.sessions.BeginSecondStep(t.Context(), a, pass, "ax.example.com")
	require.NoError(t, err)
	key, err := base32.StdEncoding.DecodeString(strings.ReplaceAll(setup.Secret, " ", ""))
	require.NoError(t, err)
	phone := app{key, h}
	codes, err := h.sessions.ConfirmSecondStep(t.Context(), a, phone.code())
	require.NoError(t, err)
	h.forward(time.Minute)
	return a, phone, codes
}

func (h *house) password(t *testing.T, login string) string {
	t.Helper()
	half, session, err := h.sessions.SignIn(t.Context(), Credentials{Login: login, Password: pass, Address: "10.0.0.1"})
	require.NoError(t, err)
	require.True(t, session.Half)
	require.Empty(t, session.Hash)
	return half
}

func (h *house) finish(t *testing.T, half, code string) (string, error) {
	t.Helper()
	token, _, err := h.sessions.FinishSignIn(t.Context(), SecondCredentials{Half: half, Code: code, Address: "10.0.0.1"})
	return token, err
}

func TestTheSecondStepCountsOnlyOnceConfirmed(t *testing.T) {
	h := newHouse(t)
	h.person(t, "ops")
	a, _ := h.browser(t, "ops")
	_, err := h.sessions.ConfirmSecondStep(t.Context(), a, "123456")
	require.Equal(t, fault.KindConflict, fault.KindOf(err), "nothing was begun")
	_, err = h.sessions.BeginSecondStep(t.Context(), a, "wrong", "ax")
	require.Equal(t, []string{"step_password"}, fails(t, err))
	setup, err := h.sessions.BeginSecondStep(t.Context(), a, pass, "ax")
	require.NoError(t, err)
	require.Regexp(t, `^([A-Z2-7]{4} ){7}[A-Z2-7]{4}$`, setup.Secret)
	require.NotContains(t, h.second[a.ID].Secret, strings.ReplaceAll(setup.Secret, " ", ""), "sealed")
	h.signIn(t, "ops") // asks for no code yet
	_, err = h.sessions.ConfirmSecondStep(t.Context(), a, "000000")
	require.Equal(t, []string{"code"}, fails(t, err))

	key, err := base32.StdEncoding.DecodeString(strings.ReplaceAll(setup.Secret, " ", ""))
	require.NoError(t, err)
	codes, err := h.sessions.ConfirmSecondStep(t.Context(), a, app{key, h}.code())
	require.NoError(t, err)
	require.Len(t, codes, recoveryCodes)
	is, err := h.sessions.SecondStep(t.Context(), a)
	require.NoError(t, err)
	require.Equal(t, SecondStep{UserID: a.ID, CreatedAt: h.at, ConfirmedAt: h.at, LastStep: totpStep(h.at), UsedAt: h.at, Left: recoveryCodes}, is)
	_, err = h.sessions.BeginSecondStep(t.Context(), a, pass, "ax")
	require.Equal(t, fault.KindConflict, fault.KindOf(err), "nobody puts another secret in its place")
	for _, e := range h.audit {
		for _, c := range e.Changes {
			require.NotContains(t, c.Old+c.New, setup.Secret[:4])
			require.Equal(t, "second_step", c.Field)
		}
	}
}

func TestASignInWithASecondStep(t *testing.T) {
	h := newHouse(t)
	_, phone, codes := h.secured(t, "ops")
	half := h.password(t, "ops")
	_, err := h.resolve(t, half)
	require.Equal(t, fault.KindUnauthenticated, fault.KindOf(err), "half a sign-in is no session")
	_, err = h.finish(t, half, "000000")
	require.Equal(t, []string{"code"}, fails(t, err))
	token, err := h.finish(t, half, phone.code()[:3]+" "+phone.code()[3:])
	require.NoError(t, err)
	who, err := h.resolve(t, token)
	require.NoError(t, err)
	require.Equal(t, "ops", who.Name)
	_, err = h.finish(t, half, codes[0])
	require.Equal(t, fault.KindUnauthenticated, fault.KindOf(err), "each half once")

	_, err = h.finish(t, h.password(t, "ops"), phone.code())
	require.Equal(t, []string{"code"}, fails(t, err), "a code that was used")
	_, err = h.finish(t, h.password(t, "ops"), strings.ToUpper(codes[0]))
	require.NoError(t, err, "a recovery code")
	_, err = h.finish(t, h.password(t, "ops"), codes[0])
	require.Equal(t, []string{"code"}, fails(t, err), "each once")
	require.Contains(t, h.actions(), "second_step.refuse")
	require.Contains(t, h.actions(), "second_step.recover")
	_, err = h.finish(t, "nonsense", phone.code())
	require.Equal(t, fault.KindUnauthenticated, fault.KindOf(err))
}

func TestHalfASignInEnds(t *testing.T) {
	for name, end := range map[string]func(*house, Actor){
		"after five minutes": func(h *house, _ Actor) { h.forward(halfLife) },
		"with the password": func(h *house, a Actor) {
			require.NoError(t, h.users.SetPassword(t.Context(), root, a.ID, "another good one"))
		},
		"with the person":            func(h *house, a Actor) { require.NoError(t, h.users.Disable(t.Context(), root, a.ID)) },
		"with the second step's end": func(h *house, a Actor) { require.NoError(t, h.sessions.TakeOffSecondStep(t.Context(), root, a.ID)) },
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			a, phone, _ := h.secured(t, "ops")
			half := h.password(t, "ops")
			end(h, a)
			_, err := h.finish(t, half, phone.code())
			require.Equal(t, fault.KindUnauthenticated, fault.KindOf(err))
			require.ErrorContains(t, err, "This sign-in is over")
		})
	}
}

// Who knows the password must not win fresh tries at the code with it.
func TestCodesAreThrottledWhateverTheFirstStepDoes(t *testing.T) {
	h := newHouse(t)
	_, phone, codes := h.secured(t, "ops")
	for range freeTries {
		_, err := h.finish(t, h.password(t, "ops"), "000000")
		require.Equal(t, []string{"code"}, fails(t, err))
	}
	for _, code := range []string{phone.code(), codes[0]} {
		_, err := h.finish(t, h.password(t, "ops"), code)
		require.Equal(t, fault.KindTooMany, fault.KindOf(err))
	}
	h.forward(firstWait)
	_, err := h.finish(t, h.password(t, "ops"), phone.code())
	require.NoError(t, err)
}

// A right password is no failure: the code after it must not wait for it, in
// a house where others have failed before.
func TestTheCodeDoesNotWaitForItsOwnPassword(t *testing.T) {
	h := newHouse(t)
	_, phone, _ := h.secured(t, "ops")
	for i := range freeTries {
		_, _, err := h.sessions.SignIn(t.Context(), Credentials{Login: "x" + string(rune('a'+i)), Password: "wrong", Address: "10.0.0.2"})
		require.Error(t, err)
	}
	h.forward(addressCap)
	half, _, err := h.sessions.SignIn(t.Context(), Credentials{Login: "ops", Password: pass, Address: "10.0.0.2"})
	require.NoError(t, err)
	_, _, err = h.sessions.FinishSignIn(t.Context(), SecondCredentials{Half: half, Code: phone.code(), Address: "10.0.0.2"})
	require.NoError(t, err)
}

func TestTheSecondStepGoesOffWithPasswordAndCodeOnly(t *testing.T) {
	h := newHouse(t)
	a, phone, codes := h.secured(t, "ops")
	require.Equal(t, []string{"step_password"}, fails(t, h.sessions.SwitchOffSecondStep(t.Context(), a, "wrong", phone.code())))
	require.Equal(t, []string{"code"}, fails(t, h.sessions.SwitchOffSecondStep(t.Context(), a, pass, "000000")))
	fresh, err := h.sessions.NewRecoveryCodes(t.Context(), a, pass, phone.code())
	require.NoError(t, err)
	require.Equal(t, []string{"code"}, fails(t, h.sessions.SwitchOffSecondStep(t.Context(), a, pass, codes[1])), "the old codes are void")
	require.NoError(t, h.sessions.SwitchOffSecondStep(t.Context(), a, pass, fresh[0]))
	h.signIn(t, "ops")
	require.Equal(t, fault.KindConflict, fault.KindOf(h.sessions.SwitchOffSecondStep(t.Context(), a, pass, fresh[1])))
}

func TestAnAdministratorTakesASecondStepOff(t *testing.T) {
	h := newHouse(t)
	a, _, _ := h.secured(t, "ops")
	require.NotEqual(t, fault.KindInternal, fault.KindOf(h.sessions.TakeOffSecondStep(t.Context(), a, a.ID)))
	require.True(t, h.second[a.ID].On(), "nobody takes off the own one without password and code")
	require.NoError(t, h.sessions.TakeOffSecondStep(t.Context(), root, a.ID))
	last := h.audit[len(h.audit)-1]
	require.Equal(t, "second_step.take_off", last.Action)
	require.Equal(t, []Change{{"second_step", "on", "off"}}, last.Changes)
	h.signIn(t, "ops")
	require.Equal(t, fault.KindConflict, fault.KindOf(h.sessions.TakeOffSecondStep(t.Context(), root, a.ID)))
}
