package oidc_test

import (
	"bytes"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/fault"
	"ax/app/oidc"
	"ax/app/oidc/issuertest"
)

// desk is a provider and ax's side of it, on a clock that stands.
type desk struct {
	*issuertest.Issuer
	ax *oidc.Provider
	at time.Time
}

func newDesk(t *testing.T, change ...func(*oidc.Config)) *desk {
	t.Helper()
	d := &desk{at: time.Date(2026, 12, 2, 6, 32, 7, 0, time.UTC)}
	now := func() time.Time { return d.at }
	d.Issuer = issuertest.New(t, now)
	d.Claims = map[string]any{"sub": "s-1", "preferred_username": "lin", "email": "lin@example.com", "name": "Lin", "groups": []string{"ops", "dev"}}
	cfg := oidc.Config{
		Issuer: d.URL, ClientID: issuertest.ClientID, ClientSecret: issuertest.ClientSecret,
		Scopes: []string{"openid", "groups"}, GroupsClaim: "groups", Groups: []string{"ops = payments:operator"},
	}
	for _, c := range change {
		c(&cfg)
	}
	d.ax = oidc.New(cfg, "https://ax.example.com/login/oidc/callback", now)
	return d
}

func aTrip() access.Trip {
	return access.Trip{State: "a-state", Nonce: "a-nonce", Verifier: strings.Repeat("v", 43)}
}

// signIn goes the whole way once; back may change the trip before the code is
// traded.
func (d *desk) signIn(t *testing.T, back ...func(*access.Trip)) (access.Assertion, error) {
	t.Helper()
	trip := aTrip()
	to, err := d.ax.Start(t.Context(), trip)
	require.NoError(t, err)
	answer, err := url.Parse(d.Answer(to))
	require.NoError(t, err)
	require.Equal(t, trip.State, answer.Query().Get("state"))
	for _, b := range back {
		b(&trip)
	}
	return d.ax.Finish(t.Context(), trip, answer.Query().Get("code"))
}

func TestThePersonGoesToTheProviderWithStateNonceAndChallenge(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	to, err := d.ax.Start(t.Context(), aTrip())
	require.NoError(t, err)
	u, err := url.Parse(to)
	require.NoError(t, err)
	require.Equal(t, d.URL+"/authorize", u.Scheme+"://"+u.Host+u.Path)
	q := u.Query()
	require.Equal(t, []string{"code", issuertest.ClientID, "a-state", "a-nonce", "S256", "openid groups", "https://ax.example.com/login/oidc/callback"},
		[]string{q.Get("response_type"), q.Get("client_id"), q.Get("state"), q.Get("nonce"), q.Get("code_challenge_method"), q.Get("scope"), q.Get("redirect_uri")})
	require.NotContains(t, to, aTrip().Verifier, "only its hash goes by the browser")
	require.NotContains(t, to, "hush")
}

func TestWhatTheProviderSaysOfAPerson(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		claims map[string]any
		apart  bool
		groups []string
	}{
		"a list of groups":          {map[string]any{"groups": []string{"ops", "dev"}}, false, []string{"ops", "dev"}},
		"one group":                 {map[string]any{"groups": "ops"}, false, []string{"ops"}},
		"numbers among them":        {map[string]any{"groups": []any{"ops", 7}}, false, []string{"ops"}},
		"no group":                  {map[string]any{"groups": []string{}}, false, nil},
		"no claim anywhere":         {map[string]any{"groups": nil}, false, nil},
		"groups at the userinfo":    {map[string]any{"groups": []string{"ops"}}, true, []string{"ops"}},
		"an object instead of them": {map[string]any{"groups": map[string]any{"ops": true}}, false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			d.GroupsApart = c.apart
			d.Claims["groups"] = c.claims["groups"]
			said, err := d.signIn(t)
			require.NoError(t, err)
			require.Equal(t, access.Assertion{
				ProviderID: access.ProviderID{Issuer: d.URL, Subject: "s-1"}, Login: "lin", Email: "lin@example.com", Name: "Lin", Groups: c.groups,
			}, said)
		})
	}
}

