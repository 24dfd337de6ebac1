//go:build slow

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	cd "github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// browser is a tab that looks for accessibility faults on each page it shows.
type browser struct {
	t    *testing.T
	ctx  context.Context
	base string
	axe  string // the script of axe-core, which `make axe` fetches
}

func newBrowser(t *testing.T, base string) *browser {
	t.Helper()
	path, err := exec.LookPath("chromium")
	axe, axeErr := os.ReadFile("tools/node_modules/axe-core/axe.min.js")
	if (err != nil || axeErr != nil) && os.Getenv("AX_TEST_REQUIRE") == "" {
		t.Skip("chromium or axe-core is not installed")
	}
	require.NoError(t, err)
	require.NoError(t, axeErr)
	ctx, stop := cd.NewExecAllocator(t.Context(), append(cd.DefaultExecAllocatorOptions[:], cd.ExecPath(path), cd.NoSandbox)...)
	t.Cleanup(stop)
	ctx, stop = cd.NewContext(ctx)
	t.Cleanup(stop)
	b := &browser{t: t, ctx: ctx, base: base, axe: string(axe)}
	require.NoError(t, cd.Do(ctx, cd.EmulateViewport(1440, 900)))
	return b
}

// eval runs a script that gives a text.
func (b *browser) eval(script string) string {
	b.t.Helper()
	out, err := cd.Run(b.ctx, cd.Evaluate[string](script))
	require.NoError(b.t, err, script)
	return out
}

func (b *browser) open(path string) {
	b.t.Helper()
	require.NoError(b.t, cd.Do(b.ctx, cd.Navigate(b.base+path)))
}

// waits until the script says yes.
func (b *browser) waits(script string) {
	b.t.Helper()
	require.Eventually(b.t, func() bool {
		ok, err := cd.Run(b.ctx, cd.Evaluate[bool]("!!("+script+")"))
		return err == nil && ok
	}, 30*time.Second, 50*time.Millisecond, "%s at %s", script, b.where())
}

func (b *browser) where() string {
	at, err := cd.Run(b.ctx, cd.Evaluate[string]("location.pathname + '\\n' + document.querySelector('main')?.innerText.slice(0, 600)"))
	if err != nil {
		return err.Error()
	}
	return at
}

// fill sets fields by name and sends the form that holds the first of them.
func (b *browser) fill(form string, fields map[string]string) {
	b.t.Helper()
	raw, err := json.Marshal(fields)
	require.NoError(b.t, err)
	before := b.eval("document.documentElement.dataset.storySent = 'yes'; location.href")
	b.eval(fmt.Sprintf(`(() => {
		const form = document.querySelector(%q);
		for (const [name, value] of Object.entries(%s)) {
			const all = [...form.querySelectorAll('[name="' + name + '"]')];
			if (!all.length) throw new Error('no field ' + name);
			const choice = all.find(f => f.type === 'radio' && f.value === value);
			if (choice) choice.checked = true; else all[all.length - 1].value = value;
		}
		form.requestSubmit();
		return '';
	})()`, form, raw))
	b.waits("!document.documentElement.dataset.storySent && document.readyState === 'complete'")
	_ = before
}

// fair asserts that axe finds nothing on the page, in both themes.
func (b *browser) fair(name string) {
	b.t.Helper()
	for _, theme := range []string{"light", "dark"} {
		b.eval(fmt.Sprintf("document.cookie = 'ax_theme=%s; path=/'; ''", theme))
		require.NoError(b.t, cd.Do(b.ctx, cd.Navigate(b.eval("location.href"))))
		b.eval(b.axe + "; ''")
		b.eval(`window.axeFound = null; axe.run(document, {runOnly: ['wcag2a','wcag2aa','wcag21a','wcag21aa','wcag22aa','best-practice']})
			.then(r => { window.axeFound = r.violations.map(v => v.id + ': ' + v.nodes.map(n => n.target.join(' ')).slice(0, 4).join(' | ')).join('\n'); }); ''`)
		b.waits("window.axeFound !== null")
		require.Empty(b.t, b.eval("window.axeFound"), "%s in %s", name, theme)
	}
}

var setupLink = regexp.MustCompile(`http://\S+(/setup\?token=\S+)`)

// signIn makes the first person and the team payments by the setup link, in the
// browser, and an owner's token for the API.
func signIn(t *testing.T, a *ax, b *browser) {
	t.Helper()
	var link []string
	require.Eventually(t, func() bool {
		link = setupLink.FindStringSubmatch(a.log.String())
		return link != nil
	}, 10*time.Second, 50*time.Millisecond, "the start prints the setup link")
	b.open(link[1])
	b.fill("main form", map[string]string{
		"name": "Ada Lovelace", "login": "ada", "password": "a long enough password", "team_name": "Payments", "team_code": "payments", "zone": "Asia/Shanghai", "language": "en",
	})
	if strings.HasPrefix(b.where(), "/login") {
		b.fill("main form", map[string]string{"login": "ada", "password": "a long enough password"})
	}
	b.waits("location.pathname === '/'")
	a.token = a.say("", "token", "create", "--team", "payments", "--role", "owner")
}

