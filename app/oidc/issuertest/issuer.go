// Package issuertest is an identity provider for tests, on loopback: it signs
// people in unasked, and can be told to sign what no provider should.
package issuertest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// What ax is registered as.
const (
	ClientID     = "ax-client"
	ClientSecret = "hush+hush/hush="
)

// Issuer is the provider. Its exported fields are set between requests.
type Issuer struct {
	URL string
	// Claims of the person who signs in; sub, preferred_username and so on.
	Claims map[string]any
	// Forge changes the claims of an ID token before it is signed.
	Forge func(claims map[string]any)
	// Sign signs in the place of the provider's key.
	Sign func(payload []byte) string
	// Token answers in the place of the token endpoint.
	Token http.HandlerFunc
	// Discovery changes the discovery document.
	Discovery func(doc map[string]any)
	// KeysAway fails whoever asks for the keys.
	KeysAway bool
	// GroupsApart leaves the groups out of the ID token: userinfo has them.
	GroupsApart bool
	// Reuse lets a code be traded more than once.
	Reuse bool
	// Down hangs up on everybody.
	Down bool

	mu     sync.Mutex
	now    func() time.Time
	key    *ecdsa.PrivateKey
	codes  map[string]url.Values // what was asked, by code
	claims map[string]map[string]any
	Calls  []string // the paths asked for
}

// New starts a provider, which ends with the test.
func New(t testing.TB, now func() time.Time) *Issuer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	i := &Issuer{now: now, key: key, codes: map[string]url.Values{}, claims: map[string]map[string]any{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", i.discovery)
	mux.HandleFunc("GET /keys", i.keys)
	mux.HandleFunc("GET /authorize", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, i.Answer(r.URL.String()), http.StatusSeeOther)
	})
	mux.HandleFunc("POST /token", i.token)
	mux.HandleFunc("GET /userinfo", i.userinfo)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i.mu.Lock()
		i.Calls = append(i.Calls, r.URL.Path)
		down := i.Down
		i.mu.Unlock()
		if down {
			panic(http.ErrAbortHandler)
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	i.URL = s.URL
	return i
}

// Set changes fields while requests may be under way.
func (i *Issuer) Set(change func(*Issuer)) {
	i.mu.Lock()
	defer i.mu.Unlock()
	change(i)
}

// Called counts the requests for a path.
func (i *Issuer) Called(path string) int {
	i.mu.Lock()
	defer i.mu.Unlock()
	n := 0
	for _, p := range i.Calls {
		if p == path {
			n++
		}
	}
	return n
}

// Answer is the address by which a browser comes back that was sent to the
// given one; the person signed in there.
func (i *Issuer) Answer(asked string) string {
	u, err := url.Parse(asked)
	if err != nil {
		return "malformed:" + err.Error()
	}
	q, code := u.Query(), random()
	i.mu.Lock()
	i.codes[code], i.claims[code] = q, maps.Clone(i.Claims)
	i.mu.Unlock()
	return q.Get("redirect_uri") + "?" + url.Values{"code": {code}, "state": {q.Get("state")}}.Encode()
}

func random() string { return rand.Text() }

func (i *Issuer) discovery(w http.ResponseWriter, _ *http.Request) {
	doc := map[string]any{
		"issuer": i.URL, "authorization_endpoint": i.URL + "/authorize", "token_endpoint": i.URL + "/token",
		"jwks_uri": i.URL + "/keys", "userinfo_endpoint": i.URL + "/userinfo", "response_types_supported": []string{"code"},
		"id_token_signing_alg_values_supported": []string{"ES256", "HS256", "none"},
	}
	if i.Discovery != nil {
		i.Discovery(doc)
	}
	answer(w, http.StatusOK, doc)
}

func (i *Issuer) keys(w http.ResponseWriter, _ *http.Request) {
	if i.KeysAway {
		http.Error(w, "not now", http.StatusBadGateway)
		return
	}
	answer(w, http.StatusOK, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: i.key.Public(), KeyID: "k1", Algorithm: "ES256", Use: "sig"}}})
}

// refuse quotes what it got, as a careless provider does.
func refuse(w http.ResponseWriter, r *http.Request, why string) {
	id, secret, _ := r.BasicAuth()
	answer(w, http.StatusBadRequest, map[string]any{
		"error": "invalid_grant", "error_description": why + ": " + id + " " + secret + " " + r.PostForm.Encode(),
	})
}

func (i *Issuer) token(w http.ResponseWriter, r *http.Request) {
	if i.Token != nil {
		i.Token(w, r)
		return
	}
	_ = r.ParseForm()
	code := r.PostForm.Get("code")
	i.mu.Lock()
	asked, claims := i.codes[code], i.claims[code]
	if !i.Reuse {
		delete(i.codes, code)
	}
	i.mu.Unlock()
	id, secret, _ := r.BasicAuth()
	decoded, _ := url.QueryUnescape(secret)
	sum := sha256.Sum256([]byte(r.PostForm.Get("code_verifier")))
	switch {
	case asked == nil:
		refuse(w, r, "no such code")
	case id != ClientID || decoded != ClientSecret:
		refuse(w, r, "another client")
	case asked.Get("code_challenge_method") != "S256" || base64.RawURLEncoding.EncodeToString(sum[:]) != asked.Get("code_challenge"):
		refuse(w, r, "the verifier is another")
	case r.PostForm.Get("redirect_uri") != asked.Get("redirect_uri"):
		refuse(w, r, "another way back")
	default:
		answer(w, http.StatusOK, map[string]any{
			"access_token": "access-" + code, "token_type": "Bearer", "expires_in": 300, "id_token": i.idToken(claims, asked.Get("nonce")),
		})
	}
}

func (i *Issuer) idToken(claims map[string]any, nonce string) string {
	all := map[string]any{
		"iss": i.URL, "aud": ClientID, "nonce": nonce, "iat": i.now().Unix(), "exp": i.now().Add(5 * time.Minute).Unix(),
	}
	maps.Copy(all, claims)
	if i.GroupsApart {
		delete(all, "groups")
	}
	if i.Forge != nil {
		i.Forge(all)
	}
	payload, _ := json.Marshal(all)
	if i.Sign != nil {
		return i.Sign(payload)
	}
	return i.SignWith(jose.ES256, i.key, payload)
}

// SignWith signs with any key; kid is that of the provider's.
func (i *Issuer) SignWith(alg jose.SignatureAlgorithm, key any, payload []byte) string {
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: key}, (&jose.SignerOptions{}).WithHeader("kid", "k1"))
	if err != nil {
		return fmt.Sprint(err)
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		return fmt.Sprint(err)
	}
	compact, _ := signed.CompactSerialize()
	return compact
}

// PublicKey is the one that the provider publishes, as JSON: what everybody
// knows.
func (i *Issuer) PublicKey() []byte {
	raw, _ := jose.JSONWebKey{Key: i.key.Public(), KeyID: "k1", Algorithm: "ES256"}.MarshalJSON()
	return raw
}

// Unsigned is a token of the algorithm none.
func Unsigned(payload []byte) string {
	part := base64.RawURLEncoding.EncodeToString
	return part([]byte(`{"alg":"none","kid":"k1"}`)) + "." + part(payload) + "."
}

func (i *Issuer) userinfo(w http.ResponseWriter, r *http.Request) {
	code, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer access-")
	i.mu.Lock()
	claims := i.claims[code]
	i.mu.Unlock()
	if !ok || claims == nil {
		answer(w, http.StatusUnauthorized, map[string]any{"error": "invalid_token", "got": r.Header.Get("Authorization")})
		return
	}
	answer(w, http.StatusOK, claims)
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}
