package alert

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// lagSteps are lags, in seconds, that are told apart beside the rules' own
// thresholds: the value that a page shows is the highest one reached.
func lagSteps() []float64 {
	return []float64{0.1, 0.25, 0.5, 1, 2, 3, 5, 8, 10, 15, 20, 30, 60, 120, 300, 600, 1800, 3600}
}

// asked is the key of a question: rules with the same one share its answer.
type asked struct {
	Metric  Metric
	Window  time.Duration
	EachTry bool
}

func (r Rule) asks() asked {
	a := asked{Metric: r.Metric, EachTry: r.EachTry && r.Meter().Per == PerTask}
	if r.Meter().Windowed {
		a.Window = r.Window
	}
	return a
}

// questions that the rules ask, each once.
func questions(rules []Rule) map[asked]Question {
	out := map[asked]Question{}
	for _, r := range rules {
		a := r.asks()
		q, known := out[a]
		if !known {
			q = Question{Metric: a.Metric, Window: a.Window, EachTry: a.EachTry}
			if a.Metric == TriggerLag {
				q.Steps = lagSteps()
			}
		}
		if a.Metric == TriggerLag || a.Metric == MissedRun {
			q.Steps = append(q.Steps, r.Threshold)
		}
		out[a] = q
	}
	for a, q := range out {
		slices.Sort(q.Steps)
		q.Steps = slices.Compact(q.Steps)
		out[a] = q
	}
	return out
}

// Source answers questions about some metrics.
type Source interface {
	// Readings of the question at now. ErrNotMine: another source knows it.
	Readings(ctx context.Context, q Question, now time.Time) ([]Reading, error)
}

// ErrNotMine says that a source knows nothing of a metric.
var ErrNotMine = errors.New("no reading of that metric here")

// Sources asks one after the other.
type Sources []Source

// Readings of the first source that knows the metric.
func (s Sources) Readings(ctx context.Context, q Question, now time.Time) ([]Reading, error) {
	for _, one := range s {
		out, err := one.Readings(ctx, q, now)
		if !errors.Is(err, ErrNotMine) {
			return out, err
		}
	}
	return nil, fmt.Errorf("read %s: %w", q.Metric, ErrNotMine)
}

// answer to a question.
type answer struct {
	Question
	readings []Reading
	byTeam   map[int64][]Reading // of questions about tasks
	err      error
}

// ask puts the questions. One that fails is an answer with its error: it must
// not keep the rules of the others from being judged.
func ask(ctx context.Context, from Source, all map[asked]Question, now time.Time) map[asked]answer {
	out := make(map[asked]answer, len(all))
	for a, q := range all {
		got := answer{Question: q, byTeam: map[int64][]Reading{}}
		got.readings, got.err = read(ctx, from, q, now)
		for _, r := range got.readings {
			got.byTeam[r.TeamID] = append(got.byTeam[r.TeamID], r)
		}
		out[a] = got
	}
	return out
}

// askWithin is how long one question may take: what it waits for must not keep
// the other rules from being judged.
const askWithin = 10 * time.Second

// read turns a panic into an error of that question alone.
func read(ctx context.Context, from Source, q Question, now time.Time) (out []Reading, err error) {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	defer func() {
		if x := recover(); x != nil {
			err = fmt.Errorf("read %s: panic: %v", q.Metric, x)
		}
	}()
	return from.Readings(ctx, q, now)
}

// of the rule's team, or all.
func (a answer) of(team int64) []Reading {
	if team == 0 {
		return a.readings
	}
	return a.byTeam[team]
}

// marks are the tasks by id.
type marks map[int64]TaskMark

func marksOf(list []TaskMark) marks {
	out := make(marks, len(list))
	for _, t := range list {
		out[t.ID] = t
	}
	return out
}

// Value is what a rule's metric says now, of the subject that is worst off.
type Value struct {
	Value float64
	Known bool    // false: nothing can be said, such as with too few runs
	Of    Subject // of metrics with several subjects
	Team  int64   // whose the subject is; 0: the installation's
	N     int     // subjects that break the rule
}

// measured are the subjects that a rule has a value of.
func (r Rule) measured(a answer, known marks) []taken {
	switch r.Meter().Per {
	case PerTask:
		return r.ofTasks(a, known)
	case PerScope:
		return r.ofScope(a, known)
	case PerQueue:
		return r.ofQueues(a)
	default:
		return r.ofOthers(a)
	}
}

// taken is a value of one subject.
type taken struct {
	Reading
	owner string
	level Level
	team  int64
}

