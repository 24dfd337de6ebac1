package sched

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/fault"
)

// shelf holds what is kept of one attempt.
type logShelf struct {
	stretches []Stretch
	parts     LogParts
	reads     int
}

func (s *logShelf) Output(_ context.Context, _ string, _, limit int) (Output, error) {
	all := s.stretches
	if limit > 0 && len(all) > limit {
		return Output{Stretches: all[len(all)-limit:], Earlier: true}, nil
	}
	return Output{Stretches: all}, nil
}

func (s *logShelf) Stretches(_ context.Context, _ string, _, from, n int) ([]Stretch, error) {
	s.reads++
	at := 0
	for i, x := range s.stretches {
		if x.Seq <= from {
			at = i
		}
	}
	return s.stretches[at:min(len(s.stretches), at+n)], nil
}

func (s *logShelf) LogParts(_ context.Context, _ string, _ int, after int64, n int) (LogParts, error) {
	out := s.parts
	out.Receipts = nil
	for _, r := range s.parts.Receipts {
		if r.ID > after {
			out.Receipts = append(out.Receipts, r)
		}
	}
	if n < 0 {
		out.Receipts = out.Receipts[max(0, len(out.Receipts)+n):]
	} else {
		out.Receipts = out.Receipts[:min(n, len(out.Receipts))]
	}
	return out, nil
}

var logStart = time.Date(2026, 12, 2, 3, 4, 5, 0, time.UTC)

func second(n float64) time.Time { return logStart.Add(time.Duration(n * float64(time.Second))) }

// logged is an instance of one attempt that printed and ended.
func logged(o *office) InstanceView {
	v := InstanceView{Instance: o.book.instances[orderID]}
	v.Attempts = []Attempt{{No: 1, TaskVersion: 3, NodeID: "n-1", StartedAt: logStart, EndedAt: second(9), Outcome: OutcomeFailed, Error: "exit code 3",
		Executor: string(TargetShell), Request: "/opt/close.sh\n\ninput: stdin, 2 bytes", Response: "exit code 3 after 9s\n\nthe end of it"}}
	v.Events = []InstanceEvent{{At: second(4), Kind: EvCancelWanted, Actor: "ann", Detail: "wrong list"}, {At: second(6), Kind: EvReceipt}}
	return v
}

func linesOfLog(p LogPage) []string {
	var out []string
	for _, e := range p.Entries {
		line := fmt.Sprintf("%.0f %s %s", e.At.Sub(logStart).Seconds(), e.Source, e)
		if e.Skipped > 0 {
			line = fmt.Sprintf("[%d] ", e.Skipped) + line
		}
		if e.Dropped > 0 {
			line = fmt.Sprintf("(%d) ", e.Dropped) + line
		}
		out = append(out, line)
	}
	return out
}

