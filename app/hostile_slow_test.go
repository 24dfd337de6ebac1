//go:build slow

package app_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	cd "github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/calendar"
	"ax/app/sched"
)

// payloads try to become script, markup, an address, an attribute, a template,
// a header line or a formula, and to break the page's layout.
var payloads = []string{
	`<script>window.owned=1</script>`,
	`"><img src=x onerror=window.owned=1>`,
	`' onfocus=window.owned=1 autofocus tabindex=1 x='`,
	`javascript:window.owned=1`,
	`</textarea></title></pre></script><svg onload=window.owned=1>`,
	`{{constructor.constructor('window.owned=1')()}}${window.owned=1}`,
	`<a hx-get=/logout hx-trigger=load hx-on:click=window.owned=1>x</a>`,
	`=HYPERLINK("http://evil.example/","x")`,
	strings.Repeat("w", 100),
	"\u202egnp.exe\u202c 支付 \U0001F469\u200d\U0001F4BB",
}

// hostileHouse has a payload in every field that takes text.
func hostileHouse(t *testing.T) *house {
	t.Helper()
	h := newHouse(t)
	h.as("owner")
	for i, p := range payloads {
		code := fmt.Sprintf("odd.%d", i)
		quoted, err := json.Marshal(map[string]string{"text": p, p: p})
		require.NoError(t, err)
		h.calendarOf(code, p)
		h.task(code, func(s *sched.TaskSpec) {
			s.Name, s.Group, s.Owner, s.Note, s.Payload = p, cut(p, 64), cut(p, 64), p, quoted
			s.Tags = []string{cut(strings.NewReplacer(",", "", " ", "").Replace(p), 32)}
			s.Target.Headers = map[string]string{"X-Odd": strings.NewReplacer("{{", "{", "}}", "}").Replace(p)}
			s.Target.URL = "https://target.example.com/" + url.PathEscape(p) + "?q=" + url.QueryEscape(p)
		})
		l := h.letter(code, bizOf(p), p)
		cause := cut(p, 64)
		_, err = h.opt.Letters.Edit(t.Context(), root, l.ID, sched.LetterEdit{Solution: &p, Cause: &cause})
		require.NoError(t, err)
		_, err = h.opt.Teams.Create(t.Context(), root, access.NewTeam{Code: fmt.Sprintf("odd-%d", i), Name: p})
		require.NoError(t, err)
		_, _, err = h.opt.Tokens.Create(t.Context(), root, access.NewToken{TeamID: h.team.ID, Name: p, Role: access.Viewer})
		require.NoError(t, err)
		_, _, err = h.opt.Invitations.Invite(t.Context(), root, h.team, access.Viewer, p)
		require.NoError(t, err)
		_, err = h.opt.Allowances.Add(t.Context(), root, h.team, fmt.Sprintf("10.%d.0.0/16", i), p)
		require.NoError(t, err)
		_, err = h.opt.Users.Create(t.Context(), root, access.NewUser{Login: fmt.Sprintf("odd%d", i), Name: p, Password: pass})
		require.NoError(t, err)
		require.NoError(t, h.opt.Teams.SetMember(t.Context(), root, h.team, fmt.Sprintf("odd%d", i), access.Editor))
		h.browser().with("User-Agent", p).post("/login", "login", fmt.Sprintf("odd%d", i), "password", pass)
		h.browser().with("User-Agent", p).post("/login", "login", p, "password", p)
	}
	return h
}

// bizOf is the payload as far as a biz_id may be one.
func bizOf(p string) string {
	return cut("biz-"+strings.Map(func(r rune) rune {
		if r <= ' ' || r > '~' {
			return -1
		}
		return r
	}, p), 64)
}

// enough is how many pages of one shape are looked at: an object for each
// payload, and a few of a list.
func enough(path string) int {
	if strings.Contains(path, "?") {
		return 3
	}
	return len(payloads) + 1
}

func cut(s string, n int) string {
	r := []rune(s)
	return string(r[:min(len(r), n)])
}

// calendarOf is a calendar with the text in its names.
func (h *house) calendarOf(code, text string) {
	h.t.Helper()
	_, err := h.opt.Calendars.Create(h.t.Context(), root, calendar.Draft{
		Code: code, Name: cut(text, 100), Team: "payments", Week: calendar.MondayToFriday,
		Days: map[calendar.Day]calendar.Entry{calendar.Date(2026, 12, 24): {Name: cut(text, 60)}},
	})
	require.NoError(h.t, err)
}

