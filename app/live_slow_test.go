//go:build slow

package app_test

import (
	"context"
	"net/http/httptest"
	"os"
	"os/exec"
	"testing"
	"time"

	cd "github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"ax/app/sched"
)

// tab is a browser that is signed in.
type tab struct {
	t   *testing.T
	ctx context.Context
	url string
}

func (h *house) tab(who string) *tab {
	h.t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil && os.Getenv("AX_TEST_REQUIRE") == "" {
		h.t.Skip("chromium is not installed")
	}
	require.NoError(h.t, err)
	h.as(who)
	s := httptest.NewServer(h.handler)
	h.t.Cleanup(s.Close)
	ctx, stop := cd.NewExecAllocator(h.t.Context(), append(cd.DefaultExecAllocatorOptions[:], cd.ExecPath(path), cd.NoSandbox)...)
	h.t.Cleanup(stop)
	ctx, stop = cd.NewContext(ctx)
	h.t.Cleanup(stop)
	b := &tab{h.t, ctx, s.URL}
	require.NoError(h.t, cd.Do(ctx, cd.EmulateViewport(1440, 900), cd.Navigate(s.URL+"/login"),
		cd.SendKeys(cd.CSS("[name=login]"), who), cd.SendKeys(cd.CSS("[name=password]"), pass+"\r")))
	b.is(`location.pathname === '/'`)
	return b
}

func (b *tab) open(path string) {
	b.t.Helper()
	require.NoError(b.t, cd.Do(b.ctx, cd.Navigate(b.url+path)))
	b.is(`!!window.htmx && document.readyState === 'complete'`)
}

func (b *tab) run(script string) {
	b.t.Helper()
	require.NoError(b.t, cd.Do(b.ctx, cd.Evaluate[cd.Void](script+";0")))
}

// is waits until the expression is true in the page.
func (b *tab) is(expression string) {
	b.t.Helper()
	require.Eventually(b.t, func() bool {
		ok, err := cd.Run(b.ctx, cd.Evaluate[bool](`!!(`+expression+`)`))
		return err == nil && ok
	}, 15*time.Second, 50*time.Millisecond, expression)
}

// refreshed waits for the next refresh that came back.
func (b *tab) refreshed() {
	b.t.Helper()
	b.run(`window.seen = document.querySelector('[data-ax-live-at]').textContent`)
	b.is(`document.querySelector('[data-ax-live-at]').textContent !== window.seen`)
}

const stateIs = `document.querySelector('.facts .st').textContent.trim() === `

func TestListsRefreshWithoutTouchingTheirFilter(t *testing.T) {
	t.Parallel()
	h := presentHouse(t)
	h.task("orders.send")
	h.trigger("orders.send", "o-1")
	b := h.tab("operator")
	b.open("/instances")
	b.is(`document.querySelectorAll('[data-test=instance]').length === 1`)
	b.run(`window.box = document.querySelector('main [data-ax-filter]'); window.box.value = 'half a word'`)
	h.trigger("orders.send", "o-2")
	h.forward(3 * time.Second)
	b.is(`document.querySelectorAll('[data-test=instance]').length === 2`)
	b.is(`document.querySelector('#states .count').textContent === '2'`)
	b.is(`window.box.isConnected && window.box.value === 'half a word'`)
	b.is(`document.querySelectorAll('#states').length === 1 && document.querySelectorAll('#rows').length === 1`)
}

func TestAnInstanceIsWatchedToItsEnd(t *testing.T) {
	t.Parallel()
	h := presentHouse(t)
	h.task("orders.send")
	in := h.trigger("orders.send", "o-1")
	b := h.tab("operator")
	b.open("/instances/" + in.ID)
	b.is(stateIs + `'Queued'`)
	accepted := ok()
	accepted.Outcome, accepted.StatusCode, accepted.Response = sched.OutcomeAccepted, 202, "HTTP/1.1 202 Accepted\n\n{}"
	h.run(in.ID, accepted)
	b.is(stateIs + `'Awaiting receipt' && document.querySelector('#attempt-1').open`)
	b.run(`document.querySelector('#attempt-1').open = false; document.querySelector('#attempt-1 summary').focus()`)
	b.refreshed()
	b.is(`!document.querySelector('#attempt-1').open && document.activeElement.tagName === 'SUMMARY'`)
	b.run(`document.querySelector('[data-ax-dialog=cancel]').click()`)
	b.is(`document.querySelector('#cancel:modal') && document.activeElement.name === 'reason'`)
	b.run(`document.querySelector('#cancel').close(); window.same = true`)
	_, err := h.opt.Instances.Receive(t.Context(), sched.Report{InstanceID: in.ID, Attempt: 1, Outcome: sched.OutcomeSucceeded})
	require.NoError(t, err)
	b.is(stateIs + `'Succeeded' && !document.querySelector('[data-ax-live]') && !window.same`)
}

func TestAReplayIsFollowedWhileASolutionIsWritten(t *testing.T) {
	t.Parallel()
	h := presentHouse(t)
	h.task("orders.send")
	l := h.letter("orders.send", "o-1", "no luck")
	b := h.tab("operator")
	b.open(letterURL(l))
	b.run(`document.querySelector('#solve [name=solution]').value = 'not saved yet'`)
	made, err := h.opt.Letters.Replay(t.Context(), root, l.ID, "gateway is back")
	require.NoError(t, err)
	b.is(`document.querySelector('.note.info') && document.querySelectorAll('#runs li').length === 2`)
	h.run(made.ID, ok())
	b.is(stateIs + `'Solved'`)
	b.is(`document.querySelector('#solve [name=solution]').value === 'not saved yet'`)
}

// Two browsers: an open page that asks for its parts is the live view that ax
// has. When the password changes elsewhere, it ends by itself, within a
// refresh (5 s), at the sign-in.
func TestAnOpenPageEndsWhenThePasswordChangesElsewhere(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send")
	b := h.tab("operator")
	b.open("/tasks")
	b.refreshed()
	got := h.as("operator").post("/account/password", "current", pass, "password", "another good one", "again", "another good one")
	require.Equal(t, 303, got.status)
	b.is(`location.pathname === '/login'`)
	b.is(`document.querySelector('[name=next]').value === '/tasks'`)
}