func (r Rule) ofTasks(a answer, known marks) (out []taken) {
	for _, x := range a.of(r.TeamID) {
		t, ok := known[x.TaskID]
		if !ok || !r.Watches(t) || x.N < r.Least && r.Meter().Least {
			continue
		}
		x.Subject = Subject{Kind: TaskSubject, Key: t.Code, Name: t.Name}
		out = append(out, taken{Reading: x, owner: t.Owner, level: r.LevelOf(t), team: t.TeamID})
	}
	return out
}

// ofScope sums up what the rule's scope covers.
func (r Rule) ofScope(a answer, known marks) []taken {
	sum := Reading{Subject: Subject{Kind: ScopeSubject, Key: string(r.Scope.Kind) + ":" + r.Scope.Value}}
	for _, x := range a.of(r.TeamID) {
		if t, ok := known[x.TaskID]; r.Scope.Kind == All || ok && r.Scope.Covers(t) {
			sum = sum.with(x, r.Metric)
		}
	}
	switch r.Metric {
	case SuccessRate:
		if sum.N = sum.Good + sum.Bad; sum.N > 0 {
			sum.Value = 100 * float64(sum.Good) / float64(sum.N)
		}
		sum.N = max(sum.N, 0)
	case TriggerLag:
		sum.Value = lagP99(a.Steps, sum.Late, sum.N)
	}
	if r.Meter().Least && sum.N < max(r.Least, 1) {
		return nil
	}
	return []taken{{Reading: sum, level: r.plainLevel(), team: r.TeamID}}
}

// plainLevel of what is not of one task.
func (r Rule) plainLevel() Level {
	if r.Level == ByTask {
		return P2
	}
	return r.Level
}

// with adds a reading to a sum.
func (s Reading) with(x Reading, m Metric) Reading {
	s.Good, s.Bad, s.N = s.Good+x.Good, s.Bad+x.Bad, s.N+x.N
	if m == LetterAge || m == NotServed {
		s.Value = max(s.Value, x.Value)
	} else {
		s.Value += x.Value
	}
	if len(s.Late) == 0 {
		s.Late = make([]int, len(x.Late))
	}
	for i := range min(len(x.Late), len(s.Late)) {
		s.Late[i] += x.Late[i]
	}
	if s.Since.IsZero() || !x.Since.IsZero() && x.Since.Before(s.Since) {
		s.Since = x.Since
	}
	if x.Bad > 0 && s.Detail == "" {
		s.Detail, s.Instance = x.Detail, x.Instance
	}
	return s
}

// lagP99 is the highest step that the P99 (nearest rank) of n lags reaches.
func lagP99(steps []float64, late []int, n int) float64 {
	rank := (99*n + 99) / 100 // of n, from the least
	most := 0.0
	for i, count := range late {
		if i < len(steps) && n > 0 && count >= n-rank+1 {
			most = max(most, steps[i])
		}
	}
	return most
}

// ofQueues sums up each queue's teams; a team's rule sees its own rows alone.
func (r Rule) ofQueues(a answer) []taken {
	sums := map[string]taken{}
	for _, x := range a.of(r.TeamID) {
		if queue, _, _ := strings.Cut(x.Subject.Key, QueueLabels); r.Scope.Kind == OfQueue && r.Scope.Value != queue {
			continue
		}
		q, ok := sums[x.Subject.Key]
		if !ok {
			q = taken{Reading: Reading{Subject: x.Subject}, level: r.plainLevel(), team: r.TeamID}
		}
		q.Reading = q.with(x, r.Metric)
		sums[x.Subject.Key] = q
	}
	out := make([]taken, 0, len(sums))
	for _, q := range sums {
		out = append(out, q)
	}
	slices.SortFunc(out, func(a, b taken) int { return cmp.Compare(a.Subject.Key, b.Subject.Key) })
	return out
}

func (r Rule) ofOthers(a answer) []taken {
	var out []taken
	for _, x := range a.of(r.TeamID) {
		out = append(out, taken{Reading: x, level: r.plainLevel(), team: r.TeamID})
	}
	return out
}

// value is the worst of all that was measured.
func (r Rule) value(all []taken) Value {
	out := Value{}
	for _, x := range all {
		if r.Meter().Breaks(x.Value, r.Threshold) {
			out.N++
		}
		if !out.Known || r.Meter().Worse(out.Value, x.Value) != out.Value {
			out.Value, out.Of, out.Team, out.Known = x.Value, x.Subject, x.team, true
		}
	}
	return out
}
