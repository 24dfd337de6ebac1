package jobs

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"ax/app/sched"
)

const (
	// writeEvery is how often what was printed is brought to the ledger at
	// most; writeSoon is how soon after a pause.
	writeEvery = time.Second
	writeSoon  = 100 * time.Millisecond
	// longLine is how much of a line without an end is kept waiting for it.
	longLine = 8 << 10
	// writeLimit bounds the last writing; the result waits for it.
	writeLimit = 10 * time.Second
	// keptExcerpt is how much of the end stands with the attempt itself.
	keptExcerpt = 4 << 10
)

// outputStore keeps what commands print.
type outputStore interface {
	// WriteOutput adds stretches; those from number from on are replaced.
	WriteOutput(ctx context.Context, instanceID string, attempt, from int, add []sched.Stretch) error
}

// outputOptions of newOutput; all are required but Secrets.
type outputOptions struct {
	Store      outputStore
	InstanceID string
	Attempt    int
	Kept       int      // bytes: the first and the last half of what is printed
	Secrets    []string // longest first
	Now        func() time.Time
	Log        *slog.Logger
}

// output takes what a command prints, as fast as it comes, and holds no more
// than is kept. It never waits for the ledger.
type output struct {
	o    outputOptions
	out  lineWriter    // standard output
	errs lineWriter    // standard error
	news chan struct{} // something came

	mu       sync.Mutex
	mark     byte   // source of what came last
	mixed    bool   // it changed
	head     []byte // of the first half, not written yet
	headFrom byte   // source that it begins in
	room     int    // what the first half still takes
	tail     []byte // the last half, or more until it is cut
	tailFrom byte
	tailed   int64 // bytes that came to the tail
	lines    int   // of them
	total    int64
	changed  bool   // the tail, since it was written
	ends     []byte // the very end of all

	writing sync.Mutex // one writer at a time
	seq     int        // of the last stretch of the head
}

func newOutput(o outputOptions) *output {
	out := &output{o: o, room: o.Kept / 2, news: make(chan struct{}, 1), mark: sched.OutMark, headFrom: sched.OutMark, tailFrom: sched.OutMark}
	out.out, out.errs = lineWriter{o: out, mark: sched.OutMark}, lineWriter{o: out, mark: sched.ErrMark}
	return out
}

// add takes whole lines of a source.
func (o *output) add(mark byte, p []byte) {
	if len(p) == 0 {
		return
	}
	if mark != o.mark {
		o.mark, o.mixed = mark, true
		o.put([]byte{mark})
	}
	o.put(p)
	o.ring()
}

// ring tells follow that there is something to write.
func (o *output) ring() {
	select {
	case o.news <- struct{}{}:
	default:
	}
}

func (o *output) put(p []byte) {
	o.ends = append(o.ends, p[max(0, len(p)-2*keptExcerpt):]...)
	o.ends = o.ends[max(0, len(o.ends)-2*keptExcerpt):]
	if o.room > 0 {
		first := min(o.room, len(p))
		o.head, o.room, p = append(o.head, p[:first]...), o.room-first, p[first:]
		if o.room == 0 {
			o.turn()
		}
	}
	o.toTail(p)
}

// turn begins the last half with the line that the first one would cut.
func (o *output) turn() {
	at := bytes.LastIndexByte(o.head, '\n') + 1
	if rest := len(o.head) - at; rest > longLine {
		at = len(o.head)
	}
	o.tailFrom = o.after(o.head[:at], o.headFrom)
	o.toTail(bytes.Clone(o.head[at:]))
	o.head = o.head[:at]
}

// after is sourceAfter; without a change of source nothing is searched.
func (o *output) after(b []byte, was byte) byte {
	if !o.mixed {
		return was
	}
	return sourceAfter(b, was)
}

func (o *output) toTail(p []byte) {
	if len(p) == 0 {
		return
	}
	half := o.o.Kept / 2
	o.tailed += int64(len(p))
	o.lines += linesIn(p)
	o.changed = true
	if n := len(p) - half; n > 0 {
		o.tailFrom = o.after(p[:n], o.after(o.tail, o.tailFrom))
		o.tail, p = o.tail[:0], p[n:]
	}
	if len(o.tail)+len(p) > 2*half {
		n := len(o.tail) - max(0, half-len(p))
		o.tailFrom = o.after(o.tail[:n], o.tailFrom)
		o.tail = append(o.tail[:0], o.tail[n:]...)
	}
	o.tail = append(o.tail, p...)
}

// follow writes what comes until the returned function is called, which writes
// the rest.
func (o *output) follow(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var all sync.WaitGroup
	all.Go(func() { o.keep(ctx) })
	return func() {
		cancel()
		all.Wait()
		o.out.flush()
		o.errs.flush()
		last, done := context.WithTimeout(context.WithoutCancel(ctx), writeLimit)
		defer done()
		if err := o.write(last, true); err != nil {
			o.o.Log.Warn("the rest of what a command printed is not kept", "instance_id", o.o.InstanceID, "error", err)
		}
	}
}

// keep writes what comes until ctx ends: soon after a pause, else every while.
func (o *output) keep(ctx context.Context) {
	var wrote time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-o.news:
		}
		soon := time.NewTimer(max(writeSoon, writeEvery-o.o.Now().Sub(wrote)))
		select {
		case <-ctx.Done():
			soon.Stop()
			return
		case <-soon.C:
		}
		if err := o.write(ctx, false); err != nil && ctx.Err() == nil {
			o.o.Log.Warn("what a command prints waits for the ledger", "instance_id", o.o.InstanceID, "error", err)
			o.ring()
		}
		wrote = o.o.Now()
	}
}