// Each of these is an answer that a thief, or another client of the same
// provider, could bring.
func TestAForgedIDTokenIsNotBelieved(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		forge func(d *desk)
		says  string
	}{
		"another nonce":            {func(d *desk) { d.Forge = func(c map[string]any) { c["nonce"] = "of-somebody-else" } }, "nonce"},
		"no nonce":                 {func(d *desk) { d.Forge = func(c map[string]any) { delete(c, "nonce") } }, "nonce"},
		"another audience":         {func(d *desk) { d.Forge = func(c map[string]any) { c["aud"] = "another-client" } }, "audience"},
		"many audiences, no party": {func(d *desk) { d.Forge = func(c map[string]any) { c["aud"] = []string{"other", issuertest.ClientID} } }, "party"},
		"another party":            {func(d *desk) { d.Forge = func(c map[string]any) { c["azp"] = "other" } }, "party"},
		"another issuer":           {func(d *desk) { d.Forge = func(c map[string]any) { c["iss"] = "https://evil.example" } }, "different provider"},
		"expired":                  {func(d *desk) { d.Forge = func(c map[string]any) { c["exp"] = d.at.Add(-time.Second).Unix() } }, "expired"},
		"no expiry":                {func(d *desk) { d.Forge = func(c map[string]any) { delete(c, "exp") } }, "expired"},
		"not yet good":             {func(d *desk) { d.Forge = func(c map[string]any) { c["nbf"] = d.at.Add(time.Hour).Unix() } }, "nbf"},
		"no subject":               {func(d *desk) { d.Forge = func(c map[string]any) { delete(c, "sub") } }, "subject"},
		"another access token":     {func(d *desk) { d.Forge = func(c map[string]any) { c["at_hash"] = "AAAAAAAAAAAAAAAAAAAAAA" } }, "hash"},
		"not signed":               {func(d *desk) { d.Sign = issuertest.Unsigned }, "algorithm"},
		"no token":                 {func(d *desk) { d.Sign = func([]byte) string { return "" } }, "malformed"},
		"by a key of its own": {func(d *desk) {
			d.Sign = func(p []byte) string { return d.SignWith(jose.HS256, bytes.Repeat([]byte("k"), 32), p) }
		}, "algorithm"},
		"by the public key, as HMAC": {func(d *desk) { d.Sign = func(p []byte) string { return d.SignWith(jose.HS256, d.PublicKey(), p) } }, "algorithm"},
		"by the client's secret": {func(d *desk) {
			d.Sign = func(p []byte) string {
				return d.SignWith(jose.HS256, []byte(strings.Repeat(issuertest.ClientSecret, 3)), p)
			}
		}, "algorithm"},
		"changed after the signature": {func(d *desk) {
			d.Forge = func(c map[string]any) { c["groups"] = []string{"admins"} }
			other := issuertest.New(t, func() time.Time { return d.at })
			d.Sign = func(p []byte) string { return other.SignWith(jose.ES256, newKey(t), p) }
		}, "signature"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			c.forge(d)
			_, err := d.signIn(t)
			require.ErrorContains(t, err, c.says)
			require.Equal(t, fault.KindInternal, fault.KindOf(err), "it is no fault that passes")
		})
	}
}

func TestTheAnswerAboutGroupsMustBeAboutTheSamePerson(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.GroupsApart = true
	d.Forge = func(c map[string]any) { c["sub"] = "somebody-else" }
	_, err := d.signIn(t)
	require.ErrorContains(t, err, "somebody else")
}

func TestACodeIsWorthNothingWithoutTheVerifier(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	_, err := d.signIn(t, func(trip *access.Trip) { trip.Verifier = strings.Repeat("x", 43) })
	require.EqualError(t, err, `trade the code: the provider answers 400 "invalid_grant"`)
}

func TestAProviderThatIsAwayIsAskedAgain(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.Set(func(i *issuertest.Issuer) { i.Down = true })
	for range 3 {
		_, err := d.ax.Start(t.Context(), aTrip())
		require.Equal(t, fault.KindUnavailable, fault.KindOf(err))
	}
	require.LessOrEqual(t, d.Called("/.well-known/openid-configuration"), 2, "not with every click") // net/http repeats a GET that was hung up on
	d.Set(func(i *issuertest.Issuer) { i.Down = false })
	_, err := d.ax.Start(t.Context(), aTrip())
	require.Error(t, err, "still the answer of a moment ago")
	d.at = d.at.Add(3 * time.Second)
	_, err = d.signIn(t)
	require.NoError(t, err)
	before := d.Called("/.well-known/openid-configuration")
	d.Set(func(i *issuertest.Issuer) { i.Down = true })
	d.at = d.at.Add(25 * time.Hour)
	_, err = d.ax.Start(t.Context(), aTrip())
	require.NoError(t, err, "what was known goes on")
	require.Greater(t, d.Called("/.well-known/openid-configuration"), before)
	_, err = d.ax.Finish(t.Context(), aTrip(), "a-code")
	require.Equal(t, fault.KindUnavailable, fault.KindOf(err))
}

