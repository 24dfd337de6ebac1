package app_test

import (
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/access"
)

// appCode is what an authenticator app shows for the secret at the time.
func appCode(t *testing.T, secret string, at time.Time) string {
	t.Helper()
	key, err := base32.StdEncoding.DecodeString(strings.ReplaceAll(secret, " ", ""))
	require.NoError(t, err)
	mac := hmac.New(sha1.New, key)
	require.NoError(t, binary.Write(mac, binary.BigEndian, at.Unix()/30))
	sum := mac.Sum(nil)
	return fmt.Sprintf("%06d", binary.BigEndian.Uint32(sum[sum[19]&15:])&0x7fffffff%1_000_000)
}

// secure switches the second step on, and gives its secret and the recovery
// codes.
func (c *client) secure() (secret string, codes []string) {
	c.h.t.Helper()
	begun := c.post("/account/second-step/begin", "step_password", pass)
	require.Equal(c.h.t, 200, begun.status, begun.body)
	secret = begun.text("[data-test=secret]")
	on := c.post("/account/second-step/confirm", "code", appCode(c.h.t, secret, c.h.local()))
	require.Equal(c.h.t, 200, on.status)
	codes = strings.Fields(on.text("[data-test=codes]"))
	require.Len(c.h.t, codes, 10)
	c.h.forward(time.Minute)
	return secret, codes
}

func TestTheSecondStepIsSetUpAtTheAccount(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	c := h.as("viewer")
	require.True(t, c.get("/account").says("Off"))
	got := c.post("/account/second-step/begin", "step_password", "wrong")
	require.Equal(t, http.StatusUnprocessableEntity, got.status)
	require.Equal(t, "This is not your present password", got.text("#f-step-password-error"))

	begun := c.post("/account/second-step/begin", "step_password", pass)
	secret := begun.text("[data-test=secret]")
	require.Regexp(t, `^([A-Z2-7]{4} ){7}[A-Z2-7]{4}$`, secret)
	require.Equal(t, "otpauth://totp/test:viewer?issuer=test&secret="+strings.ReplaceAll(secret, " ", ""), begun.text("[data-test=uri]"))
	require.Equal(t, "no-store", begun.header.Get("Cache-Control"))
	got = c.post("/account/second-step/confirm", "code", "000000")
	require.Equal(t, http.StatusUnprocessableEntity, got.status)
	require.Equal(t, "This code is wrong, or was used before", got.text("#f-code-error"))
	require.False(t, got.has("[data-test=secret]"), "not shown again")

	secret, codes := c.secure()
	page := c.get("/account")
	require.Equal(t, "On since Wed 2 Dec 2026", page.text("[data-test=second-step] .st"))
	require.Equal(t, "10 recovery codes are left.", page.text("[data-test=left]"))
	require.Equal(t, http.StatusConflict, c.post("/account/second-step/begin", "step_password", pass).status)
	dumped := h.log.String() + page.body
	for _, e := range h.allAudited() {
		dumped += fmt.Sprintf("%+v", e)
	}
	for _, s := range append(codes, strings.ReplaceAll(secret, " ", ""), secret) {
		require.False(t, strings.Contains(dumped, s), "a secret is told twice")
	}
}

