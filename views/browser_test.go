package views

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/a-h/templ"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	cd "github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"ax/static"
)

const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// live is a page with a fragment that refreshes and a button that asks.
const live = `<h1>Live</h1><p id="rows" hx-get="/rows" hx-trigger="ax-refresh from:body" hx-swap="outerMorph">0</p>
<form><input id="typed" name="typed"></form>
<ul data-ax-list><li><a class="nm" href="#one" id="one">one</a></li><li><a class="nm" href="#two" id="two">two</a></li></ul>
<button id="act" hx-post="/act" hx-swap="none" hx-confirm="Cancel 3 instances?" data-ax-verb="Cancel 3">Cancel</button>`

// browserServer serves the gallery and the live page under the policy of the
// product, and counts what the page asks for.
type browserServer struct {
	*httptest.Server
	rows, acts atomic.Int64
	lost       atomic.Bool
}

func newBrowserServer(t *testing.T) *browserServer {
	t.Helper()
	s := &browserServer{}
	mux := http.NewServeMux()
	show := func(e Example) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Security-Policy", policy)
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			v := GalleryViewer(PickLang(r.FormValue("lang"), "", ""), r.FormValue("theme"))
			v.Refresh = 0 // the examples' addresses are not served
			if e.Name == "" {
				v.Refresh = 1
			}
			if err := Render(e.For(r.Context(), v), w, e.Component); err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
			}
		}
	}
	mux.Handle(static.Prefix, static.Handler())
	mux.HandleFunc("/{$}", func(w http.ResponseWriter, _ *http.Request) {
		for _, e := range Gallery() {
			_, _ = fmt.Fprintf(w, "<p>%[1]s: <a href='/%[1]s'>light</a> <a href='/%[1]s?theme=dark'>dark</a> <a href='/%[1]s?lang=zh-CN'>中文</a>\n", e.Name)
		}
	})
	for _, e := range Gallery() {
		mux.HandleFunc("/"+e.Name, show(e))
	}
	mux.HandleFunc("/live", show(Example{Component: templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		return layout(shell{title: "Live", live: true}).Render(templ.WithChildren(ctx, templ.Raw(live)), w)
	})}))
	mux.HandleFunc("/rows", func(w http.ResponseWriter, _ *http.Request) {
		if s.lost.Load() {
			http.Error(w, "away", http.StatusServiceUnavailable)
			return
		}
		_, _ = fmt.Fprintf(w, `<p id="rows" hx-get="/rows" hx-trigger="ax-refresh from:body" hx-swap="outerMorph">%d</p>`, s.rows.Add(1))
	})
	mux.HandleFunc("/act", func(w http.ResponseWriter, _ *http.Request) {
		s.acts.Add(1)
		w.Header().Set("HX-Trigger", `{"ax:toast":{"text":"3 canceled","detail":"<b>none</b> refused"}}`)
		w.WriteHeader(http.StatusNoContent)
	})
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

// newTab opens the page in a browser of its own.
func newTab(t *testing.T, url string) context.Context {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil && os.Getenv("AX_TEST_REQUIRE") == "" {
		t.Skip("chromium is not installed")
	}
	require.NoError(t, err)
	opts := append(cd.DefaultExecAllocatorOptions[:], cd.ExecPath(path), cd.NoSandbox)
	ctx, stop := cd.NewExecAllocator(t.Context(), opts...)
	t.Cleanup(stop)
	ctx, stop = cd.NewContext(ctx)
	t.Cleanup(stop)
	require.NoError(t, cd.Do(ctx, cd.EmulateViewport(1440, 900), cd.Navigate(url)))
	is(t, ctx, `!!window.axTheme && !!window.htmx`)
	return ctx
}

// is waits until the expression is true in the page.
func is(t *testing.T, ctx context.Context, expression string) {
	t.Helper()
	require.Eventually(t, func() bool {
		ok, err := cd.Run(ctx, cd.Evaluate[bool](`!!(`+expression+`)`))
		return err == nil && ok
	}, 10*time.Second, 20*time.Millisecond, expression)
}

func do(t *testing.T, ctx context.Context, what ...cd.Action[cd.Void]) {
	t.Helper()
	require.NoError(t, cd.Do(ctx, what...))
}

