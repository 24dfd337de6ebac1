package app_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"

	"github.com/PuerkitoBio/goquery"
	"github.com/stretchr/testify/require"
)

// client is a browser: it keeps cookies and follows nothing.
type client struct {
	h       *house
	cookies map[string]*http.Cookie
	headers map[string]string
	address string
}

func (h *house) browser() *client {
	return &client{h: h, cookies: map[string]*http.Cookie{}, headers: map[string]string{}, address: "192.0.2.1:4711"}
}

// with is the same browser with other headers, as name, value, …
func (c *client) with(headers ...string) *client {
	out := *c
	out.headers = map[string]string{}
	for k, v := range c.headers {
		out.headers[k] = v
	}
	for i := 0; i+1 < len(headers); i += 2 {
		out.headers[headers[i]] = headers[i+1]
	}
	return &out
}

// htmx asks for pieces, from the page at the path.
func (c *client) htmx(page string) *client {
	return c.with("HX-Request", "true", "HX-Request-Type", "partial", "HX-Current-URL", "http://example.com"+page)
}

// bearer is a program with an API token: no cookies.
func (h *house) bearer(secret string) *client {
	return h.browser().with("Authorization", "Bearer "+secret)
}

func (c *client) get(path string) *answer { return c.do(http.MethodGet, path, "", nil) }

// post sends a form of name, value, …
func (c *client) post(path string, fields ...string) *answer {
	form := url.Values{}
	for i := 0; i+1 < len(fields); i += 2 {
		form.Add(fields[i], fields[i+1])
	}
	return c.do(http.MethodPost, path, "application/x-www-form-urlencoded", strings.NewReader(form.Encode()))
}

// json sends a value, or a text as it is.
func (c *client) json(method, path string, body any) *answer {
	c.h.t.Helper()
	if s, ok := body.(string); ok {
		return c.do(method, path, "application/json", strings.NewReader(s))
	}
	raw, err := json.Marshal(body)
	require.NoError(c.h.t, err)
	return c.do(method, path, "application/json", bytes.NewReader(raw))
}

func (c *client) do(method, path, contentType string, body io.Reader) *answer {
	c.h.t.Helper()
	r := httptest.NewRequest(method, path, body)
	r.RemoteAddr = c.address
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	for k, v := range c.headers {
		r.Header.Set(k, v)
	}
	for _, k := range c.cookies {
		r.AddCookie(k)
	}
	return c.send(r)
}

func (c *client) send(r *http.Request) *answer {
	c.h.t.Helper()
	w := httptest.NewRecorder()
	c.h.handler.ServeHTTP(w, r)
	res := w.Result()
	for _, k := range res.Cookies() {
		if k.MaxAge < 0 {
			delete(c.cookies, k.Name)
		} else {
			c.cookies[k.Name] = k
		}
	}
	return &answer{h: c.h, status: res.StatusCode, header: res.Header, cookies: res.Cookies(), body: w.Body.String()}
}

// answer is what came back.
type answer struct {
	h       *house
	status  int
	header  http.Header
	cookies []*http.Cookie
	body    string
	parsed  *goquery.Document
}

// doc is the body as HTML.
func (a *answer) doc() *goquery.Document {
	a.h.t.Helper()
	if a.parsed == nil {
		d, err := goquery.NewDocumentFromReader(strings.NewReader(a.body))
		require.NoError(a.h.t, err)
		a.parsed = d
	}
	return a.parsed
}

// says tells whether the page has the words. (require.Contains would print the
// whole page.)
func (a *answer) says(words string) bool {
	return strings.Contains(strings.Join(strings.Fields(a.doc().Text()), " "), words)
}

// text is that of the first element found, its white space folded; "" if
// there is none.
func (a *answer) text(selector string) string {
	return strings.Join(strings.Fields(a.doc().Find(selector).First().Text()), " ")
}

// texts are those of all elements found.
func (a *answer) texts(selector string) []string {
	var out []string
	a.doc().Find(selector).Each(func(_ int, s *goquery.Selection) {
		out = append(out, strings.Join(strings.Fields(s.Text()), " "))
	})
	return out
}

// has tells whether an element is there.
func (a *answer) has(selector string) bool { return a.doc().Find(selector).Length() > 0 }

// attr is the first element's attribute.
func (a *answer) attr(selector, name string) string {
	return a.doc().Find(selector).First().AttrOr(name, "")
}

// value is what a form's field shows.
func (a *answer) value(field string) string {
	f := a.doc().Find(`[name="` + field + `"]`).First()
	switch {
	case f.Is("textarea"):
		return f.Text()
	case f.Is("select"):
		return f.Find("option[selected]").AttrOr("value", "")
	}
	return f.AttrOr("value", "")
}

// location is where the answer sends the browser, by 303 or by htmx.
func (a *answer) location() string {
	if to := a.header.Get("HX-Redirect"); to != "" {
		return to
	}
	return a.header.Get("Location")
}

// toast is what htmx is told to say.
func (a *answer) toast() string {
	var said map[string]struct{ Text, Detail, Kind string }
	if raw := a.header.Get("HX-Trigger"); raw != "" {
		require.NoError(a.h.t, json.Unmarshal([]byte(raw), &said))
	}
	return said["ax:toast"].Text
}

// into decodes JSON.
func (a *answer) into(out any) {
	a.h.t.Helper()
	require.NoError(a.h.t, json.Unmarshal([]byte(a.body), out), a.body)
}

// cookie set by the answer, or nil.
func (a *answer) cookie(name string) *http.Cookie {
	for _, k := range a.cookies {
		if k.Name == name {
			return k
		}
	}
	return nil
}
