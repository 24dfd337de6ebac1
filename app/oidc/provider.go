// Package oidc signs people in through their company's identity provider, by
// OpenID Connect's code flow with PKCE. It is the one home of its libraries:
// what the provider says comes out as an access.Assertion, and what that is
// worth in ax is the business of app/access.
package oidc

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	gooidc "github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"ax/app/access"
	"ax/app/fault"
)

// How long what is known of the provider is gone by.
const (
	rediscover = 24 * time.Hour
	tryAgain   = 2 * time.Second // after a failure: not with every click
)

// Provider is the identity provider of the configuration. It is asked who it
// is when somebody first signs in, and again after a failure: ax starts
// without it.
type Provider struct {
	cfg    Config
	back   string // where people come back to
	client *http.Client
	now    func() time.Time

	turn   chan struct{} // one looks it up; the others wait
	known  *endpoints
	failed error
	at     time.Time // of the last look
}

// endpoints are what the provider says of itself.
type endpoints struct {
	oauth    oauth2.Config
	verifier *gooidc.IDTokenVerifier
	provider *gooidc.Provider
}

// New makes the provider of a checked configuration. CallbackURL is where
// people come back to.
func New(cfg Config, callbackURL string, now func() time.Time) *Provider {
	return &Provider{cfg: cfg, back: callbackURL, client: newClient(), now: now, turn: make(chan struct{}, 1)}
}

// Name is what people call the provider.
func (p *Provider) Name() string { return p.cfg.name() }

// Issuer is the name that it has in tokens.
func (p *Provider) Issuer() string { return p.cfg.Issuer }

// Grants say what its groups mean in ax.
func (p *Provider) Grants() []access.Grant { return p.cfg.grants() }

// Start gives the address to send the browser to.
// Faults: Unavailable (the provider can't be reached).
func (p *Provider) Start(ctx context.Context, t access.Trip) (string, error) {
	e, err := p.endpoints(ctx)
	if err != nil {
		return "", err
	}
	return e.oauth.AuthCodeURL(t.State, gooidc.Nonce(t.Nonce), oauth2.S256ChallengeOption(t.Verifier)), nil
}

// Finish trades the code of the answer for what the provider says of the
// person. Faults: Unavailable. Any other error is an answer that can't be
// believed; it holds no secret and is for the log.
func (p *Provider) Finish(ctx context.Context, t access.Trip, code string) (access.Assertion, error) {
	e, err := p.endpoints(ctx)
	if err != nil {
		return access.Assertion{}, err
	}
	ctx = gooidc.ClientContext(ctx, p.client)
	secrets := []string{p.cfg.ClientSecret, code, t.Verifier}
	token, err := e.oauth.Exchange(ctx, code, oauth2.VerifierOption(t.Verifier))
	if err != nil {
		return access.Assertion{}, p.problem(ctx, "trade the code", told(err), secrets)
	}
	raw, _ := token.Extra("id_token").(string)
	secrets = append(secrets, token.AccessToken, token.RefreshToken, raw)
	id, err := verify(ctx, e.verifier, raw)
	if err == nil {
		err = p.rest(id, t, token.AccessToken)
	}
	if err != nil {
		return access.Assertion{}, p.problem(ctx, "check the ID token", err, secrets)
	}
	said, err := p.assertion(ctx, e, id, token)
	if err != nil {
		return access.Assertion{}, p.problem(ctx, "read the claims", err, secrets)
	}
	return said, nil
}

// keySet remembers why a signature could not be checked: the library keeps of
// that no more than the words, and keys that can't be had are no forgery.
type keySet struct{ gooidc.KeySet }

type keySetFailed struct{}

// VerifySignature gives the payload.
func (k keySet) VerifySignature(ctx context.Context, jwt string) ([]byte, error) {
	payload, err := k.KeySet.VerifySignature(ctx, jwt)
	if failed, ok := ctx.Value(keySetFailed{}).(*error); ok {
		*failed = err
	}
	return payload, err
}

func verify(ctx context.Context, v *gooidc.IDTokenVerifier, raw string) (*gooidc.IDToken, error) {
	var failed error
	id, err := v.Verify(context.WithValue(ctx, keySetFailed{}, &failed), raw)
	if err != nil && failed != nil {
		err = failed
	}
	return id, err
}

// rest checks what the library leaves to its caller.
func (p *Provider) rest(id *gooidc.IDToken, t access.Trip, accessToken string) error {
	var c struct {
		Party string `json:"azp"`
	}
	if err := id.Claims(&c); err != nil {
		return err
	}
	switch {
	case t.Nonce == "" || subtle.ConstantTimeCompare([]byte(id.Nonce), []byte(t.Nonce)) != 1:
		return errors.New("the nonce is another")
	case c.Party != "" && c.Party != p.cfg.ClientID, c.Party == "" && len(id.Audience) > 1:
		return errors.New("it was made for another party")
	case id.Subject == "":
		return errors.New("it names no subject")
	case id.AccessTokenHash != "":
		return id.VerifyAccessToken(accessToken)
	}
	return nil
}

// told keeps of a refused trade what the standard says: a provider may quote
// the secret in the rest.
func told(err error) error {
	r, ok := errors.AsType[*oauth2.RetrieveError](err)
	if !ok {
		return err
	}
	status := 0
	if r.Response != nil {
		status = r.Response.StatusCode
	}
	return fmt.Errorf("the provider answers %d %q", status, r.ErrorCode)
}

