//go:build slow

package main

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/stretchr/testify/require"
)

// reader is somebody who reads pages.
type reader struct {
	t    *testing.T
	base string
	http http.Client
}

func (a *ax) signedIn() *reader {
	a.t.Helper()
	const pass = "a long enough password"
	a.say(pass, "user", "create", "--login", "ada", "--name", "Ada", "--admin", "--password-stdin")
	jar, err := cookiejar.New(nil)
	require.NoError(a.t, err)
	r := &reader{t: a.t, base: "http://" + a.addr, http: http.Client{Jar: jar}}
	resp, err := r.http.PostForm(r.base+"/login", url.Values{"login": {"ada"}, "password": {pass}})
	require.NoError(a.t, err)
	require.NoError(a.t, resp.Body.Close())
	require.Equal(a.t, http.StatusOK, resp.StatusCode)
	return r
}

func (r *reader) page(path string) *goquery.Document {
	r.t.Helper()
	resp, err := r.http.Get(r.base + path)
	require.NoError(r.t, err)
	defer resp.Body.Close()
	require.Equal(r.t, http.StatusOK, resp.StatusCode)
	doc, err := goquery.NewDocumentFromReader(resp.Body)
	require.NoError(r.t, err)
	return doc
}