func TestALogIsOneStreamInTheOrderOfTime(t *testing.T) {
	o := newOffice()
	v := logged(o)
	o.shelf.stretches = []Stretch{
		{Seq: 1, At: second(1), Text: "one\n\x0ebad\nworse\n\x0ftwo\n"},
		{Seq: 2, At: second(5), Text: "\x0estill bad\n"},
		{Seq: OutputTail + 40, At: second(8), Skipped: 12 << 20, Text: "end\nno line"},
	}
	o.shelf.parts = LogParts{
		Receipts: []ReceiptRow{{ID: 7, At: second(6), Outcome: OutcomeFailed, Message: "库存不足", Address: "10.0.0.9"}, {ID: 9, At: second(20), Outcome: OutcomeFailed, Address: "10.0.0.9"}},
		Notes: []Note{{Source: LogAx, Seq: 1, At: second(3)}, {Source: LogProgress, Seq: 1, At: second(2), Text: "10 %"}, {Source: LogProgress, Seq: 9, At: second(7), Text: "90 %"},
			{Source: LogReceipt, Seq: 1, At: second(21), Text: "failed (10.0.0.9): no"}},
	}
	want := []string{
		"0 ax Attempt 1 began on node n-1, with definition version 3",
		"0 request /opt/close.sh\n\ninput: stdin, 2 bytes",
		"1 stdout one", "1 stderr bad", "1 stderr worse", "1 stdout two",
		"2 progress 10 %",
		"3 answer exit code 3 after 9s",
		"3 ax The target accepted the work; its receipt is waited for",
		"4 ax ann asked to cancel it: wrong list",
		"5 stderr still bad",
		"6 receipt A receipt from 10.0.0.9 ended it: failed 库存不足",
		"(7) 7 progress 90 %",
		"[12582912] 8 stdout end", "8 stdout no line",
		"9 ax The attempt failed: exit code 3",
		"20 receipt A receipt from 10.0.0.9 came after the end and changed nothing: failed",
		"21 receipt A receipt was refused: failed (10.0.0.9): no",
	}
	page, err := o.instances.Log(t.Context(), as(access.Viewer), v, LogQuery{Attempt: 1, Limit: 100})
	require.NoError(t, err)
	require.Equal(t, want, linesOfLog(page))
	require.True(t, page.Ended && !page.More)

	last, err := o.instances.LogTail(t.Context(), as(access.Viewer), v, LogQuery{Attempt: 1, Limit: 100}, 1<<20)
	require.NoError(t, err)
	require.Equal(t, page.Entries, last.Entries)
	require.Equal(t, page.After, last.After)

	for limit := 1; limit <= len(want); limit++ { // whatever the pages are, nothing is missing or twice
		var got []string
		q := LogQuery{Attempt: 1, Limit: limit}
		for {
			page, err := o.instances.Log(t.Context(), as(access.Viewer), v, q)
			require.NoError(t, err)
			got = append(got, linesOfLog(page)...)
			again, ok := ParseLogCursor(page.After.String())
			require.True(t, ok)
			require.Equal(t, page.After, again)
			if q.After = again; !page.More {
				break
			}
		}
		require.Equal(t, want, got, "pages of %d", limit)
	}
}

func TestALogIsNarrowedBySourceAndWords(t *testing.T) {
	o := newOffice()
	v := logged(o)
	o.shelf.stretches = []Stretch{{Seq: 1, At: second(1), Text: "Order 7\n\x0eORDER 8\n\x0f订单 9\n"}}
	tail := func(q LogQuery) LogPage {
		q.Attempt, q.Limit = 1, 2
		page, err := o.instances.LogTail(t.Context(), as(access.Viewer), v, q, 1<<20)
		require.NoError(t, err)
		return page
	}
	page := tail(LogQuery{Words: "oRdEr"})
	require.Equal(t, []string{"1 stdout Order 7", "1 stderr ORDER 8"}, linesOfLog(page))
	require.Equal(t, 2, page.Matches)
	require.Equal(t, []string{"1 stdout 订单 9"}, linesOfLog(tail(LogQuery{Words: "订单"})))
	page = tail(LogQuery{Sources: []LogSource{LogStdout, LogStderr}})
	require.Equal(t, []string{"1 stderr ORDER 8", "1 stdout 订单 9"}, linesOfLog(page))
	require.Equal(t, 3, page.Matches)
	require.True(t, page.Earlier)
	require.Empty(t, tail(LogQuery{Words: "nowhere"}).Entries)
}

func TestALogIsOfTheTeamAndOfAnAttemptThatWasMade(t *testing.T) {
	o := newOffice()
	v := logged(o)
	_, err := o.instances.Log(t.Context(), as(access.Viewer), v, LogQuery{Attempt: 2, Limit: 1})
	require.Equal(t, fault.KindNotFound, fault.KindOf(err))
	v.TeamID = depot
	_, err = o.instances.LogTail(t.Context(), as(access.Viewer), v, LogQuery{Attempt: 1, Limit: 1}, 1)
	require.Equal(t, fault.KindNotFound, fault.KindOf(err))
}

