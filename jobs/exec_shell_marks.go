package jobs

import (
	"bytes"
	"strings"

	"ax/app/sched"
)

// marks stand between text of standard output and of standard error.
const marks = string(sched.OutMark) + string(sched.ErrMark)

// lineWriter takes one source of a command and passes whole lines on, so that
// the two sources don't cut each other's lines.
type lineWriter struct {
	o    *output
	mark byte
	rest []byte // of a line that has not ended
}

// Write takes what comes.
func (w *lineWriter) Write(p []byte) (int, error) {
	w.o.mu.Lock()
	defer w.o.mu.Unlock()
	n := len(p)
	w.o.total += int64(n)
	p = unmarked(p)
	if len(w.rest) > 0 {
		w.rest = append(w.rest, p...)
		p = w.rest
	}
	whole := wholeLines(p)
	w.o.add(w.mark, p[:whole])
	w.rest = append(w.rest[:0], p[whole:]...)
	return n, nil
}

// flush passes on a last line without an end.
func (w *lineWriter) flush() {
	w.o.mu.Lock()
	defer w.o.mu.Unlock()
	w.o.add(w.mark, w.rest)
	w.rest = nil
}

// unmarked is what a command prints without what would be read as a mark.
func unmarked(p []byte) []byte {
	if bytes.IndexByte(p, sched.OutMark) < 0 && bytes.IndexByte(p, sched.ErrMark) < 0 {
		return p
	}
	out := make([]byte, 0, len(p))
	for _, c := range p {
		if c != sched.OutMark && c != sched.ErrMark {
			out = append(out, c)
		}
	}
	return out
}

// sourceAfter is the source that holds behind the bytes, which begin in one.
func sourceAfter(b []byte, was byte) byte {
	out, errs := bytes.LastIndexByte(b, sched.OutMark), bytes.LastIndexByte(b, sched.ErrMark)
	switch {
	case out == errs: // neither is there
		return was
	case out > errs:
		return sched.OutMark
	}
	return sched.ErrMark
}

// eachRun gives the bytes by runs of one source.
func eachRun(b []byte, from byte, yield func(mark byte, run []byte)) {
	for {
		at := bytes.IndexAny(b, marks)
		if at < 0 {
			yield(from, b)
			return
		}
		yield(from, b[:at])
		from, b = b[at], b[at+1:]
	}
}

// text is what is kept of bytes: readable, secrets masked, with its marks.
func (o *output) text(raw []byte, from byte) string {
	var b strings.Builder
	was := sched.OutMark
	eachRun(raw, from, func(mark byte, run []byte) {
		text := mask(plainOutput(string(run)), o.o.Secrets)
		if text == "" {
			return
		}
		if mark != was {
			b.WriteByte(mark)
			was = mark
		}
		b.WriteString(text)
	})
	return b.String()
}

// stretches cuts text into parts that one row holds, at line ends. Each says
// itself of which source it is.
func stretches(text string) []string {
	var out []string
	from := sched.OutMark
	for len(text) > sched.OutputStretch {
		part := firstBytes(text, sched.OutputStretch)
		if at := strings.LastIndexByte(part, '\n') + 1; at > 0 {
			part = part[:at]
		}
		out, text = append(out, part), text[len(part):]
		if from = sourceAfter([]byte(part), from); from == sched.ErrMark && text != "" {
			text, from = string(sched.ErrMark)+text, sched.OutMark
		}
	}
	if text != "" {
		out = append(out, text)
	}
	return out
}

// linesIn counts the line ends that plainOutput makes of bytes.
func linesIn(b []byte) int {
	n := bytes.Count(b, []byte{'\n'}) + bytes.Count(b, []byte{'\v'}) + bytes.Count(b, []byte{'\f'})
	if cr := bytes.Count(b, []byte{'\r'}); cr > 0 {
		n += cr - bytes.Count(b, []byte("\r\n"))
	}
	if bytes.Contains(b, []byte("\u2028")) || bytes.Contains(b, []byte("\u2029")) {
		n += bytes.Count(b, []byte("\u2028")) + bytes.Count(b, []byte("\u2029"))
	}
	return n
}