func TestASignInAsksForTheCode(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	secret, codes := h.as("viewer").secure()
	b := h.browser()
	wrong, unknown := b.post("/login", "login", "viewer", "password", "wrong"), b.post("/login", "login", "nonesuch", "password", "wrong")
	require.Equal(t, unknown.status, wrong.status)
	require.Equal(t, strings.ReplaceAll(unknown.body, "nonesuch", "viewer"), wrong.body, "a wrong password tells nothing of the second step")

	first := b.post("/login", "login", "viewer", "password", pass, "next", "/tasks")
	require.Equal(t, 200, first.status)
	require.True(t, first.has("[data-test=code-form]"))
	require.Empty(t, b.cookies["ax_session"], "half a sign-in has no session")
	half := first.value("half")
	stolen := h.browser()
	stolen.cookies["ax_session"] = &http.Cookie{Name: "ax_session", Value: half}
	require.True(t, stolen.signedOut(), "its token opens nothing")

	got := b.post("/login", "half", half, "code", "000000", "next", "/tasks")
	require.Equal(t, http.StatusUnprocessableEntity, got.status)
	require.Equal(t, "This code is wrong, or was used before", got.text("#f-code-error"))
	require.Equal(t, half, got.value("half"), "one goes on from there")
	code := appCode(t, secret, h.local())
	got = b.post("/login", "half", half, "code", code, "next", "/tasks")
	require.Equal(t, "/tasks", got.location())
	require.False(t, b.signedOut())

	other := h.browser()
	half = other.post("/login", "login", "viewer", "password", pass).value("half")
	require.Equal(t, http.StatusUnprocessableEntity, other.post("/login", "half", half, "code", code).status, "a code that was used")
	require.Equal(t, "/", other.post("/login", "half", half, "code", codes[3], "next", "//evil.example").location())
	require.False(t, other.signedOut())

	late := h.browser()
	half = late.post("/login", "login", "viewer", "password", pass).value("half")
	h.forward(5 * time.Minute)
	got = late.post("/login", "half", half, "code", appCode(t, secret, h.local()))
	require.Equal(t, http.StatusUnauthorized, got.status)
	require.True(t, got.says("This sign-in is over. Begin again with login and password"))
	require.True(t, late.signedOut())
}

func TestCodesAtTheLoginAreThrottled(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	secret, _ := h.as("viewer").secure()
	b := h.browser()
	half := ""
	for range 5 {
		half = b.post("/login", "login", "viewer", "password", pass).value("half")
		require.Equal(t, http.StatusUnprocessableEntity, b.post("/login", "half", half, "code", "000000").status)
	}
	got := b.post("/login", "half", half, "code", appCode(t, secret, h.local()))
	require.Equal(t, http.StatusTooManyRequests, got.status)
	require.Equal(t, "Too many wrong codes. Try again in 1 s", got.text(".note.bad[role=alert]"))
	require.True(t, b.signedOut())
	h.forward(time.Minute)
	half = b.post("/login", "login", "viewer", "password", pass).value("half")
	require.Equal(t, "/", b.post("/login", "half", half, "code", appCode(t, secret, h.local())).location(), "and nobody is locked out")
}

func TestTheSecondStepIsTurnedOffAtTheAccount(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	c := h.as("viewer")
	secret, codes := c.secure()
	got := c.post("/account/second-step/off", "step_password", pass, "code", "000000")
	require.Equal(t, http.StatusUnprocessableEntity, got.status)
	require.True(t, got.has("#f-code-error"))
	got = c.post("/account/second-step/off", "step_password", "wrong", "code", codes[0])
	require.True(t, got.has("#f-step-password-error"))

	got = c.post("/account/second-step/codes", "step_password", pass, "code", appCode(t, secret, h.local()))
	fresh := strings.Fields(got.text("[data-test=codes]"))
	require.Len(t, fresh, 10)
	require.True(t, got.says("The old recovery codes are void"))
	require.Equal(t, http.StatusUnprocessableEntity, c.post("/account/second-step/off", "step_password", pass, "code", codes[1]).status)
	require.Equal(t, "/account", c.post("/account/second-step/off", "step_password", pass, "code", fresh[0]).location())
	h.another("viewer", firefox, pass)
}

// allAudited is all that the audit tells.
func (h *house) allAudited() []access.Entry {
	h.t.Helper()
	page, err := access.NewReader(h.ledger).List(h.t.Context(), root, access.AuditFilter{}, 0, 200)
	require.NoError(h.t, err)
	require.NotEmpty(h.t, page.Entries)
	return page.Entries
}
