package static

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"regexp"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

func get(t *testing.T, url, encoding string) *http.Response {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, url, nil)
	r.Header.Set("Accept-Encoding", encoding)
	w := httptest.NewRecorder()
	Handler().ServeHTTP(w, r)
	return w.Result()
}

func TestAnAssetIsServedUnderItsHashForAYear(t *testing.T) {
	for name, a := range assets.byName {
		url := URL(name)
		require.Regexp(t, `^/static/.+\.[0-9a-f]{12}\.[a-z0-9]+$`, url)
		res := get(t, url, "")
		require.Equal(t, http.StatusOK, res.StatusCode, name)
		require.Equal(t, "public, max-age=31536000, immutable", res.Header.Get("Cache-Control"))
		require.Equal(t, a.mime, res.Header.Get("Content-Type"))
		require.Equal(t, "nosniff", res.Header.Get("X-Content-Type-Options"))
		body, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		require.Equal(t, a.body, body)
	}
}

func TestTextIsGzippedForThoseThatTakeIt(t *testing.T) {
	res := get(t, URL("app.css"), "br, gzip")
	require.Equal(t, "gzip", res.Header.Get("Content-Encoding"))
	require.Equal(t, "Accept-Encoding", res.Header.Get("Vary"))
	r, err := gzip.NewReader(res.Body)
	require.NoError(t, err)
	plain, err := io.ReadAll(r)
	require.NoError(t, err)
	require.Equal(t, assets.byName["app.css"].body, plain)

	require.Empty(t, get(t, URL("app.css"), "gzip;q=0").Header.Get("Content-Encoding"))
	require.Empty(t, get(t, URL("app.css"), "identity").Header.Get("Content-Encoding"))
	require.Empty(t, get(t, URL("inter-latin.woff2"), "gzip").Header.Get("Content-Encoding"), "fonts are compressed already")
}

func TestUnknownNamesAreNotFoundAndNotCached(t *testing.T) {
	for _, url := range []string{"/static/", "/static/app.css", "/static/app.000000000000.css", "/static/../go.mod", "/static/vendor/htmx.min.js"} {
		res := get(t, url, "gzip")
		require.Equal(t, http.StatusNotFound, res.StatusCode, url)
		require.Equal(t, "no-store", res.Header.Get("Cache-Control"))
	}
	w := httptest.NewRecorder()
	Handler().ServeHTTP(w, httptest.NewRequest(http.MethodPost, URL("app.css"), nil))
	require.Equal(t, http.StatusMethodNotAllowed, w.Code)
}

func TestAPageWithAWrongNameIsFoundAtOnce(t *testing.T) {
	require.PanicsWithValue(t, `static: no asset "nope.css"`, func() { URL("nope.css") })
}

func TestSheetsNameTheHashedFonts(t *testing.T) {
	sheet := assets.byName["app.css"].body
	for _, font := range []string{"inter-latin.woff2", "geist-mono-latin.woff2"} {
		require.Contains(t, string(sheet), `url("`+path.Base(URL(font))+`")`)
	}
	require.NotRegexp(t, regexp.MustCompile(`url\("[a-z-]+\.woff2"\)`), string(sheet))
}

func TestLoadRefusesWhatItCannotServe(t *testing.T) {
	_, err := load(fstest.MapFS{"a.exe": {Data: []byte("x")}})
	require.ErrorContains(t, err, "no content type")
	_, err = load(fstest.MapFS{"a/x.js": {Data: []byte("x")}, "b/x.js": {Data: []byte("x")}})
	require.ErrorContains(t, err, "a second file")
}

// The whole of a first visit, without its page, fits the budget of design.md
// section 10 (250 KB gzip) with 40 KB to spare for the page.
func TestAFirstVisitStaysLight(t *testing.T) {
	total := 0
	for _, a := range assets.byName {
		if a.gzip != nil {
			total += len(a.gzip)
		} else {
			total += len(a.body)
		}
	}
	t.Logf("first visit: %d bytes", total)
	require.Less(t, total, 210_000)
}

func TestVendoredFilesAreTheOnesInTheList(t *testing.T) {
	list, err := os.ReadFile("THIRD_PARTY.md")
	require.NoError(t, err)
	entries, err := os.ReadDir("vendor")
	require.NoError(t, err)
	for _, e := range entries {
		if path.Ext(e.Name()) == ".txt" {
			continue
		}
		body, err := os.ReadFile(path.Join("vendor", e.Name()))
		require.NoError(t, err)
		sum := sha256.Sum256(body)
		require.Contains(t, string(list), "`"+e.Name()+"`")
		require.Contains(t, string(list), hex.EncodeToString(sum[:]), e.Name())
	}
}

// Scripts that build code from strings, or styles on elements, would be
// stopped by the content security policy: find them here instead.
func TestOwnScriptsKeepTheContentPolicy(t *testing.T) {
	for _, name := range []string{"app.js", "theme.js"} {
		body := assets.byName[name].body
		for _, no := range []string{"eval(", "new Function", "innerHTML", ".style", "hx-on", "javascript:"} {
			require.False(t, bytes.Contains(body, []byte(no)), "%s uses %s", name, no)
		}
	}
}