// Whoever can't be asked says nothing: it is no forgery, and no reason to let
// the person wait.
func TestAProviderThatFailsHalfWayIsAway(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(d *desk){
		"at the keys": func(d *desk) { d.KeysAway = true },
		"at the token": func(d *desk) {
			d.Token = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }
		},
		"hanging up": func(d *desk) {
			d.Token = func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			change(d)
			_, err := d.signIn(t)
			require.Equal(t, fault.KindUnavailable, fault.KindOf(err), "%v", err)
		})
	}
}

func TestADiscoveryDocumentThatCantBeTrustedIsRefused(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(doc map[string]any){
		"of another issuer":        func(doc map[string]any) { doc["issuer"] = "https://evil.example" },
		"tokens over plain HTTP":   func(doc map[string]any) { doc["token_endpoint"] = "http://id.example.com/token" },
		"keys over plain HTTP":     func(doc map[string]any) { doc["jwks_uri"] = "http://id.example.com/keys" },
		"a page of another scheme": func(doc map[string]any) { doc["authorization_endpoint"] = "javascript:alert(1)" },
		"no token endpoint":        func(doc map[string]any) { delete(doc, "token_endpoint") },
		"an endless one":           func(doc map[string]any) { doc["x"] = strings.Repeat("x", 2<<20) },
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			d.Discovery = change
			_, err := d.ax.Start(t.Context(), aTrip())
			require.Equal(t, fault.KindUnavailable, fault.KindOf(err))
		})
	}
}

// A provider may quote what it was sent, or answer oddly; nothing of it may
// stand in the log.
func TestNoErrorOfAProviderHoldsASecret(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(d *desk){
		"it quotes the request": func(d *desk) {},
		"it fails": func(d *desk) {
			d.Token = func(w http.ResponseWriter, _ *http.Request) { http.Error(w, issuertest.ClientSecret, 500) }
		},
		"it answers with text": func(d *desk) {
			d.Token = func(w http.ResponseWriter, r *http.Request) {
				_ = r.ParseForm()
				_, _ = w.Write([]byte(issuertest.ClientSecret + r.PostForm.Encode()))
			}
		},
		"it sends on": func(d *desk) {
			d.Token = func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, "/other?"+url.Values{"s": {issuertest.ClientSecret}}.Encode(), http.StatusTemporaryRedirect)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			change(d)
			_, err := d.signIn(t, func(trip *access.Trip) { trip.Verifier = "secret-verifier-secret-verifier-secret-verifier" })
			require.Error(t, err)
			require.Zero(t, d.Called("/other"))
			said := err.Error()
			if cause := errors.Unwrap(err); cause != nil {
				said += cause.Error()
			}
			for _, secret := range []string{issuertest.ClientSecret, url.QueryEscape(issuertest.ClientSecret), "secret-verifier"} {
				require.NotContains(t, said, secret)
			}
		})
	}
}

func TestTheProxyOfTheEnvironmentIsNotUsedForTheProvider(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	t.Setenv("http_proxy", "http://127.0.0.1:1")
	d := newDesk(t)
	_, err := d.signIn(t)
	require.NoError(t, err)
}

func TestTheSecretGoesAsTheProviderTakesIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		secret  string
		methods []string
		form    bool
	}{
		"nothing said":       {"s", nil, false},
		"both":               {"s", []string{"client_secret_post", "client_secret_basic"}, false},
		"by the form only":   {"s", []string{"client_secret_post"}, true},
		"there is no secret": {"", nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, func(cfg *oidc.Config) { cfg.ClientSecret = c.secret })
			if c.methods != nil {
				d.Discovery = func(doc map[string]any) { doc["token_endpoint_auth_methods_supported"] = c.methods }
			}
			var form, header string
			tries := 0
			d.Token = func(w http.ResponseWriter, r *http.Request) {
				tries++
				form, header = r.FormValue("client_secret"), r.Header.Get("Authorization")
				http.Error(w, "{}", http.StatusBadRequest)
			}
			_, err := d.signIn(t)
			require.Error(t, err)
			require.Equal(t, c.form, header == "")
			require.Equal(t, c.form && c.secret != "", form != "")
			require.Equal(t, 1, tries, "a code is good for one try")
		})
	}
}