// press clicks what the selector names once it was scrolled to and drawn there: a
// click in the frame of a scroll is taken for what was under it before.
func press(t *testing.T, ctx context.Context, selector string) {
	t.Helper()
	const scroll = `(() => {
		document.querySelector(%q).scrollIntoView({block: 'center', behavior: 'instant'});
		window.drawn = false;
		requestAnimationFrame(() => requestAnimationFrame(() => { window.drawn = true; }));
		return true;
	})()`
	is(t, ctx, fmt.Sprintf(scroll, selector))
	is(t, ctx, "window.drawn")
	do(t, ctx, cd.Click(cd.CSS(selector)))
}

func TestThePagesWorkInABrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser")
	}
	s := newBrowserServer(t)
	ctx := newTab(t, s.URL+"/live")
	for _, step := range []struct {
		name string
		run  func(*testing.T, context.Context, *browserServer)
	}{
		{"the theme turns at once and is kept", turnsTheTheme},
		{"keys lead to the box, the sheet and along rows", followsKeys},
		{"a dangerous button asks first and says what came of it", asksFirst},
		{"the page refreshes, but not under somebody's hands", refreshes},
		{"menus close by key and by a click elsewhere", closesMenus},
		{"the drawer opens on a phone", opensTheDrawer},
		{"a question opens with its first field and gives the focus back", opensDialogs},
	} {
		t.Run(step.name, func(t *testing.T) { step.run(t, ctx, s) })
	}
}

// Every example, narrow and wide, in both themes: nothing the policy stops, no
// error in a script, nothing that makes the page scroll sideways, and the
// theme that was asked for.
func TestExamplesFitTheirWindow(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser")
	}
	s := newBrowserServer(t)
	ctx := newTab(t, s.URL+"/login")
	var mu sync.Mutex
	var said []string
	require.NoError(t, cd.Listen(ctx, func(ev any) {
		mu.Lock()
		defer mu.Unlock()
		switch ev := ev.(type) {
		case *log.EventEntryAdded:
			said = append(said, ev.Entry.Text)
		case *runtime.EventExceptionThrown:
			said = append(said, ev.ExceptionDetails.Text)
		}
	}))
	for _, view := range []struct {
		width int64
		theme string
	}{{390, "light"}, {1440, "dark"}} {
		do(t, ctx, cd.EmulateViewport(view.width, 900))
		for _, e := range Gallery() {
			do(t, ctx, cd.Navigate(s.URL+"/"+e.Name+"?theme="+view.theme))
			wide, err := cd.Run(ctx, cd.Evaluate[int64](`document.documentElement.scrollWidth`))
			require.NoError(t, err)
			require.LessOrEqual(t, wide, view.width, "%s scrolls sideways", e.Name)
			theme, err := cd.Run(ctx, cd.Evaluate[string](`document.documentElement.dataset.bsTheme`))
			require.NoError(t, err)
			require.Equal(t, view.theme, theme)
			mu.Lock()
			require.Empty(t, said, e.Name)
			mu.Unlock()
		}
	}
}

func turnsTheTheme(t *testing.T, ctx context.Context, _ *browserServer) {
	is(t, ctx, `document.documentElement.dataset.bsTheme === 'light'`)
	do(t, ctx, cd.Click(cd.CSS(`[data-ax-theme-set=turn]`)))
	is(t, ctx, `document.documentElement.dataset.bsTheme === 'dark' && document.cookie.includes('ax_theme=dark')`)
	is(t, ctx, `getComputedStyle(document.body).backgroundColor === 'rgb(18, 22, 23)'`)
	do(t, ctx, cd.KeyEvent("t"))
	is(t, ctx, `document.documentElement.dataset.bsTheme === 'light' && document.cookie.includes('ax_theme=light')`)
}

func followsKeys(t *testing.T, ctx context.Context, _ *browserServer) {
	do(t, ctx, cd.KeyEvent("/"))
	is(t, ctx, `document.activeElement.id === 'ax-find'`)
	do(t, ctx, cd.KeyEvent("jk?"))
	// The driver sends / as a character of its own, which no browser does.
	is(t, ctx, `document.getElementById('ax-find').value.endsWith('jk?') && !document.getElementById('ax-help').open`)
	do(t, ctx, cd.Evaluate[cd.Void](`document.activeElement.blur()`), cd.KeyEvent("jj"))
	is(t, ctx, `document.activeElement.id === 'two'`)
	do(t, ctx, cd.KeyEvent("k"))
	is(t, ctx, `document.activeElement.id === 'one'`)
	do(t, ctx, cd.KeyEvent("?"))
	is(t, ctx, `document.getElementById('ax-help').open`)
	do(t, ctx, cd.KeyEvent(kb.Escape))
	is(t, ctx, `!document.getElementById('ax-help').open`)
	is(t, ctx, `document.querySelector('[data-ax-go=t]').pathname === '/tasks'`)
}

