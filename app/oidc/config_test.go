package oidc_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"ax/app/oidc"
)

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	return key
}

func TestWhatIsWrongWithTheSectionIsNamed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change   func(*oidc.Config)
		external string
		key      string // "": all is well
	}{
		"all is well":              {nil, "https://ax", ""},
		"off":                      {func(c *oidc.Config) { *c = oidc.Config{} }, "", ""},
		"off, and half set":        {func(c *oidc.Config) { c.Issuer = "" }, "https://ax", "oidc.issuer"},
		"plain HTTP":               {func(c *oidc.Config) { c.Issuer = "http://id.example.com" }, "https://ax", "oidc.issuer"},
		"plain HTTP on loopback":   {func(c *oidc.Config) { c.Issuer = "http://127.0.0.1:5556/dex" }, "https://ax", ""},
		"plain HTTP on localhost":  {func(c *oidc.Config) { c.Issuer = "http://localhost:5556" }, "https://ax", ""},
		"a name like loopback":     {func(c *oidc.Config) { c.Issuer = "http://127.0.0.1.example.com" }, "https://ax", "oidc.issuer"},
		"a user in the issuer":     {func(c *oidc.Config) { c.Issuer = "https://u:p@id.example.com" }, "https://ax", "oidc.issuer"},
		"a query in the issuer":    {func(c *oidc.Config) { c.Issuer = "https://id.example.com?a=b" }, "https://ax", "oidc.issuer"},
		"no scheme":                {func(c *oidc.Config) { c.Issuer = "id.example.com" }, "https://ax", "oidc.issuer"},
		"no client":                {func(c *oidc.Config) { c.ClientID = "" }, "https://ax", "oidc.client_id"},
		"no external address":      {nil, "", "http.external_url"},
		"no openid":                {func(c *oidc.Config) { c.Scopes = []string{"profile"} }, "https://ax", "oidc.scopes"},
		"two scopes in one":        {func(c *oidc.Config) { c.Scopes = []string{"openid", "a b"} }, "https://ax", "oidc.scopes"},
		"no claim":                 {func(c *oidc.Config) { c.GroupsClaim = "" }, "https://ax", "oidc.groups_claim"},
		"nobody could come in":     {func(c *oidc.Config) { c.Groups = nil }, "https://ax", "oidc.groups"},
		"a group that gives what?": {func(c *oidc.Config) { c.Groups = []string{"ops = everything"} }, "https://ax", "oidc.groups"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := oidc.Config{Issuer: "https://id.example.com", ClientID: "ax", ClientSecret: "hush", Scopes: []string{"openid"}, GroupsClaim: "groups", Groups: []string{"ops = payments:operator"}}
			if c.change != nil {
				c.change(&cfg)
			}
			bad := map[string]string{}
			cfg.Check(c.external, func(key string, ok bool, format string, args ...any) {
				if !ok {
					bad[key] = fmt.Sprintf(format, args...)
				}
			})
			if c.key == "" {
				require.Empty(t, bad)
				return
			}
			require.Contains(t, bad, c.key)
			require.NotContains(t, bad[c.key], "hush")
		})
	}
}
