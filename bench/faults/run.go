package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// outcome is what became of one run of a scenario.
type outcome struct {
	scenario   string
	seed       uint64
	instances  int
	attempts   int
	late       []int64       // of slots, from their time to their first start, ms
	recovery   time.Duration // from the end of the attack until everything had ended
	violations []violation
	err        error // the bench could not do its part
	evidence   string
	story      []string
	took       time.Duration
	calls      int
	facts      map[string]float64 // figures of this scenario, by name
	skipped    string             // why it could not be tried here
}

func (o outcome) clean() bool { return o.err == nil && len(o.violations) == 0 && o.skipped == "" }

// errSkip says that this machine does not let a scenario do its harm: such a
// run is neither clean nor red.
type errSkip struct{ reason string }

func (e errSkip) Error() string { return "skipped: " + e.reason }

// newSeat starts what the runs of one seat share.
func newSeat(opt options, dir string) (*seat, error) {
	s := &seat{opt: opt, dir: dir}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	var err error
	s.maria, err = newMaria(dir)
	return s, err
}

func (s *seat) close() {
	if s.maria != nil && s.maria.process != nil {
		s.maria.kill()
	}
}

// run carries out one scenario with one seed. Everything that it starts is
// gone when it returns; its folder stays only if something was wrong.
func (s *seat) run(ctx context.Context, sc scenario, seed uint64) outcome {
	began := time.Now()
	out := outcome{scenario: sc.name, seed: seed, facts: map[string]float64{}}
	shared := s.maria
	if sc.own {
		dir := filepath.Join(s.dir, fmt.Sprintf("own-%s-%d", sc.file(), seed))
		var err error
		if err = os.MkdirAll(dir, 0o700); err == nil {
			s.maria, err = newMaria(dir, sc.maria...)
		}
		defer func() { s.close(); s.maria = shared; _ = os.RemoveAll(dir) }()
		if err != nil {
			out.err = err
			return out
		}
	}
	h, err := s.newHouse(ctx, sc, seed)
	if err == nil {
		h.facts = out.facts
		err = h.attack(ctx, sc, &out)
		h.close()
	}
	if skip, ok := errors.AsType[errSkip](err); ok {
		out.skipped, err = skip.reason, nil
	}
	if out.err = err; s.opt.prove && sc.name == "F00" && out.clean() {
		out.err = proveChecks(out.evidence)
	}
	out.took = time.Since(began)
	if h != nil {
		out.story = h.story
		if (out.clean() || out.skipped != "") && !s.opt.keep {
			_ = os.RemoveAll(h.dir)
		}
	}
	return out
}

// attack loads the installation, lets the scenario do its harm, waits for
// quiet, and judges.
func (h *house) attack(ctx context.Context, sc scenario, out *outcome) error {
	works := usualWork()
	if sc.works != nil {
		works = sc.works()
	}
	if sc.worksAt != nil {
		var err error
		if works, err = sc.worksAt(h); err != nil {
			return err
		}
	}
	pace := sc.pace
	if pace == 0 {
		pace = 1
	}
	l, err := h.newLoad(works, pace)
	if err != nil {
		return err
	}
	l.begin()
	rest(ctx, 1500*time.Millisecond)
	h.tell("the attack begins")
	if err := sc.run(ctx, h); err != nil {
		return fmt.Errorf("attack: %w", err)
	}
	healed := time.Now()
	h.tell("it is over")
	rest(ctx, time.Second)
	if err := l.end(30 * time.Second); err != nil {
		return fmt.Errorf("end the load: %w", err)
	}
	limit := sc.quiet
	if limit == 0 {
		limit = 75 * time.Second
	}
	stuck := within(limit, "all work has ended", h.allEnded)
	out.recovery = time.Since(healed)
	h.tell("quiet: %v", stuck == nil)
	if h.missed != nil {
		out.violations = append(out.violations, violation{sc.name, "what must come did not", h.missed.Error(), ""})
	} else if sc.still != nil {
		if err := sc.still(ctx, h); err != nil {
			out.violations = append(out.violations, violation{sc.name, "what must come did not", err.Error(), ""})
		}
	}
	return h.judge(ctx, sc, out)
}

// allEnded tells whether nothing is open.
func (h *house) allEnded() bool {
	var open int
	err := h.ledger.QueryRow("SELECT COUNT(*) FROM instances WHERE state NOT IN " + finals).Scan(&open)
	return err == nil && open == 0
}

// judge runs ax's own checks on the live system, then the bench's.
func (h *house) judge(ctx context.Context, sc scenario, out *outcome) error {
	out.evidence = h.dir
	if said, err := h.command("verify"); err != nil {
		out.violations = append(out.violations, violation{"verify", "ax verify finds", said, err.Error()})
	}
	out.violations = append(out.violations, h.leftInRedis()...)
	e, err := h.gather()
	if err != nil {
		return err
	}
	defer e.Close()
	found, err := e.judge()
	if err != nil {
		return err
	}
	for _, v := range found {
		if !slices.Contains(sc.except, v.check) {
			out.violations = append(out.violations, v)
		}
	}
	if sc.after != nil {
		if err := sc.after(ctx, h); err != nil {
			out.violations = append(out.violations, violation{sc.name, "this scenario's own demand", err.Error(), ""})
		}
	}
	return out.count(e)
}

// leftInRedis is I20: with all work ended, Asynq soon holds nothing. What a
// process had taken when it died, or a dump says was taken, comes back only after its lease, in a minute
// or two, and is dropped then: it is no message that waits.
func (h *house) leftInRedis() []violation {
	var left map[string]int64
	// A deferral's message comes back with its delay of up to 45 s, although
	// another one, sent when its place became free, brought the work to its end.
	err := within(50*time.Second, "Asynq's queue is empty", func() bool {
		var err error
		if left, err = h.redis.left("default"); err != nil {
			return false
		}
		if h.orphans || h.anyDoomed() {
			left["active"] = 0
		}
		left["retry"] = max(0, left["retry"]-h.canceledLater())
		return left["pending"]+left["active"]+left["scheduled"]+left["retry"]+left["archived"] == 0
	})
	if err == nil {
		return nil
	}
	return []violation{{"I20", "Asynq still holds messages of ended work", fmt.Sprint(left), err.Error()}}
}

func (h *house) anyDoomed() bool {
	return slices.ContainsFunc(h.nodes, func(n *node) bool { return len(n.deadBy) > 0 })
}

// count takes the figures of a run from its evidence.
func (o *outcome) count(e *evidence) error {
	err := errors.Join(
		e.QueryRow("SELECT COUNT(*) FROM instances").Scan(&o.instances),
		e.QueryRow("SELECT COUNT(*) FROM attempts").Scan(&o.attempts),
		e.QueryRow("SELECT COUNT(*) FROM calls").Scan(&o.calls),
	)
	if err != nil {
		return err
	}
	rows, err := e.Query("SELECT a.started_at-i.wanted_at FROM attempts a JOIN instances i ON i.id=a.instance_id JOIN works w ON w.task_id=i.task_id WHERE a.no=1 AND i.origin='schedule' AND w.most=0")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var ms int64
		if err := rows.Scan(&ms); err != nil {
			return err
		}
		o.late = append(o.late, ms)
	}
	slices.Sort(o.late)
	return rows.Err()
}