func asksFirst(t *testing.T, ctx context.Context, s *browserServer) {
	do(t, ctx, cd.Click(cd.CSS("#act")))
	is(t, ctx, `document.getElementById('ax-ask').open && document.querySelector('[data-ax-question]').textContent === 'Cancel 3 instances?'`)
	do(t, ctx, cd.KeyEvent(kb.Escape))
	is(t, ctx, `!document.getElementById('ax-ask').open`)
	require.Zero(t, s.acts.Load(), "leaving it does nothing")
	do(t, ctx, cd.Click(cd.CSS("#act")))
	is(t, ctx, `document.querySelector('#ax-ask [value=yes]').textContent === 'Cancel 3'`)
	do(t, ctx, cd.Click(cd.CSS("#ax-ask [value=yes]")))
	is(t, ctx, `document.querySelector('#ax-toasts [data-text]').textContent === '3 canceled'`)
	is(t, ctx, `document.querySelector('#ax-toasts [data-detail]').textContent === '<b>none</b> refused'`)
	require.Equal(t, int64(1), s.acts.Load())
	do(t, ctx, cd.Click(cd.CSS("#ax-toasts [data-ax-toast-close]")))
	is(t, ctx, `!document.querySelector('#ax-toasts [data-ax-toast]')`)
}

func refreshes(t *testing.T, ctx context.Context, s *browserServer) {
	is(t, ctx, `Number(document.getElementById('rows').textContent) > 0`)
	do(t, ctx, cd.Focus(cd.CSS("#typed")))
	before := s.rows.Load()
	do(t, ctx, cd.KeyEvent("abc"), cd.Sleep(2200*time.Millisecond))
	require.LessOrEqual(t, s.rows.Load(), before+1, "it rests while one types")
	is(t, ctx, `document.getElementById('typed').value === 'abc'`)
	do(t, ctx, cd.Evaluate[cd.Void](`document.activeElement.blur()`))
	s.lost.Store(true)
	is(t, ctx, `document.querySelector('[data-ax-live]').dataset.axState === 'lost'`)
	s.lost.Store(false)
	is(t, ctx, `document.querySelector('[data-ax-live]').dataset.axState === 'live'`)
	do(t, ctx, cd.Click(cd.CSS("[data-ax-live]")))
	is(t, ctx, `document.querySelector('[data-ax-live]').dataset.axState === 'paused' && document.querySelector('[data-ax-live-word]').textContent === 'Resting'`)
}

func closesMenus(t *testing.T, ctx context.Context, _ *browserServer) {
	do(t, ctx, cd.Click(cd.CSS(".menu.me > summary")))
	is(t, ctx, `document.querySelector('.menu.me').open`)
	do(t, ctx, cd.KeyEvent(kb.Escape))
	is(t, ctx, `!document.querySelector('.menu.me').open && document.activeElement.matches('.menu.me > summary')`)
	do(t, ctx, cd.Click(cd.CSS(".team > summary")), cd.Click(cd.CSS("h1")))
	is(t, ctx, `!document.querySelector('.team').open`)
}

func opensDialogs(t *testing.T, ctx context.Context, s *browserServer) {
	do(t, ctx, cd.Navigate(s.URL+"/pieces-form"), cd.Click(cd.CSS("[data-ax-dialog=cancel]")))
	is(t, ctx, `document.getElementById('cancel').matches(':modal') && document.activeElement.name === 'reason'`)
	do(t, ctx, cd.Click(cd.CSS("#cancel [data-ax-close]")))
	is(t, ctx, `!document.getElementById('cancel').open && document.activeElement.dataset.axDialog === 'cancel'`)
}

func opensTheDrawer(t *testing.T, ctx context.Context, _ *browserServer) {
	do(t, ctx, cd.EmulateViewport(390, 844))
	is(t, ctx, `getComputedStyle(document.getElementById('nav')).display === 'none'`)
	do(t, ctx, cd.Click(cd.CSS(".nav-open")))
	is(t, ctx, `getComputedStyle(document.getElementById('nav')).display === 'flex'`)
	do(t, ctx, cd.KeyEvent(kb.Escape))
	is(t, ctx, `getComputedStyle(document.getElementById('nav')).display === 'none'`)
}
