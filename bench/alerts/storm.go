package main

import (
	"context"
	"fmt"
	"time"

	"ax/app/alert"
)

// storm is what became of many failures with one cause.
type storm struct {
	failures, tasks int
	incidents       []string // rule and members of each
	sent            map[alert.ChannelKind]map[string]int
	middle, worst   turn
}

// blow takes the host of many tasks away for a minute, and gives it back.
func (w *world) blow(ctx context.Context) (storm, error) {
	for range 22 { // what was broken before is over, and told
		if _, err := w.onward(ctx); err != nil {
			return storm{}, err
		}
	}
	s := storm{failures: w.o.storm * w.o.failures, tasks: w.o.storm}
	w.bench.sent = map[alert.ChannelKind]map[string]int{}
	if _, err := w.sql.ExecContext(ctx, "DELETE FROM incidents WHERE open_key IS NULL"); err != nil {
		return s, err
	}
	w.gone = true
	var turns []turn
	const steps = 12
	for i := range steps + 24 { // a minute of failures, and two until all is told
		var more []run
		for k := i * w.o.failures / steps; i < steps && k < (i+1)*w.o.failures/steps; k++ {
			for task := range w.o.storm {
				more = append(more, run{task, w.now.Add(time.Duration(1+task%4000) * time.Millisecond), true})
			}
		}
		t, err := w.onward(ctx, more...)
		if err != nil {
			return s, err
		}
		turns = append(turns, t)
		if t.took > s.worst.took {
			s.worst = t
		}
	}
	s.middle, s.sent = median(turns), w.bench.sent
	var err error
	s.incidents, err = w.incidents(ctx, "team_id=1 AND state<>'pending'")
	fmt.Printf("storm: %+v\n", s)
	return s, err
}

// onward is one step of the world, a turn and what it tells.
func (w *world) onward(ctx context.Context, more ...run) (turn, error) {
	if err := w.live(ctx, more...); err != nil {
		return turn{}, err
	}
	t, err := w.tick(ctx)
	if err == nil {
		_, err = w.bench.courier.Tick(ctx)
	}
	return t, err
}

// open names the incidents that are not over, each by its rule.
func (w *world) open(ctx context.Context) ([]string, error) {
	return w.incidents(ctx, "open_key IS NOT NULL")
}

// incidents names each by its rule and how many were ever members of it.
func (w *world) incidents(ctx context.Context, cond string) (out []string, err error) {
	rows, err := w.sql.QueryContext(ctx, "SELECT rule_name, everyone FROM incidents WHERE "+cond+" ORDER BY rule_name")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		var members int
		if err := rows.Scan(&name, &members); err != nil {
			return nil, err
		}
		out = append(out, fmt.Sprintf("%s (%d)", name, members))
	}
	return out, rows.Err()
}
