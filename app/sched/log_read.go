package sched

import (
	"context"
	"strings"

	"ax/app/access"
)

// logStore is what reading a log needs of the ledger.
type logStore interface {
	// LogParts gives what is stored of an attempt: of receipts the first n
	// behind a row, or the last -n.
	LogParts(ctx context.Context, instanceID string, attempt int, after int64, n int) (LogParts, error)
	// Stretches gives at most n from the one on that holds the number.
	Stretches(ctx context.Context, instanceID string, attempt, from, n int) ([]Stretch, error)
	Output(ctx context.Context, instanceID string, attempt, limit int) (Output, error)
	LogMark(ctx context.Context, instanceID string, attempt int) (string, error)
}

// stretchesAtOnce are read together: at most 256 KiB of text.
const stretchesAtOnce = 16

// Log reads on in the log of an attempt that exists, from a cursor. Faults:
// NotFound.
func (s *Instances) Log(ctx context.Context, by access.Actor, v InstanceView, q LogQuery) (LogPage, error) {
	page := LogPage{Attempt: q.Attempt, After: q.After}
	r, err := s.logReader(ctx, by, v, q, maxReceipts+1)
	if err != nil {
		return page, err
	}
	page.Ended = !r.attempt.EndedAt.IsZero()
	bytes := 0
	for {
		e, ok, err := r.next(ctx)
		if err != nil {
			return page, err
		}
		if !ok {
			page.After, page.More = r.at, r.cut
			return page, nil
		}
		if !q.wants(e) {
			continue
		}
		page.Entries = append(page.Entries, e)
		if bytes += len(e.Text); len(page.Entries) >= q.Limit || bytes > LogPageBytes {
			page.After = r.at
			_, page.More, err = r.next(ctx)
			page.More = page.More || r.cut
			return page, err
		}
	}
}

// LogMark is another one when something came to a log; asking is cheap. Faults:
// NotFound.
func (s *Instances) LogMark(ctx context.Context, by access.Actor, v InstanceView, attempt int) (string, error) {
	if err := by.Check(access.Read, v.TeamID); err != nil {
		return "", err
	}
	return s.store.LogMark(ctx, v.ID, attempt)
}

// LogTail gives the last entries that are wanted, at most q.Limit and most
// bytes of text, and how many there are when the log is narrowed. Faults:
// NotFound.
func (s *Instances) LogTail(ctx context.Context, by access.Actor, v InstanceView, q LogQuery, most int) (LogPage, error) {
	out := LogPage{Attempt: q.Attempt}
	kept := tail{limit: q.Limit, most: most}
	q.After = LogCursor{Attempt: q.Attempt}
	if q.Narrowed() {
		for more := true; more; {
			q.Limit = MaxLogPage
			page, err := s.Log(ctx, by, v, q)
			if err != nil {
				return out, err
			}
			kept.add(page.Entries)
			out.Matches += len(page.Entries)
			q.After, out.After, out.Ended, more = page.After, page.After, page.Ended, page.More
		}
		out.Entries, out.Earlier = kept.entries, kept.cut
		return out, nil
	}
	r, err := s.logReader(ctx, by, v, q, -maxReceipts)
	if err != nil {
		return out, err
	}
	if err := r.fromEnd(ctx, q.Limit, most); err != nil {
		return out, err
	}
	for {
		e, ok, err := r.next(ctx)
		if err != nil {
			return out, err
		}
		if !ok {
			break
		}
		kept.add([]LogEntry{e})
	}
	out.Entries, out.Earlier, out.After, out.Ended = kept.entries, kept.cut || r.earlier, r.at, !r.attempt.EndedAt.IsZero()
	return out, nil
}

// tail keeps the last entries of what is added.
type tail struct {
	limit, most int
	bytes       int
	entries     []LogEntry
	cut         bool
}

func (t *tail) add(all []LogEntry) {
	for _, e := range all {
		t.entries, t.bytes = append(t.entries, e), t.bytes+len(e.Text)
		for len(t.entries) > t.limit || t.bytes > t.most && len(t.entries) > 1 {
			t.bytes -= len(t.entries[0].Text)
			t.entries, t.cut = t.entries[1:], true
		}
	}
}

// LogWalk gives every entry that is wanted to the function, holding little of
// the log at a time, until that returns an error. Faults: NotFound.
func (s *Instances) LogWalk(ctx context.Context, by access.Actor, v InstanceView, q LogQuery, each func(LogEntry) error) error {
	q.Limit, q.After = MaxLogPage, LogCursor{Attempt: q.Attempt}
	for {
		page, err := s.Log(ctx, by, v, q)
		if err != nil {
			return err
		}
		for _, e := range page.Entries {
			if err := each(e); err != nil {
				return err
			}
		}
		if !page.More {
			return nil
		}
		q.After = page.After
	}
}

// logReader goes through the log of an attempt.
type logReader struct {
	store   logStore
	id      string
	attempt Attempt
	at      LogCursor // what was given out
	facts   []logFact // still to come
	lines   []logLine // still to come, of the stretches that were read
	from    int       // the stretch from which to read on
	drained bool      // no more stretches
	cut     bool      // there are more receipts than were read
	earlier bool      // the beginning was left out
}

