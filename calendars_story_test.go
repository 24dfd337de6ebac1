//go:build slow

package main

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A calendar in a browser: the seeded one is there, a team's own is copied
// from it, filled from lines in two steps, and followed by a task.
func TestACalendarInABrowser(t *testing.T) {
	t.Parallel()
	s := newSink(t, func(_ sinkCall, w http.ResponseWriter) { w.WriteHeader(http.StatusOK) })
	a := newAx(t, plainAx.build(t))
	a.start()
	var link []string
	require.Eventually(t, func() bool {
		link = setupLink.FindStringSubmatch(a.log.String())
		return link != nil
	}, 10*time.Second, 50*time.Millisecond, "the start prints the setup link")
	b := newBrowser(t, "http://"+a.addr)
	b.open(link[1])
	b.fill("main form", map[string]string{
		"name": "Ada Lovelace", "login": "ada", "password": "a long enough password", "team_name": "Payments", "team_code": "payments", "zone": "Asia/Shanghai", "language": "en",
	})
	b.waits("location.pathname === '/'")

	b.open("/calendars")
	b.fair("calendars")
	b.open("/calendars/import")
	b.fair("choose a calendar to import into")
	b.open("/calendars/cn-workdays?year=2026")
	require.Equal(t, "6", b.eval("String(document.querySelectorAll('.mon td.make').length)"), "make-up workdays of 2026")
	b.fair("calendar")
	b.open("/calendars/cn-workdays/edit?year=2026")
	b.fair("edit days")

	b.open("/calendars/new?from=cn-workdays")
	b.fair("copy a calendar")
	b.fill("main form", map[string]string{"name": "Store days", "code": "store-days"})
	b.waits("location.pathname === '/calendars/store-days'")
	b.open("/calendars/store-days/import?year=2031")
	b.fair("import")
	b.eval(`document.querySelector('[name=text]').value = '2031-01-01,off,元旦\n2031-02-30,off\n2031-01-04,workday,调休'; document.querySelector('main form button[value=look]').click(); ''`)
	b.waits(`document.querySelectorAll('[data-test=change]').length === 2`)
	b.fairAsItIs("import, looked at")
	b.eval(`document.querySelector('main form button[value=save]').click(); ''`)
	b.waits("location.pathname === '/calendars/store-days' && location.search === '?year=2031'")
	b.waits("document.querySelector('.mon td.make')?.textContent === '4 worked'")

	b.open("/calendars/store-days/edit?year=2031")
	b.fill("[data-test=days-form]", map[string]string{"from": "2031-05-01", "to": "2031-05-03", "kind": "off", "name": "Labour Day"})
	b.waits(`document.querySelector('main').innerText.includes('Labour Day')`)
	b.open("/calendars/store-days?year=2031")
	b.fair("calendar of 2031")

	b.open("/tasks/new")
	b.fill("main form", map[string]string{
		"name": "Snapshot", "code": "store.snapshot", "target.url": s.URL, "schedule.kind": "cron", "schedule.cron": "0 13 * * *",
		"schedule.timezone": "Asia/Shanghai", "schedule.calendar": "store-days", "policy.idempotent": "true",
	})
	b.waits("location.pathname === '/tasks/store.snapshot'")
	b.open("/calendars/store-days")
	require.Contains(t, b.eval("document.querySelector('#uses').innerText"), "Snapshot")
	b.fair("calendar in use")
	b.open("/tasks?calendar=store-days")
	b.fair("tasks of a calendar")
}

// fairAsItIs is fair of a page that a form was answered with: it can't be
// opened again in the other theme.
func (b *browser) fairAsItIs(name string) {
	b.t.Helper()
	b.eval(b.axe + "; ''")
	b.eval(`window.axeFound = null; axe.run(document, {runOnly: ['wcag2a','wcag2aa','wcag21a','wcag21aa','wcag22aa','best-practice']})
		.then(r => { window.axeFound = r.violations.map(v => v.id + ': ' + v.nodes.map(n => n.target.join(' ')).slice(0, 4).join(' | ')).join('\n'); }); ''`)
	b.waits("window.axeFound !== null")
	require.Empty(b.t, b.eval("window.axeFound"), name)
}
