package main

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/oidc/issuertest"
)

// The whole way over HTTP: configuration, wiring, cookies, redirects. The
// provider is away when ax starts.
func TestSomebodyComesInThroughTheProviderOfTheConfiguration(t *testing.T) {
	t.Parallel()
	issuer := issuertest.New(t, time.Now)
	issuer.Claims = map[string]any{"sub": "s-1", "preferred_username": "lin", "groups": []string{"cn=ops"}}
	issuer.Set(func(i *issuertest.Issuer) { i.Down = true })
	a := newAx(t, plainAx.build(t), "AX_OIDC_ISSUER="+issuer.URL, "AX_OIDC_CLIENT_ID="+issuertest.ClientID, "AX_OIDC_CLIENT_SECRET="+issuertest.ClientSecret,
		"AX_OIDC_NAME=Example Corp", "AX_OIDC_GROUPS=leads = default:owner, cn=ops = default:viewer", "AX_OIDC_SCOPES=openid")
	a.env = append(a.env, "AX_HTTP_EXTERNAL_URL=http://"+a.addr)
	a.prepare()
	a.say("a good long password\n", "user", "create", "--login", "boss", "--admin", "--password-stdin")
	a.start()

	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	browser := &http.Client{Jar: jar, Timeout: 20 * time.Second}
	visit := func(path string) (*url.URL, int, string) {
		res, err := browser.Get("http://" + a.addr + path)
		require.NoError(t, err)
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		return res.Request.URL, res.StatusCode, string(body)
	}
	_, status, page := visit("/login/oidc?next=/account")
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.True(t, strings.Contains(page, "Sign in with Example Corp"))

	issuer.Set(func(i *issuertest.Issuer) { i.Down = false })
	require.Eventually(t, func() bool {
		at, status, page := visit("/login/oidc?next=/account")
		return at.String() == "http://"+a.addr+"/account" && status == http.StatusOK && strings.Contains(page, "You sign in through Example Corp")
	}, 20*time.Second, 200*time.Millisecond, "%s", &a.log)
	require.NotContains(t, a.log.String(), issuertest.ClientSecret)
	a.verify()
}