// write brings what is new to the ledger: of the first half what is whole, of
// the last one its very end, and all of it at the end.
func (o *output) write(ctx context.Context, end bool) error {
	o.writing.Lock()
	defer o.writing.Unlock()
	o.mu.Lock()
	whole := len(o.head)
	if !end {
		whole = wholeLines(o.head)
	}
	head, from := bytes.Clone(o.head[:whole]), o.headFrom
	var tail lastPart
	if o.changed {
		tail = o.lastHalf(end)
	}
	o.changed = false
	o.mu.Unlock()

	now, seq := o.o.Now(), o.seq
	var add []sched.Stretch
	for _, text := range stretches(o.text(head, from)) {
		seq++
		add = append(add, sched.Stretch{Seq: seq, At: now, Text: text})
	}
	replaced := 0
	if len(tail.raw) > 0 {
		replaced = sched.OutputTail
		add = append(add, o.lastStretches(tail, now)...)
	}
	if len(add) > 0 {
		if err := o.o.Store.WriteOutput(ctx, o.o.InstanceID, o.o.Attempt, replaced, add); err != nil {
			o.mu.Lock()
			o.changed = o.changed || len(tail.raw) > 0
			o.mu.Unlock()
			return err
		}
	}
	o.seq = seq
	o.mu.Lock()
	o.headFrom = o.after(o.head[:whole], o.headFrom)
	o.head = o.head[whole:]
	o.mu.Unlock()
	return nil
}

// lastPart is what is kept of the tail.
type lastPart struct {
	raw     []byte
	from    byte
	skipped int64 // bytes before it
	lines   int   // in all of the tail up to its end
}

// cut leaves n bytes out at its beginning.
func (p *lastPart) cut(n int) {
	p.from = sourceAfter(p.raw[:n], p.from)
	p.raw, p.skipped = p.raw[n:], p.skipped+int64(n)
}

// lastHalf is what is kept of the tail: while the command runs only the very
// end, so that one that prints without an end doesn't fill the ledger's log.
func (o *output) lastHalf(end bool) lastPart {
	most := o.o.Kept / 2
	if !end {
		most = min(most, sched.OutputStretch)
	}
	p := lastPart{raw: o.tail, from: o.tailFrom, skipped: o.tailed - int64(len(o.tail)), lines: o.lines}
	if n := len(o.tail) - most; n > 0 {
		p.cut(n)
	}
	if p.skipped > 0 { // begin with a whole line
		if at := bytes.IndexByte(p.raw, '\n') + 1; at > 0 && at <= longLine && at < len(p.raw) {
			p.cut(at)
		}
	}
	p.raw = bytes.Clone(p.raw)
	return p
}

// lastStretches are the tail's, numbered by their lines.
func (o *output) lastStretches(p lastPart, now time.Time) []sched.Stretch {
	var out []sched.Stretch
	seq := min(sched.OutputTail+p.lines-linesIn(p.raw), maxSeq)
	for i, text := range stretches(o.text(p.raw, p.from)) {
		s := sched.Stretch{Seq: seq, At: now, Text: text}
		if i == 0 {
			s.Skipped = p.skipped
		}
		seq += max(1, strings.Count(text, "\n"))
		out = append(out, s)
	}
	if len(out) == 0 && p.skipped > 0 {
		out = append(out, sched.Stretch{Seq: seq, At: now, Skipped: p.skipped})
	}
	return out
}

// maxSeq keeps the numbers of stretches in their column.
const maxSeq = 2_000_000_000

// size is how many bytes were printed.
func (o *output) size() int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.total
}

// excerpt is the end of what was printed, as it stands with the attempt.
func (o *output) excerpt() string {
	o.mu.Lock()
	raw, cut := o.ends, o.total > int64(len(o.ends))
	o.mu.Unlock()
	return o.endOf(raw, sched.OutMark, cut)
}

// endOf is an end of what was printed, which begins in a source: readable, by
// whole lines where it is cut.
func (o *output) endOf(raw []byte, from byte, cut bool) string {
	text := strings.Map(func(r rune) rune {
		if strings.ContainsRune(marks, r) {
			return -1
		}
		return r
	}, o.text(raw, from))
	if len(text) > keptExcerpt {
		cut, text = true, text[len(text)-keptExcerpt:]
	}
	if cut {
		if _, rest, ok := strings.Cut(text, "\n"); ok && rest != "" {
			text = rest
		}
		text = strings.ToValidUTF8(text, "")
	}
	return text
}

// last is the last line that says something: of standard error, or of all that
// was printed when that was silent. Which source spoke last is chance.
func (o *output) last() string {
	o.mu.Lock()
	raw, cut := o.ends, o.total > int64(len(o.ends))
	o.mu.Unlock()
	var errs []byte
	eachRun(raw, sched.OutMark, func(mark byte, run []byte) {
		if mark == sched.ErrMark {
			errs = append(errs, run...)
		}
	})
	if line := lastLine(o.endOf(errs, sched.ErrMark, cut)); line != "" {
		return line
	}
	return lastLine(o.endOf(raw, sched.OutMark, cut))
}

func lastLine(text string) string {
	lines := strings.Split(text, "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if line := strings.TrimSpace(lines[i]); line != "" {
			return line
		}
	}
	return ""
}

// wholeLines is how much of the bytes ends with a line, or with a character
// when a line is very long.
func wholeLines(b []byte) int {
	if at := bytes.LastIndexByte(b, '\n') + 1; at > 0 || len(b) <= longLine {
		return at
	}
	end := len(b)
	for back := 0; back < utf8.UTFMax && end > 0; back++ {
		if r, size := utf8.DecodeLastRune(b[:end]); r != utf8.RuneError || size > 1 {
			break
		}
		end--
	}
	return end
}
