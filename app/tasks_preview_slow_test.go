//go:build slow

package app_test

import (
	"testing"

	cd "github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// A line of either dialect shows its meaning and next runs while it is typed,
// in both languages.
func TestACronLineIsExplainedWhileItIsTyped(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	b := h.tab("editor")
	for _, lang := range []struct{ code, quartz, crontab string }{
		{"en", "Every 5 minutes from 9:00 to 18:59 on Monday to Friday", "Every 5 minutes from 9:00 to 18:59 on Monday to Friday"},
		{"zh-CN", "周一至周五 9:00 至 18:59，每 5 分钟", "周一至周五 9:00 至 18:59，每 5 分钟"},
	} {
		b.open("/language?to=" + lang.code + "&back=/tasks/new")
		b.open("/tasks/new")
		b.is(`document.documentElement.lang === '` + lang.code + `'`)
		for _, line := range []struct{ cron, words string }{{"0 0/5 9-18 ? * MON-FRI", lang.quartz}, {"*/5 9-18 * * 1-5", lang.crontab}} {
			b.run(`document.getElementById('f-schedule-cron').value = ''`)
			require.NoError(t, cd.Do(b.ctx, cd.SendKeys(cd.CSS("#f-schedule-cron"), line.cron)))
			b.is(`document.querySelector('[data-test=words]')?.textContent.includes('` + line.words + `')`)
			b.is(`document.querySelectorAll('[data-test=next-runs] tbody tr').length === 5`)
			b.is(`document.querySelector('[data-test=next-runs] time').dateTime.startsWith('2026-12-02T09:00:00')`)
			b.is(`document.activeElement.id === 'f-schedule-cron' && document.getElementById('f-schedule-cron').value === '` + line.cron + `'`)
		}
	}
}
