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
	// writeEvery is how often what was printed is brought to the ledger.
	writeEvery = time.Second
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
	o outputOptions

	mu      sync.Mutex
	head    []byte // of the first half, not written yet
	room    int    // what the first half still takes
	tail    []byte // the last half, or more until it is cut
	tailed  int64  // bytes that came to the tail
	total   int64
	changed bool   // the tail, since it was written
	ends    []byte // the very end of all

	writing sync.Mutex // one writer at a time
	seq     int        // of the last stretch of the head
}

func newOutput(o outputOptions) *output { return &output{o: o, room: o.Kept / 2} }

// Write takes what comes.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := len(p)
	o.total += int64(n)
	o.ends = append(o.ends, p[max(0, n-2*keptExcerpt):]...)
	o.ends = o.ends[max(0, len(o.ends)-2*keptExcerpt):]
	if o.room > 0 {
		first := min(o.room, len(p))
		o.head, o.room, p = append(o.head, p[:first]...), o.room-first, p[first:]
		if o.room == 0 {
			o.turn()
		}
	}
	o.toTail(p)
	return n, nil
}

// turn begins the last half with the line that the first one would cut.
func (o *output) turn() {
	at := bytes.LastIndexByte(o.head, '\n') + 1
	if rest := len(o.head) - at; rest > 0 && rest <= longLine {
		o.toTail(bytes.Clone(o.head[at:]))
		o.head = o.head[:at]
	}
}

func (o *output) toTail(p []byte) {
	if len(p) == 0 {
		return
	}
	half := o.o.Kept / 2
	o.tailed += int64(len(p))
	o.changed = true
	p = p[max(0, len(p)-half):]
	if len(o.tail)+len(p) > 2*half {
		o.tail = append(o.tail[:0], o.tail[len(o.tail)-max(0, half-len(p)):]...)
	}
	o.tail = append(o.tail, p...)
}

// follow writes what comes until the returned function is called, which writes
// the rest.
func (o *output) follow(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var all sync.WaitGroup
	all.Go(func() {
		every := time.NewTicker(writeEvery)
		defer every.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-every.C:
				if err := o.write(ctx, false); err != nil && ctx.Err() == nil {
					o.o.Log.Warn("what a command prints waits for the ledger", "instance_id", o.o.InstanceID, "error", err)
				}
			}
		}
	})
	return func() {
		cancel()
		all.Wait()
		last, done := context.WithTimeout(context.WithoutCancel(ctx), writeLimit)
		defer done()
		if err := o.write(last, true); err != nil {
			o.o.Log.Warn("the rest of what a command printed is not kept", "instance_id", o.o.InstanceID, "error", err)
		}
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
	head := bytes.Clone(o.head[:whole])
	var tail []byte
	if o.changed {
		tail = o.lastHalf()
	}
	skipped := o.tailed - int64(len(tail))
	o.changed = false
	o.mu.Unlock()

	now, seq := o.o.Now(), o.seq
	var add []sched.Stretch
	for _, text := range stretches(o.text(head)) {
		seq++
		add = append(add, sched.Stretch{Seq: seq, At: now, Text: text})
	}
	from := 0
	if len(tail) > 0 {
		from = sched.OutputTail
		add = append(add, o.lastStretches(tail, skipped, end, now)...)
	}
	if len(add) == 0 {
		return nil
	}
	if err := o.o.Store.WriteOutput(ctx, o.o.InstanceID, o.o.Attempt, from, add); err != nil {
		o.mu.Lock()
		o.changed = o.changed || len(tail) > 0
		o.mu.Unlock()
		return err
	}
	o.seq = seq
	o.mu.Lock()
	o.head = o.head[whole:]
	o.mu.Unlock()
	return nil
}

// lastHalf is what is kept of the tail.
func (o *output) lastHalf() []byte {
	return bytes.Clone(o.tail[max(0, len(o.tail)-o.o.Kept/2):])
}

// lastStretches are the tail's: while the command runs only the very end, so
// that one that prints without an end doesn't fill the ledger's log.
func (o *output) lastStretches(tail []byte, skipped int64, end bool, now time.Time) []sched.Stretch {
	if live := sched.OutputStretch; !end && len(tail) > live {
		skipped += int64(len(tail) - live)
		tail = tail[len(tail)-live:]
	}
	if skipped > 0 { // begin with a whole line
		if at := bytes.IndexByte(tail, '\n') + 1; at > 0 && at <= longLine && at < len(tail) {
			skipped, tail = skipped+int64(at), tail[at:]
		}
	}
	var out []sched.Stretch
	for i, text := range stretches(o.text(tail)) {
		s := sched.Stretch{Seq: sched.OutputTail + i, At: now, Text: text}
		if i == 0 {
			s.Skipped = skipped
		}
		out = append(out, s)
	}
	if len(out) == 0 && skipped > 0 {
		out = append(out, sched.Stretch{Seq: sched.OutputTail, At: now, Skipped: skipped})
	}
	return out
}

// text is what is kept of bytes: readable, secrets masked.
func (o *output) text(raw []byte) string { return mask(plainOutput(string(raw)), o.o.Secrets) }

// size is how many bytes were printed.
func (o *output) size() int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.total
}

// excerpt is the end of what was printed, as it stands with the attempt.
func (o *output) excerpt() string {
	o.mu.Lock()
	raw := o.ends
	cut := o.total > int64(len(raw))
	o.mu.Unlock()
	text := o.text(raw)
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

// last is the last line that says something.
func (o *output) last() string {
	lines := strings.Split(o.excerpt(), "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if line := strings.TrimSpace(lines[i]); line != "" {
			return line
		}
	}
	return ""
}

// stretches cuts text into parts that one row holds, at line ends.
func stretches(text string) []string {
	var out []string
	for len(text) > sched.OutputStretch {
		part := firstBytes(text, sched.OutputStretch)
		if at := strings.LastIndexByte(part, '\n') + 1; at > 0 {
			part = part[:at]
		}
		out, text = append(out, part), text[len(part):]
	}
	if text != "" {
		out = append(out, text)
	}
	return out
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
