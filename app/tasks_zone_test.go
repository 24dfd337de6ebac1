package app_test

import (
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/sched"
)

// what differs between two answers by nature.
var perRequest = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}`)

// SHOW-03: the zone of the machine shows on no page.
func TestSHOW03TheZoneOfTheServerChangesNoPage(t *testing.T) { //nolint:paralleltest // it changes the zone of the process
	was := time.Local
	t.Cleanup(func() { time.Local = was })
	walk := func(zone string) map[string]string {
		loc, err := time.LoadLocation(zone)
		require.NoError(t, err)
		time.Local = loc
		h := newHouse(t)
		h.task("orders.send", func(s *sched.TaskSpec) {
			s.Schedule = sched.ScheduleSpec{Kind: sched.KindCron, Cron: "30 2 * * *", Timezone: "Europe/Berlin"}
		})
		h.task("orders.once", func(s *sched.TaskSpec) {
			s.Schedule = sched.ScheduleSpec{Kind: sched.KindOnce, RunAt: time.Date(2026, 12, 24, 17, 0, 0, 0, time.UTC), Timezone: "Europe/Berlin"}
		})
		h.run(h.trigger("orders.send", "o-1").ID, ok())
		h.letter("orders.send", "o-2", "no luck")
		owner := h.as("owner")
		out := map[string]string{}
		for _, page := range []string{
			"/", "/tasks", "/tasks/orders.send", "/tasks/orders.send/edit", "/tasks/orders.once/edit", "/tasks/orders.send/confirm/pause",
			"/instances", "/dead-letters", "/queues", "/nodes",
		} {
			got := owner.get(page)
			require.Equal(t, 200, got.status, page)
			out[page] = perRequest.ReplaceAllString(got.body, "id")
		}
		return out
	}
	utc, shanghai := walk("UTC"), walk("Asia/Shanghai")
	for page := range utc {
		require.Equal(t, utc[page], shanghai[page], page)
	}
}
