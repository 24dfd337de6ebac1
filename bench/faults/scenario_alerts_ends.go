package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// allTold waits until all that is owed to receivers has come: nothing is lost.
func allTold(ctx context.Context, h *house) error {
	began := time.Now()
	var missing error
	late := within(150*time.Second, "all is told", func() bool {
		rest(ctx, 500*time.Millisecond)
		missing = h.untold(ctx)
		return missing == nil
	})
	if late != nil {
		return fmt.Errorf("%w: %w", late, missing)
	}
	h.facts["all told after, s"] = time.Since(began).Seconds()
	return nil
}

// once: nobody died who sends, so nothing came twice.
func once(ctx context.Context, h *house) error { return h.toldOnce(ctx, 0) }

// onceAndInTime: besides, no run waited for a receiver.
func onceAndInTime(ctx context.Context, h *house) error {
	return errors.Join(h.toldOnce(ctx, 0), slotsInTime(ctx, h))
}

// onceBesideDeaths: each death may have a message sent again.
func onceBesideDeaths(ctx context.Context, h *house) error {
	return h.toldOnce(ctx, int(h.facts["deaths at points"]))
}

// delivery is a message as the ledger has it.
type delivery struct {
	channel, kind, id, state, merged, incident string
}

func (h *house) deliveries(ctx context.Context) (map[string]delivery, error) {
	rows, err := h.ledger.QueryContext(ctx, `SELECT c.name, c.kind, d.id, d.state, COALESCE(d.merged_into,''), COALESCE(d.incident_id,'')
		FROM deliveries d JOIN channels c ON c.id=d.channel_id`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := map[string]delivery{}
	for rows.Next() {
		var d delivery
		if err := rows.Scan(&d.channel, &d.kind, &d.id, &d.state, &d.merged, &d.incident); err != nil {
			return nil, err
		}
		out[d.id] = d
	}
	return out, rows.Err()
}

// untold says what is not there yet; nil: all is.
func (h *house) untold(ctx context.Context) error {
	all, err := h.deliveries(ctx)
	if err != nil {
		return err
	}
	got := h.robots.messages()
	seen := map[string]bool{}   // of webhooks: channel and id that were taken
	linked := map[string]bool{} // of the others: channel and incident
	for _, m := range got {
		if !m.taken {
			continue
		}
		seen[m.receiver+" "+m.id] = true
		for _, i := range strings.Fields(m.incidents) {
			linked[m.receiver+" "+i] = true
		}
	}
	for _, d := range all {
		carrier := d
		if d.merged != "" {
			carrier = all[d.merged]
		}
		switch {
		case d.state != "delivered" || carrier.state != "delivered":
			return fmt.Errorf("message %s to %s is %s", d.id, d.channel, d.state)
		case d.kind == "webhook" && !seen[d.channel+" "+d.id], d.kind != "webhook" && !linked[d.channel+" "+d.incident]:
			return fmt.Errorf("%s never got message %s, which is noted as delivered", d.channel, d.id)
		}
	}
	if err := h.untoldIncident(ctx, got); err != nil {
		return err
	}
	return h.untoldInstance(ctx, got)
}

// idsOf gives the ids under which a receiver took a kind of message of an
// object.
func idsOf(got []heard, receiver, event string) map[string]map[string]bool {
	out := map[string]map[string]bool{}
	for _, m := range got {
		if m.receiver != receiver || m.event != event || !m.taken {
			continue
		}
		if out[m.object] == nil {
			out[m.object] = map[string]bool{}
		}
		out[m.object][m.id] = true
	}
	return out
}

// untoldIncident holds the ledger's incidents against what the good channel and
// the events' got. One that was over before its first message is told nobody.
func (h *house) untoldIncident(ctx context.Context, got []heard) error {
	rows, err := h.ledger.QueryContext(ctx, `SELECT id, metric, state, told, quiet_since IS NULL AND opened_at<FLOOR(UNIX_TIMESTAMP(NOW(3))*1000)-20000
		FROM incidents WHERE team_id=(SELECT id FROM teams WHERE code='default') AND opened_at IS NOT NULL`)
	if err != nil {
		return err
	}
	defer rows.Close()
	said := map[string]map[string]map[string]bool{}
	for _, what := range []string{"alert.opened", "alert.closed"} {
		said[what] = idsOf(got, "good", what)
	}
	for _, what := range []string{"incident.opened", "incident.closed"} {
		said[what] = idsOf(got, "events", what)
	}
	ended := 0
	for rows.Next() {
		var id, metric, state string
		var n int
		var due bool
		if err := rows.Scan(&id, &metric, &state, &n, &due); err != nil {
			return err
		}
		want := map[string]bool{
			"alert.opened": n > 0, "alert.closed": n > 0 && state == "over",
			"incident.opened": true, "incident.closed": state == "over",
		}
		for what, wanted := range want {
			if count := len(said[what][id]); count > 1 || wanted != (count == 1) {
				return fmt.Errorf("incident %s (%s, %s): %d messages %s", id, metric, state, count, what)
			}
		}
		if n == 0 && state == "firing" && due {
			return fmt.Errorf("incident %s (%s): nobody was told", id, metric)
		}
		if metric == "failures_in_row" && state == "over" && n > 0 {
			ended++
		}
	}
	if ended < causes {
		return fmt.Errorf("%d incidents of failing tasks are over, not %d", ended, causes)
	}
	return rows.Err()
}

// untoldInstance: each instance that ended since the subscription has exactly
// one id.
func (h *house) untoldInstance(ctx context.Context, got []heard) error {
	rows, err := h.ledger.QueryContext(ctx, `SELECT i.id FROM instances i JOIN channels c ON c.name='events' JOIN subscriptions s ON s.channel_id=c.id
		WHERE i.state IN `+finals+` AND i.team_id=c.team_id AND i.finished_at>s.created_at+?`, clockSlack)
	if err != nil {
		return err
	}
	defer rows.Close()
	said, n := idsOf(got, "events", "instance.finished"), 0
	for ; rows.Next(); n++ {
		var id string
		if err := rows.Scan(&id); err != nil {
			return err
		}
		if len(said[id]) != 1 {
			return fmt.Errorf("instance %s has %d messages of its end", id, len(said[id]))
		}
	}
	h.facts["instances told"] = float64(n)
	return rows.Err()
}

// toldOnce: a message came again only for a death, under its id; and people got
// few.
func (h *house) toldOnce(ctx context.Context, repeats int) error {
	times, people, again := map[string]int{}, map[string]int{}, 0
	for _, m := range h.robots.messages() {
		switch {
		case !m.signed:
			return fmt.Errorf("message %s to %s is signed wrongly", m.id, m.receiver)
		case !m.taken:
		case m.id == "":
			people[m.receiver]++
		default:
			times[m.receiver+" "+m.id]++
		}
	}
	for key, n := range times {
		again += n - 1
		if n > 1+repeats {
			return fmt.Errorf("%s came %d times, with %d deaths", key, n, repeats)
		}
	}
	var incidents, rows int
	err := h.ledger.QueryRowContext(ctx, "SELECT COUNT(*), COALESCE(SUM(metric='failures_in_row'),0) FROM incidents WHERE told>0").Scan(&incidents, &rows)
	if err != nil {
		return err
	}
	if rows != causes {
		return fmt.Errorf("%d incidents were told of %d causes", rows, causes)
	}
	for name, n := range people {
		if n > 2*incidents+repeats {
			return fmt.Errorf("%s got %d messages of %d incidents", name, n, incidents)
		}
	}
	if len(people) == 0 {
		return fmt.Errorf("no channel of people got anything")
	}
	h.facts["messages sent again"], h.facts["incidents told"] = float64(again), float64(incidents)
	h.facts["messages to a channel of people, most"] = float64(slices.Max(slices.Collect(maps.Values(people))))
	return nil
}

// slotLag is how late one slot in a hundred may begin when nothing is harmed
// that runs need.
const slotLag = 3 * time.Second

// slotsInTime is kept by a run that nothing was done to, too.
func slotsInTime(ctx context.Context, h *house) error {
	rows, err := h.ledger.QueryContext(ctx, `SELECT a.started_at-i.wanted_at FROM attempts a JOIN instances i ON i.id=a.instance_id JOIN tasks t ON t.id=i.task_id
		WHERE a.no=1 AND i.origin='schedule' AND t.code IN ('tick','two')`)
	if err != nil {
		return err
	}
	defer rows.Close()
	var late []int64
	for rows.Next() {
		var ms int64
		if err := rows.Scan(&ms); err != nil {
			return err
		}
		late = append(late, ms)
	}
	worst := time.Duration(percentile(late, 99)) * time.Millisecond
	if len(late) == 0 || worst > slotLag {
		return fmt.Errorf("of %d slots one in a hundred began after %s, not at most %s", len(late), worst, slotLag)
	}
	return rows.Err()
}
