// Package static holds everything a browser loads beside the pages: the
// style sheets, the few scripts, the fonts and the mark. All of it is
// embedded, so that ax stays one file and asks no other host for anything.
//
// Every file is served under a name that carries the hash of its content,
// so that it may be kept for a year and a new build is seen at once.
//
// It imports nothing of ax.
package static

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"
)

// Prefix is the path under which Handler must be mounted.
const Prefix = "/static/"

//go:embed app.css app.js theme.js mark.svg vendor/*.css vendor/*.js vendor/*.woff2
var files embed.FS

// The table of assets is made once at start and never changed after.
var assets = mustLoad(files)

// asset is one file as it goes over the wire.
type asset struct {
	hashed string // "app.0f3a….css"
	mime   string
	body   []byte
	gzip   []byte // nil when it would not be smaller
}

// set is all assets, by their own and by their hashed name.
type set struct {
	byName map[string]*asset
	byHash map[string]*asset
}

// URL is the address of an asset, such as "/static/app.0f3a….css" for
// "app.css". It panics for a name that isn't embedded: that is a typing
// error in a page, found by the first test that renders it.
func URL(name string) string {
	a, ok := assets.byName[name]
	if !ok {
		panic("static: no asset " + strconv.Quote(name))
	}
	return Prefix + a.hashed
}

// Handler serves the assets under Prefix: cached for a year and never asked
// for again, gzipped for those that take it. Any other name, a hash of an
// older build too, is 404 and not cached.
func Handler() http.Handler {
	return http.HandlerFunc(assets.serve)
}

func (s set) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
		return
	}
	a, ok := s.byHash[strings.TrimPrefix(r.URL.Path, Prefix)]
	if !ok {
		h.Set("Cache-Control", "no-store")
		http.Error(w, "no such file", http.StatusNotFound)
		return
	}
	body := a.body
	if a.gzip != nil {
		h.Set("Vary", "Accept-Encoding")
		if takesGzip(r.Header.Get("Accept-Encoding")) {
			h.Set("Content-Encoding", "gzip")
			body = a.gzip
		}
	}
	h.Set("Content-Type", a.mime)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	if r.Method == http.MethodGet {
		_, _ = w.Write(body) // the client has gone: nobody to tell
	}
}

// takesGzip reads Accept-Encoding as far as it matters here: gzip named and
// not refused by q=0.
func takesGzip(header string) bool {
	for part := range strings.SplitSeq(header, ",") {
		name, params, _ := strings.Cut(strings.TrimSpace(part), ";")
		if !strings.EqualFold(strings.TrimSpace(name), "gzip") {
			continue
		}
		q := strings.ReplaceAll(params, " ", "")
		return q != "q=0" && !strings.HasPrefix(q, "q=0.0")
	}
	return false
}

func mustLoad(fsys fs.FS) set {
	s, err := load(fsys)
	if err != nil {
		panic("static: " + err.Error())
	}
	return s
}

// load reads all files. Style sheets come last, because the addresses of
// fonts inside them are replaced by the hashed ones.
func load(fsys fs.FS) (set, error) {
	s := set{byName: map[string]*asset{}, byHash: map[string]*asset{}}
	var sheets []string
	err := fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || d.IsDir():
			return err
		case path.Ext(p) == ".css":
			sheets = append(sheets, p)
			return nil
		}
		return s.add(fsys, p)
	})
	if err != nil {
		return set{}, err
	}
	for _, p := range sheets {
		if err := s.add(fsys, p); err != nil {
			return set{}, err
		}
	}
	return s, nil
}

func (s set) add(fsys fs.FS, p string) error {
	body, err := fs.ReadFile(fsys, p)
	if err != nil {
		return fmt.Errorf("read %s: %w", p, err)
	}
	name, ext := path.Base(p), path.Ext(p)
	mime, ok := map[string]string{
		".css":   "text/css; charset=utf-8",
		".js":    "text/javascript; charset=utf-8",
		".svg":   "image/svg+xml",
		".woff2": "font/woff2",
	}[ext]
	if !ok {
		return fmt.Errorf("%s: no content type known for %q", p, ext)
	}
	if _, twice := s.byName[name]; twice {
		return fmt.Errorf("%s: a second file of this name", p)
	}
	if ext == ".css" {
		body = s.withHashedURLs(body)
	}
	sum := sha256.Sum256(body)
	a := &asset{mime: mime, body: body,
		hashed: strings.TrimSuffix(name, ext) + "." + hex.EncodeToString(sum[:6]) + ext}
	if a.gzip, err = squeeze(body); err != nil {
		return fmt.Errorf("gzip %s: %w", p, err)
	}
	s.byName[name], s.byHash[a.hashed] = a, a
	return nil
}

// withHashedURLs replaces url("name") in a sheet by the name that is served.
func (s set) withHashedURLs(sheet []byte) []byte {
	for name, a := range s.byName {
		sheet = bytes.ReplaceAll(sheet, []byte(`url("`+name+`")`), []byte(`url("`+a.hashed+`")`))
	}
	return sheet
}

// squeeze returns nil for what doesn't get smaller, such as fonts.
func squeeze(body []byte) ([]byte, error) {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(body); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	if out.Len() > len(body)*9/10 {
		return nil, nil
	}
	return out.Bytes(), nil
}
