package views

import (
	"testing"

	cd "github.com/chromedp/chromedp"
)

// The form works by style alone: what isn't chosen is out of sight, and keeps
// what was typed.
func TestTheTaskFormShowsTheFieldsOfTheKindChosen(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser")
	}
	s := newBrowserServer(t)
	ctx := newTab(t, s.URL+"/task-new")
	const cron, every, zone = `document.getElementById('f-schedule-cron').offsetParent`, `document.getElementById('f-schedule-every-seconds').offsetParent`, `document.getElementById('f-schedule-timezone').offsetParent`
	is(t, ctx, cron+` && !`+every+` && `+zone)
	do(t, ctx, cd.SendKeys(cd.CSS("#f-schedule-cron"), "0 3 * * *"))
	press(t, ctx, `[name="schedule.kind"][value=interval]`)
	is(t, ctx, `!`+cron+` && `+every)
	press(t, ctx, `[name="schedule.kind"][value=manual]`)
	is(t, ctx, `!`+cron+` && !`+every+` && !`+zone)
	is(t, ctx, `!document.querySelector('.only-unsafe').offsetParent`)
	press(t, ctx, `[name="policy.idempotent"][value=false]`)
	is(t, ctx, `document.querySelector('.only-unsafe').offsetParent`)
	press(t, ctx, `[name="schedule.kind"][value=cron]`)
	is(t, ctx, cron+` && document.getElementById('f-schedule-cron').value === '0 3 * * *'`)
}

// What another choice gives no meaning is out of sight.
func TestTheTaskFormShowsWhatAChoiceOfSlotsNeeds(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser")
	}
	s := newBrowserServer(t)
	ctx := newTab(t, s.URL+"/task-edit-slots")
	const calendar, mode, most = `document.getElementById('f-schedule-calendar')`, `document.getElementById('f-schedule-calendar-mode').offsetParent`, `document.getElementById('f-schedule-misfire-cap').offsetParent`
	is(t, ctx, calendar+`.offsetParent && `+mode+` && `+most)
	do(t, ctx, cd.Evaluate[cd.Void](calendar+`.value = '';0`))
	is(t, ctx, `!`+mode)
	press(t, ctx, `[name="schedule.misfire"][value=skip]`)
	is(t, ctx, `!`+most)
	press(t, ctx, `[name="schedule.kind"][value=interval]`)
	is(t, ctx, calendar+`.offsetParent`)
	press(t, ctx, `[name="schedule.fixed_delay"][value=true]`)
	is(t, ctx, `!`+calendar+`.offsetParent`)
}