// logReader begins to read; of receipts it has the first n behind the cursor,
// or the last -n.
func (s *Instances) logReader(ctx context.Context, by access.Actor, v InstanceView, q LogQuery, n int) (*logReader, error) {
	if err := by.Check(access.Read, v.TeamID); err != nil {
		return nil, err
	}
	a, ok := v.AttemptNo(q.Attempt)
	if !ok {
		return nil, access.NoObject()
	}
	parts, err := s.store.LogParts(ctx, v.ID, q.Attempt, q.After.receipt, n)
	if err != nil {
		return nil, err
	}
	r := &logReader{store: s.store, id: v.ID, attempt: a, at: q.After, from: q.After.seq}
	r.at.Attempt = q.Attempt
	if len(parts.Receipts) > maxReceipts {
		parts.Receipts, r.cut = parts.Receipts[:maxReceipts], true
	}
	r.facts = factsOf(v, a, parts, q.After)
	if r.cut { // what is later than the last one comes with the next page
		last := parts.Receipts[maxReceipts-1].At
		for i, f := range r.facts {
			if f.At.After(last) {
				r.facts = r.facts[:i]
				break
			}
		}
	}
	return r, nil
}

// AttemptNo gives an attempt of the instance; ok is false when there is none.
func (v InstanceView) AttemptNo(no int) (a Attempt, ok bool) {
	for _, a := range v.Attempts {
		if a.No == no {
			return a, true
		}
	}
	return a, false
}

// next gives the entry that comes next; ok is false at the end.
func (r *logReader) next(ctx context.Context) (e LogEntry, ok bool, err error) {
	if len(r.lines) == 0 && !r.drained {
		if err := r.fill(ctx); err != nil {
			return e, false, err
		}
	}
	switch {
	case len(r.facts) > 0 && (len(r.lines) == 0 || r.facts[0].before(r.lines[0].At)):
		f := r.facts[0]
		r.facts = r.facts[1:]
		f.cover(&r.at)
		return f.LogEntry, true, nil
	case len(r.lines) > 0 && (!r.cut || len(r.facts) > 0):
		l := r.lines[0]
		r.lines = r.lines[1:]
		r.at.seq, r.at.line = l.seq, l.line
		return l.LogEntry, true, nil
	}
	return e, false, nil
}

// fill reads on, until there is a line or no more stretch.
func (r *logReader) fill(ctx context.Context) error {
	for len(r.lines) == 0 && !r.drained {
		got, err := r.store.Stretches(ctx, r.id, r.attempt.No, r.from, stretchesAtOnce)
		if err != nil {
			return err
		}
		r.drained = len(got) < stretchesAtOnce
		for _, s := range got {
			r.lines = append(r.lines, linesOf(s, r.at)...)
			r.from = s.Seq + 1
		}
	}
	return nil
}

// fromEnd leaves out what is further from the end than so many lines or bytes.
func (r *logReader) fromEnd(ctx context.Context, lines, most int) error {
	r.drained = true
	for _, n := range []int{stretchesAtOnce / 2, 8 * stretchesAtOnce, 0} {
		out, err := r.store.Output(ctx, r.id, r.attempt.No, n)
		if err != nil {
			return err
		}
		r.lines, r.earlier = r.lines[:0], out.Earlier
		for _, s := range out.Stretches {
			r.lines = append(r.lines, linesOf(s, LogCursor{})...)
		}
		if !out.Earlier || len(r.lines) >= lines || out.Bytes() >= most {
			break
		}
	}
	if r.earlier && len(r.lines) > 0 {
		first := r.lines[0].At
		for len(r.facts) > 0 && r.facts[0].At.Before(first) {
			r.facts[0].cover(&r.at)
			r.facts = r.facts[1:]
		}
	}
	return nil
}

// logLine is a line that was printed, and the cursor behind it.
type logLine struct {
	LogEntry
	seq, line int
}

// linesOf are the lines of a stretch that a cursor doesn't cover. In the last
// part they are counted through, for its stretches are replaced as it moves.
func linesOf(s Stretch, after LogCursor) []logLine {
	last := s.Seq >= OutputTail
	if after.seq >= OutputTail && !last || s.Seq < after.seq && !last {
		return nil
	}
	var out []logLine
	ends := 0
	add := func(source LogSource, text string) {
		l := logLine{LogEntry: LogEntry{At: s.At, Source: source, Text: strings.TrimSuffix(text, "\n")}, seq: s.Seq, line: len(out) + 1}
		if last {
			l.seq, l.line = s.Seq+ends+1, 0
		}
		if len(out) == 0 && after.seq < max(s.Seq, OutputTail+1) {
			l.Skipped = s.Skipped
		}
		ends += strings.Count(text, "\n")
		out = append(out, l)
	}
	for source, text := range s.runs() {
		for line := range strings.Lines(text) {
			add(source, line)
		}
	}
	if len(out) == 0 && s.Skipped > 0 {
		add(LogStdout, "")
	}
	covered := 0
	for covered < len(out) && (last && out[covered].seq <= after.seq || !last && s.Seq == after.seq && out[covered].line <= after.line) {
		covered++
	}
	return out[covered:]
}

// runs gives the text by its sources.
func (s Stretch) runs() func(yield func(LogSource, string) bool) {
	return func(yield func(LogSource, string) bool) {
		source, text := LogStdout, s.Text
		for {
			at := strings.IndexAny(text, string([]byte{OutMark, ErrMark}))
			if at < 0 {
				yield(source, text)
				return
			}
			if !yield(source, text[:at]) {
				return
			}
			source = LogStdout
			if text[at] == ErrMark {
				source = LogStderr
			}
			text = text[at+1:]
		}
	}
}
