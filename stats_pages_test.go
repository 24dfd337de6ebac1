//go:build slow && pages

package main

import (
	"database/sql"
	"fmt"
	"hash/crc32"
	"math"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/stretchr/testify/require"
)

// statsTasks are what the instances are of: which part of them fails in the
// end, how long a call takes, and whether it may be repeated.
var statsTasks = []struct {
	code       string
	failing    uint32 // of 16
	took       time.Duration
	idempotent bool
}{
	{"fast", 0, 0, true}, {"slow", 1, 40 * time.Millisecond, true}, {"failing", 5, 4 * time.Millisecond, true}, {"once", 0, 12 * time.Millisecond, false},
}

// What the pages say of thousands of instances is what SQL says of the ledger:
// counts to the last one, percentiles within the sketches' hundredth, after two
// workers were killed in the middle of it. It waits for minutes that are over,
// so `make pages` runs it, with twenty thousand, apart from the slow set.
func TestThePagesSayWhatTheLedgerSays(t *testing.T) {
	const callers = 8
	total := 5000
	if n := os.Getenv("AX_TEST_INSTANCES"); n != "" {
		var err error
		total, err = strconv.Atoi(n)
		require.NoError(t, err)
	}
	bin := plainAx.build(t)
	a, _ := onServers(t, bin, "AX_ROLES=web,scheduler")
	target := newSink(t, nil)
	target.Config.Handler = http.HandlerFunc(answerForStats) // the calls are too many to keep
	a.prepare()
	a.start()
	for _, task := range statsTasks {
		a.task(task.code, target.URL, func(w map[string]any) {
			w["policy"].(map[string]any)["idempotent"] = task.idempotent
			w["policy"].(map[string]any)["retry"] = map[string]any{"kind": "steps", "max": 1, "delays_seconds": []int{1}}
			onceOnly(w, task.idempotent)
		})
	}
	workers := make([]*ax, 4)
	for i := range workers {
		workers[i] = newAx(t, bin, append(slices.Clone(a.env[2:]), "AX_ROLES=worker")...)
	}
	for _, w := range workers[:2] {
		w.startWorker()
	}
	began := time.Now()
	var all sync.WaitGroup
	errs := make(chan error, callers)
	for c := range callers {
		all.Go(func() {
			for i := c; i < total; i += callers {
				if err := a.trigger(statsTasks[i%len(statsTasks)].code, fmt.Sprintf("b%d", i), nil); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	ledger := a.sql()
	ended := func() int { return number(t, ledger, "SELECT COUNT(*) FROM instances WHERE finished_at IS NOT NULL") }
	for i := range 2 {
		require.Eventually(t, func() bool { return ended() > total*(i+1)/4 }, 4*time.Minute, 100*time.Millisecond)
		workers[i].kill()
		workers[2+i].startWorker()
	}
	all.Wait()
	close(errs)
	require.NoError(t, <-errs)
	require.Eventually(t, func() bool { return ended() == total }, 3*time.Minute, 200*time.Millisecond)
	t.Logf("%d instances in %s", total, time.Since(began).Round(time.Second))
	// A minute is measured when the roll-up looks back at it no more.
	require.Eventually(t, func() bool {
		return number(t, ledger, "SELECT COALESCE(SUM(n),0) FROM sketch_minute WHERE kind='lag'") == number(t, ledger, "SELECT COUNT(*) FROM attempts WHERE no=1 AND ended_at IS NOT NULL")
	}, 6*time.Minute, time.Second)
	require.Positive(t, number(t, ledger, "SELECT COUNT(*) FROM attempts WHERE outcome='lost'"), "the kills hit something")
	b := a.signedIn()
	b.tasks(ledger)
	b.dashboard(ledger)
	a.verify()
}

// answerForStats fails as the task says, the same instance each time.
func answerForStats(w http.ResponseWriter, r *http.Request) {
	key := r.Header.Get("Idempotency-Key")
	code, _, _ := strings.Cut(key, "/")
	sum := crc32.ChecksumIEEE([]byte(key))
	for _, task := range statsTasks {
		if task.code == code {
			time.Sleep(task.took + task.took*time.Duration(sum%7))
			if sum/7%16 < task.failing {
				w.WriteHeader(http.StatusInternalServerError)
			}
		}
	}
}

// startWorker starts a process that answers no HTTP.
func (a *ax) startWorker() {
	a.t.Helper()
	cmd := a.command("serve")
	cmd.Stdout, cmd.Stderr = &a.log, &a.log
	require.NoError(a.t, cmd.Start())
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	a.cmd, a.ended = cmd, ended
}

func number(t *testing.T, conn *sql.DB, query string, args ...any) (n int) {
	t.Helper()
	require.NoError(t, conn.QueryRowContext(t.Context(), query, args...).Scan(&n))
	return n
}

// milliseconds are the values of a query, sorted.
func milliseconds(t *testing.T, conn *sql.DB, query string, args ...any) (out []float64) {
	t.Helper()
	rows, err := conn.QueryContext(t.Context(), query, args...)
	require.NoError(t, err)
	defer rows.Close()
	for rows.Next() {
		var ms float64
		require.NoError(t, rows.Scan(&ms))
		out = append(out, ms)
	}
	require.NoError(t, rows.Err())
	slices.Sort(out)
	return out
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// figureOf is the number of the strip with this label, and what stands below.
func figureOf(doc *goquery.Document, label string) (value, sub string) {
	doc.Find(".strip > *").Each(func(_ int, s *goquery.Selection) {
		if s.Find(".k").Text() == label {
			value, sub = oneLine(s.Find(".v").Text()), oneLine(s.Find(".d").Text())
		}
	})
	return value, sub
}

// shownAs reads a time such as "43 ms", "1.2 s" or "1 min 28 s" in
// milliseconds, with how far it may have been rounded.
func shownAs(t *testing.T, text string) (ms, rounded float64) {
	t.Helper()
	d, err := time.ParseDuration(strings.ReplaceAll(strings.ReplaceAll(text, " ", ""), "min", "m"))
	require.NoError(t, err, text)
	switch {
	case strings.HasSuffix(text, " ms"):
		rounded = .5
	case strings.Contains(text, "min"):
		rounded = 500
	default:
		rounded = 50
	}
	return float64(d) / 1e6, rounded
}

// near compares a percentile of the page with the one of nearest rank.
func near(t *testing.T, values []float64, percent float64, shown, what string) {
	t.Helper()
	want := values[int(math.Ceil(float64(len(values))*percent/100))-1]
	got, rounded := shownAs(t, shown)
	require.InDelta(t, want, got, want*0.01+1+rounded, "%s: P%v of %d", what, percent, len(values))
}

// pair reads "38 · 212 ms" and "1.2 s · 3.4 s".
func pair(t *testing.T, text string) (first, second string) {
	t.Helper()
	first, second, ok := strings.Cut(text, " · ")
	require.True(t, ok, text)
	if _, err := strconv.ParseFloat(first, 64); err == nil {
		first += " ms"
	}
	return first, second
}

func (r *reader) tasks(ledger *sql.DB) {
	r.t.Helper()
	list := r.page("/tasks")
	for _, task := range statsTasks {
		id := number(r.t, ledger, "SELECT id FROM tasks WHERE code=?", task.code)
		good := number(r.t, ledger, "SELECT COUNT(*) FROM instances WHERE task_id=? AND state='succeeded'", id)
		bad := number(r.t, ledger, "SELECT COUNT(*) FROM instances WHERE task_id=? AND state IN ('failed','timed_out','lost')", id)
		took := milliseconds(r.t, ledger, "SELECT ended_at-started_at FROM attempts WHERE task_id=? AND outcome='succeeded'", id)
		lag := milliseconds(r.t, ledger, "SELECT GREATEST(a.started_at-i.wanted_at,0) FROM attempts a JOIN instances i ON i.id=a.instance_id WHERE a.task_id=? AND a.no=1", id)
		doc := r.page("/tasks/" + task.code)
		value, sub := figureOf(doc, "Success, 7 d")
		rate := fmt.Sprintf("%.2f %%", math.Floor(10000*float64(good)/float64(good+bad))/100)
		require.Equal(r.t, rate, value, task.code)
		if bad > 0 {
			require.Equal(r.t, fmt.Sprintf("%s of %s failed", grouped(bad), grouped(good+bad)), sub, task.code)
		}
		for label, percent := range map[string]float64{"P50": 50, "P95": 95, "P99": 99} {
			value, _ := figureOf(doc, label)
			near(r.t, took, percent, value, task.code)
		}
		value, sub = figureOf(doc, "Lag P50 · P99, 7 d")
		p50, p99 := pair(r.t, value)
		near(r.t, lag, 50, p50, task.code+" lag")
		near(r.t, lag, 99, p99, task.code+" lag")
		require.Equal(r.t, "of "+grouped(len(lag))+" runs", sub)
		row := oneLine(list.Find(`[data-code="` + task.code + `"]`).Text())
		require.Contains(r.t, row, rate, task.code)
		r.t.Logf("%s: %d succeeded, %d not; %s", task.code, good, bad, row)
	}
}

func (r *reader) dashboard(ledger *sql.DB) {
	r.t.Helper()
	good := number(r.t, ledger, "SELECT COUNT(*) FROM instances WHERE state='succeeded'")
	bad := number(r.t, ledger, "SELECT COUNT(*) FROM instances WHERE state IN ('failed','timed_out','lost')")
	lag := milliseconds(r.t, ledger, "SELECT GREATEST(a.started_at-i.wanted_at,0) FROM attempts a JOIN instances i ON i.id=a.instance_id WHERE a.no=1")
	for _, span := range []string{"1h", "24h", "7d"} {
		doc := r.page("/?span=" + span)
		for group, want := range map[string]int{"succeeded": good, "failed": bad} {
			require.Equal(r.t, grouped(want), doc.Find("[data-test=group-"+group+"] b").Text(), span)
		}
		value, _ := figureOf(doc, "Success, 1 h")
		require.Equal(r.t, fmt.Sprintf("%.2f %%", math.Floor(10000*float64(good)/float64(good+bad))/100), value)
		value, _ = figureOf(doc, "Lag P50 · P99")
		p50, p99 := pair(r.t, value)
		near(r.t, lag, 50, p50, "lag")
		near(r.t, lag, 99, p99, "lag")
	}
}

// grouped prints with thousands separators.
func grouped(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return grouped(n/1000) + fmt.Sprintf(",%03d", n%1000)
}