var oneOf = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}|\d+`)

// shape is the address without its numbers: pages of one shape are one page.
func shape(path string) string {
	path, query, _ := strings.Cut(path, "?")
	keys, _ := url.ParseQuery(query)
	for key := range keys {
		path += "?" + key
		break // lists by one filter stand for all of them
	}
	return oneOf.ReplaceAllString(path, "#")
}

// A crawl of all pages that an administrator can reach, with payloads in every
// text field: no script of theirs runs, none is even tried, nothing is wider
// than the window.
func TestHostileTextHarmsNoPage(t *testing.T) {
	t.Parallel()
	h := hostileHouse(t)
	b := h.tab("admin")
	said := b.complaints()
	var found []string
	seen, perShape := map[string]bool{}, map[string]int{}
	queue := []string{"/"}
	for len(queue) > 0 {
		path := queue[0]
		queue = queue[1:]
		page := h.as("admin").get(path)
		require.Less(t, page.status, 500, path)
		if !strings.HasPrefix(page.header.Get("Content-Type"), "text/html") || page.header.Get("Content-Disposition") != "" {
			continue // a file
		}
		require.NoError(t, cd.Do(b.ctx, cd.Navigate(b.url+path)))
		b.is(`document.readyState === 'complete'`)
		for _, harm := range append(harms(t, b), said()...) {
			found = append(found, path+": "+harm)
		}
		page.doc().Find("a[href], [hx-get]").Each(func(_ int, s *goquery.Selection) {
			for _, name := range []string{"href", "hx-get"} {
				to, ok := s.Attr(name)
				if !ok {
					continue
				}
				require.NotRegexp(t, `(?i)^\s*(javascript|data|vbscript):`, to, path)
				to, _, _ = strings.Cut(to, "#")
				if !strings.HasPrefix(to, "/") || seen[to] || perShape[shape(to)] >= enough(to) || skipped(to) {
					continue
				}
				seen[to] = true
				perShape[shape(to)]++
				queue = append(queue, to)
			}
		})
	}
	t.Logf("%d pages", len(seen))
	require.Empty(t, found)
	require.Greater(t, len(seen), 100, "the crawl came around")
}

// skipped are files, what changes the browser's language, and calendars' years.
func skipped(path string) bool {
	for _, prefix := range []string{"/static/", "/language", "/api/openapi", "/api/docs"} {
		if strings.HasPrefix(path, prefix) {
			return true
		}
	}
	return strings.Contains(path, "year=") || strings.Contains(path, "team=")
}

// complaints gives what the browser had to say since it was asked last: what
// the content policy stopped, and errors of scripts.
func (b *tab) complaints() func() []string {
	b.t.Helper()
	var mu sync.Mutex
	var said []string
	require.NoError(b.t, cd.Listen(b.ctx, func(ev any) {
		mu.Lock()
		defer mu.Unlock()
		switch ev := ev.(type) {
		case *log.EventEntryAdded:
			if !strings.HasSuffix(ev.Entry.URL, "/favicon.ico") { // asked for by the browser, on a bare part of a page
				said = append(said, ev.Entry.Text+" "+ev.Entry.URL)
			}
		case *runtime.EventExceptionThrown:
			said = append(said, ev.ExceptionDetails.Text)
		}
	}))
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		out := said
		said = nil
		return out
	}
}

// harms are what is wrong with the page that the browser shows.
func harms(t *testing.T, b *tab) []string {
	t.Helper()
	got, err := cd.Run(b.ctx, cd.Evaluate[[]string](`[
		...(window.owned ? ['a payload has run'] : []),
		...[...document.querySelectorAll('*')].filter(e => [...e.attributes].some(a => /^on|^hx-on/.test(a.name))).map(e => 'a handler in the markup: ' + e.outerHTML),
		...(location.pathname === '/login' ? ['signed out'] : []),
		...(document.documentElement.scrollWidth > innerWidth
			? [...document.querySelectorAll('main *')].filter(e => e.getBoundingClientRect().right > innerWidth && !e.closest('.tw')).map(e => 'wider than the window: ' + e.tagName + '.' + e.className).slice(0, 3)
			: []),
	]`))
	require.NoError(t, err)
	return got
}