func (p *Provider) problem(ctx context.Context, what string, err error, secrets []string) error {
	gone := away(ctx, err)
	err = fmt.Errorf("%s: %w", what, scrubbed(err, secrets...))
	if gone {
		return p.unavailable(err)
	}
	return err
}

func (p *Provider) unavailable(cause error) error {
	return fault.Unavailable(cause, "%s can't be reached. Try again in a moment", p.Name())
}

// algorithms are the signatures that are believed: by a key that only the
// provider has. None and those by a shared secret are not among them.
func algorithms() []string {
	return []string{
		gooidc.RS256, gooidc.RS384, gooidc.RS512, gooidc.PS256, gooidc.PS384, gooidc.PS512,
		gooidc.ES256, gooidc.ES384, gooidc.ES512, gooidc.EdDSA,
	}
}

// endpoints gives what the provider says of itself, asked when it is not
// known, or was long ago.
func (p *Provider) endpoints(ctx context.Context) (*endpoints, error) {
	select {
	case p.turn <- struct{}{}:
		defer func() { <-p.turn }()
	case <-ctx.Done():
		return nil, p.unavailable(ctx.Err())
	}
	age := p.now().Sub(p.at).Abs()
	switch {
	case p.known != nil && age < rediscover:
		return p.known, nil
	case p.failed != nil && age < tryAgain:
		return nil, p.unavailable(p.failed)
	}
	found, err := p.discover(ctx)
	if ctx.Err() == nil || err == nil { // that somebody left says nothing of the provider
		p.at = p.now()
	}
	if err == nil {
		p.known, p.failed = found, nil
		return found, nil
	}
	if p.known != nil { // better old than none
		return p.known, nil
	}
	p.failed = scrubbed(err)
	return nil, p.unavailable(p.failed)
}

func (p *Provider) discover(ctx context.Context) (*endpoints, error) {
	found, err := gooidc.NewProvider(gooidc.ClientContext(ctx, p.client), p.cfg.Issuer)
	if err != nil {
		return nil, fmt.Errorf("ask %s who it is: %w", p.cfg.Issuer, err)
	}
	var said struct {
		Keys    string   `json:"jwks_uri"`
		Methods []string `json:"token_endpoint_auth_methods_supported"`
	}
	if err := found.Claims(&said); err != nil {
		return nil, fmt.Errorf("read what %s says of itself: %w", p.cfg.Issuer, err)
	}
	at := found.Endpoint()
	at.AuthStyle = authStyle(p.cfg.ClientSecret, said.Methods)
	for _, address := range []string{at.AuthURL, at.TokenURL, said.Keys} {
		if !isEncrypted(address) {
			return nil, fmt.Errorf("%s names the address %q, which is not https", p.cfg.Issuer, address)
		}
	}
	return &endpoints{
		provider: found,
		oauth: oauth2.Config{
			ClientID: p.cfg.ClientID, ClientSecret: p.cfg.ClientSecret, Endpoint: at, RedirectURL: p.back, Scopes: p.cfg.Scopes,
		},
		verifier: gooidc.NewVerifier(p.cfg.Issuer,
			keySet{gooidc.NewRemoteKeySet(gooidc.ClientContext(context.Background(), p.client), said.Keys)},
			&gooidc.Config{ClientID: p.cfg.ClientID, SupportedSigningAlgs: algorithms(), Now: p.now}),
	}, nil
}

// authStyle is how ax shows its secret: by the header, which is the standard's
// default, unless the provider takes the form only. The library would try
// both, and a code is good for one try.
func authStyle(secret string, methods []string) oauth2.AuthStyle {
	if secret == "" || len(methods) > 0 && !slices.Contains(methods, "client_secret_basic") {
		return oauth2.AuthStyleInParams
	}
	return oauth2.AuthStyleInHeader
}

// assertion reads the claims; groups that aren't in the ID token are asked
// for at the userinfo endpoint.
func (p *Provider) assertion(ctx context.Context, e *endpoints, id *gooidc.IDToken, token *oauth2.Token) (access.Assertion, error) {
	claims := map[string]any{}
	if err := id.Claims(&claims); err != nil {
		return access.Assertion{}, err
	}
	if _, ok := claims[p.cfg.GroupsClaim]; !ok && e.provider.UserInfoEndpoint() != "" {
		info, err := e.provider.UserInfo(ctx, oauth2.StaticTokenSource(token))
		if err != nil {
			return access.Assertion{}, fmt.Errorf("ask for the groups: %w", err)
		}
		more := map[string]any{}
		if err := info.Claims(&more); err != nil {
			return access.Assertion{}, err
		}
		if info.Subject != id.Subject {
			return access.Assertion{}, errors.New("the answer about the groups is about somebody else")
		}
		for name, v := range more {
			if _, ok := claims[name]; !ok {
				claims[name] = v
			}
		}
	}
	return access.Assertion{
		ProviderID: access.ProviderID{Issuer: p.cfg.Issuer, Subject: id.Subject},
		Login:      text(claims["preferred_username"]), Email: text(claims["email"]), Name: text(claims["name"]),
		Groups: words(claims[p.cfg.GroupsClaim]),
	}, nil
}

func text(v any) string { s, _ := v.(string); return strings.TrimSpace(s) }

// words reads a list of words, or one word.
func words(v any) []string {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		var out []string
		for _, one := range v {
			if s, ok := one.(string); ok {
				out = append(out, s)
			}
		}
		return out
	}
	return nil
}