// Somebody follows a command whose last part is replaced as it prints: each
// line comes once, and what moved out of sight is told.
func TestAFollowerSeesEachLineOnceWhileTheLastPartMoves(t *testing.T) {
	o := newOffice()
	v := logged(o)
	v.Attempts[0].EndedAt = time.Time{}
	random := rand.New(rand.NewPCG(1, 2))
	var got []string
	q := LogQuery{Attempt: 1, Limit: 1000, Sources: []LogSource{LogStdout}}
	skipped := 0
	for printed, window := 10, 0; printed < 3000; {
		var b strings.Builder
		for i := window; i < printed; i++ {
			fmt.Fprintf(&b, "line %d\n", i)
		}
		o.shelf.stretches = []Stretch{{Seq: 1, At: second(1), Text: "head\n"}, {Seq: OutputTail + window, At: second(2), Skipped: int64(window), Text: b.String()}}
		page, err := o.instances.Log(t.Context(), as(access.Viewer), v, q)
		require.NoError(t, err)
		for _, e := range page.Entries {
			if e.Skipped > 0 {
				skipped++
				got = append(got, "cut")
			}
			got = append(got, e.Text)
		}
		q.After = page.After
		printed += random.IntN(150)
		window = max(0, printed-100)
	}
	require.Equal(t, "head", got[0])
	require.Positive(t, skipped)
	seen, last, cut := map[string]bool{}, -1, false
	for _, line := range got[1:] {
		if line == "cut" {
			cut = true
			continue
		}
		require.False(t, seen[line], line)
		seen[line] = true
		var n int
		_, err := fmt.Sscanf(line, "line %d", &n)
		require.NoError(t, err)
		require.True(t, n == last+1 || cut && n > last, "%s after %d", line, last)
		last, cut = n, false
	}
}

// Thousands of receipts that a target in a loop sends are read in pages.
func TestReceiptsWithoutEndAreReadInPages(t *testing.T) {
	o := newOffice()
	v := logged(o)
	for i := range 1000 {
		o.shelf.parts.Receipts = append(o.shelf.parts.Receipts, ReceiptRow{ID: int64(i + 1), At: second(float64(i)), Outcome: OutcomeFailed, Message: fmt.Sprint(i)})
	}
	o.shelf.stretches = []Stretch{{Seq: 1, At: second(999.5), Text: "late\n"}}
	var got []LogEntry
	err := o.instances.LogWalk(t.Context(), as(access.Viewer), v, LogQuery{Attempt: 1}, func(e LogEntry) error { got = append(got, e); return nil })
	require.NoError(t, err)
	require.Len(t, got, 1000+1+5)
	require.True(t, slices.IsSortedFunc(got, func(a, b LogEntry) int { return a.At.Compare(b.At) }))
	page, err := o.instances.LogTail(t.Context(), as(access.Viewer), v, LogQuery{Attempt: 1, Limit: 50}, 1<<20)
	require.NoError(t, err)
	require.Equal(t, "late", page.Entries[49].Text)
}

func TestALongLogEndsAPageByItsBytes(t *testing.T) {
	o := newOffice()
	v := logged(o)
	for i := range 100 {
		o.shelf.stretches = append(o.shelf.stretches, Stretch{Seq: i + 1, At: second(1), Text: strings.Repeat("x", OutputStretch)})
	}
	page, err := o.instances.Log(t.Context(), as(access.Viewer), v, LogQuery{Attempt: 1, Limit: MaxLogPage})
	require.NoError(t, err)
	require.True(t, page.More)
	require.Less(t, len(page.Entries), 70)
	last, err := o.instances.LogTail(t.Context(), as(access.Viewer), v, LogQuery{Attempt: 1, Limit: 200}, 100<<10)
	require.NoError(t, err)
	require.True(t, last.Earlier)
	require.Less(t, len(last.Entries), 12)
}

func TestCursorsOfLogsThatAreNone(t *testing.T) {
	for _, s := range []string{"", "1", "1.2.3.4.5.6.7", "1.2.3.4.5.6.7.8.9", "1.2.3.4.5.6.7.-1", "1.2.3.4.5.6.7.zzzzzzzz", "a.b.c.d.e.f.g.!", "1..2.3.4.5.6.7"} {
		_, ok := ParseLogCursor(s)
		require.False(t, ok, s)
	}
}

func TestWordsAreFoundInAnyCase(t *testing.T) {
	for _, c := range []struct {
		text, words string
		want        [][2]int
	}{
		{"Error: no ERROR", "error", [][2]int{{0, 5}, {10, 15}}},
		{"订单 7，订单 8", "订单", [][2]int{{0, 6}, {11, 17}}},
		{"İstanbul straße", "STRASSE", nil},
		{"ÄÖ äö", "äö", [][2]int{{0, 4}, {5, 9}}},
		{"aaaa", "aa", [][2]int{{0, 2}, {2, 4}}},
		{"a.c abc", "a.c", [][2]int{{0, 3}}},
		{"x", "", nil},
		{"broken \xff x", "X", [][2]int{{9, 10}}},
	} {
		require.Equal(t, c.want, FindWords(c.text, c.words, 0), c.text)
	}
	require.Len(t, FindWords("aaaa", "a", 2), 2)
}