// The story of the product: set up, create a task, see it fail, read why,
// write the solution, replay, see it succeed.
func TestTheStoryInABrowser(t *testing.T) {
	t.Parallel()
	var broken atomic.Bool
	broken.Store(true)
	s := newSink(t, func(_ sinkCall, w http.ResponseWriter) {
		if broken.Load() {
			http.Error(w, `{"code":"PERIOD_CLOSED","message":"会计期间已关账 <b>"}`, http.StatusUnprocessableEntity)
		}
	})
	a := newAx(t, plainAx.build(t))
	a.start()
	var link []string
	require.Eventually(t, func() bool {
		link = setupLink.FindStringSubmatch(a.log.String())
		return link != nil
	}, 10*time.Second, 50*time.Millisecond, "the start prints the setup link")
	b := newBrowser(t, "http://"+a.addr)

	b.open(link[1])
	b.fair("setup")
	b.fill("main form", map[string]string{
		"name": "Ada Lovelace", "login": "ada", "password": "a long enough password", "team_name": "Payments", "team_code": "payments", "zone": "Asia/Shanghai", "language": "en",
	})
	if strings.HasPrefix(b.where(), "/login") {
		b.fair("login")
		b.fill("main form", map[string]string{"login": "ada", "password": "a long enough password"})
	}
	b.waits("location.pathname === '/'")
	b.fair("dashboard, first run")

	b.open("/tasks/new")
	b.fair("task form")
	b.fill("main form", map[string]string{
		"name": "Post journal entries", "code": "ledger.post-journal", "target.url": s.URL, "schedule.kind": "manual",
		"policy.idempotent": "true", "policy.retry.max": "1", "policy.retry.delays_seconds": "1 s",
	})
	b.waits("location.pathname === '/tasks/ledger.post-journal'")
	b.fair("task")
	b.open("/tasks")
	b.fair("tasks")
	b.open("/tasks/ledger.post-journal/confirm/pause")
	b.fill("main form", map[string]string{"for": "hour", "reason": "to look at it"})
	b.waits("location.pathname === '/tasks/ledger.post-journal'")
	b.open("/tasks?paused=true")
	require.Equal(t, "1", b.eval("String(document.querySelectorAll('[data-test=task]').length)"))
	b.fair("tasks, paused")
	b.open("/tasks/ledger.post-journal/confirm/resume")
	b.fill("main form", map[string]string{"reason": "seen"})
	b.waits("location.pathname === '/tasks/ledger.post-journal'")

	b.open("/tasks/ledger.post-journal/confirm/run")
	b.fair("run now")
	b.fill(`form[action$="/run"]`, map[string]string{"biz_id": "journal-2026-11"})
	require.Eventually(t, func() bool {
		b.open("/dead-letters")
		return b.eval(`document.querySelector('main a[href^="/dead-letters/"]')?.getAttribute('href') ?? ''`) != ""
	}, 40*time.Second, 300*time.Millisecond, "a dead letter: %s", &a.log)
	b.fair("dead letters")
	b.open("/")
	b.fair("dashboard")
	b.open("/instances")
	b.fair("instances")
	b.open("/dead-letters")
	letter := b.eval(`document.querySelector('main a[href^="/dead-letters/"]').getAttribute('href')`)
	b.open(letter)
	require.Contains(t, b.eval("document.querySelector('main').innerText"), "会计期间已关账 <b>", "what came back is shown as text")
	b.fair("dead letter")
	instance := b.eval(`document.querySelector('main a[href^="/instances/"]').getAttribute('href')`)
	b.open(instance)
	require.Contains(t, b.eval("document.querySelector('main').innerText"), "Attempt 2")
	b.fair("instance, failed")

	b.open(letter)
	b.fill("#solve", map[string]string{"solution": "The period was closed too early. Reopened it.", "status": "taken"})
	b.waits(`document.querySelector('[name=solution]').value.startsWith('The period')`)

	broken.Store(false)
	b.fill(`form[action$="/replay"]`, map[string]string{"reason": "period reopened"})
	b.open(letter)
	require.Eventually(t, func() bool {
		b.open(letter)
		return strings.Contains(b.eval("document.querySelector('main').innerText"), "Solved")
	}, 30*time.Second, 300*time.Millisecond, "the replay solves the letter: %s", &a.log)
	b.fair("dead letter, solved")
	b.open("/instances?state=succeeded")
	b.open(b.eval(`document.querySelector('main a[href^="/instances/"]').getAttribute('href')`))
	b.fair("instance, succeeded")
	for _, path := range []string{"/queues", "/nodes", "/api/docs", "/help", "/nothing-here"} {
		b.open(path)
		b.fair(path)
	}

	calls := s.got()
	require.Len(t, calls, 3, "two attempts and the replay")
	for _, c := range calls {
		require.Equal(t, "ledger.post-journal/journal-2026-11", c.key(), "the same key for all attempts and replays")
	}
	require.Equal(t, "1", calls[2].Header.Get("Ax-Replay"))
	a.stop()
	a.verify()
}
