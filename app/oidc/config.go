package oidc

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"ax/app/access"
)

// Config is the section oidc of the configuration. It is off while Issuer is
// empty.
type Config struct {
	Issuer       string   `yaml:"issuer"` // as the provider's discovery document names it, to the letter
	ClientID     string   `yaml:"client_id"`
	ClientSecret string   `yaml:"client_secret" mask:"whole"` // "": a public client, by PKCE alone
	Name         string   `yaml:"name"`                       // on the button; "": the issuer's host
	Scopes       []string `yaml:"scopes"`
	GroupsClaim  string   `yaml:"groups_claim"`
	Groups       []string `yaml:"groups"` // see access.ParseGrant
}

// On tells whether people can sign in through a provider.
func (c Config) On() bool { return c.Issuer != "" }

// maxName bounds the name on the button, in characters.
const maxName = 60

// Check says what is wrong with each key. ExternalURL is http.external_url:
// the provider sends people back there, so it can't be guessed from a request.
func (c Config) Check(externalURL string, check func(key string, ok bool, format string, args ...any)) {
	if !c.On() {
		check("oidc.issuer", c.ClientID == "" && c.ClientSecret == "" && len(c.Groups) == 0, "it is missing, and other keys of oidc are set")
		return
	}
	check("oidc.issuer", goodIssuer(c.Issuer), "an https address without user, query or fragment (http on loopback only); this is %q", c.Issuer)
	check("http.external_url", externalURL != "", "oidc needs it: the provider sends people back there")
	check("oidc.client_id", c.ClientID != "", "it is what the provider calls ax, and is needed")
	check("oidc.name", utf8.RuneCountInString(c.Name) <= maxName, "at most %d characters", maxName)
	check("oidc.scopes", slices.Contains(c.Scopes, "openid"), "openid must be one of them")
	for _, s := range c.Scopes {
		check("oidc.scopes", !strings.ContainsAny(s, " \t\""), "words without spaces; this is %q", s)
	}
	check("oidc.groups_claim", c.GroupsClaim != "", "the name of the claim that lists a person's groups")
	check("oidc.groups", len(c.Groups) > 0, "at least one group is needed, or nobody could sign in")
	for _, text := range c.Groups {
		_, err := access.ParseGrant(text)
		check("oidc.groups", err == nil, "%v", err)
	}
}

// grants are the groups; Check has parsed them once.
func (c Config) grants() []access.Grant {
	out := make([]access.Grant, 0, len(c.Groups))
	for _, text := range c.Groups {
		if g, err := access.ParseGrant(text); err == nil {
			out = append(out, g)
		}
	}
	return out
}

// name on the button.
func (c Config) name() string {
	if c.Name != "" {
		return c.Name
	}
	if u, err := url.Parse(c.Issuer); err == nil {
		return u.Host
	}
	return c.Issuer
}

func goodIssuer(raw string) bool {
	u, err := url.Parse(raw)
	return err == nil && u.User == nil && u.RawQuery == "" && !u.ForceQuery && !strings.Contains(raw, "#") && encrypted(u)
}

// encrypted tells whether what goes to the address can't be read on the way:
// https, or this very machine.
func encrypted(u *url.URL) bool {
	switch {
	case u.Host == "":
		return false
	case u.Scheme == "https":
		return true
	}
	host := u.Hostname()
	ip, err := netip.ParseAddr(host)
	return u.Scheme == "http" && (host == "localhost" || err == nil && ip.IsLoopback())
}

// isEncrypted is encrypted for what a discovery document says.
func isEncrypted(raw string) bool {
	u, err := url.Parse(raw)
	return err == nil && u.User == nil && encrypted(u)
}
