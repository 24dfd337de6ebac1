package views

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"

	"ax/app/fault"
	"ax/app/sched"
	"ax/views/ui"
)

// Entries of a log that a page shows, and bytes of their text: first, and when
// one asks for more or searches. A page stays small whatever was printed.
const (
	LogShort      = 200
	LogShortBytes = 64 << 10
	LogLong       = 800
	LogLongBytes  = 96 << 10
)

// LogAsk is what the address says of a log.
type LogAsk struct {
	Attempt int // 0: the last one
	Words   string
	Sources []sched.LogSource // none: all
	Whole   bool              // more than its end
}

// Into sets the parameters of the address.
func (a LogAsk) Into(q url.Values) {
	if a.Attempt != 0 {
		q.Set("attempt", strconv.Itoa(a.Attempt))
	}
	if a.Words != "" {
		q.Set("q", a.Words)
	}
	for _, s := range a.Sources {
		q.Add("source", string(s))
	}
	if a.Whole {
		q.Set("log", "all")
	}
}

// at is the path with what is asked of the log.
func (a LogAsk) at(path string) string {
	q := url.Values{}
	if a.Into(q); len(q) > 0 {
		return path + "?" + q.Encode()
	}
	return path
}

// turned is the ask with the source added, or taken away.
func (a LogAsk) turned(s sched.LogSource) LogAsk {
	a.Sources = slices.Clone(a.Sources)
	if i := slices.Index(a.Sources, s); i >= 0 {
		a.Sources = slices.Delete(a.Sources, i, i+1)
	} else {
		a.Sources = append(a.Sources, s)
	}
	return a
}

// printed are the sources of a command's own output.
var printed = []sched.LogSource{sched.LogStdout, sched.LogStderr}

// has tells whether the source was chosen.
func (a LogAsk) has(s sched.LogSource) bool { return slices.Contains(a.Sources, s) }

// all is the ask for more than the end.
func (a LogAsk) all() LogAsk {
	a.Whole = true
	return a
}

func chosen(on bool) templ.Attributes {
	if !on {
		return nil
	}
	return templ.Attributes{"aria-current": "true"}
}

// self is the page's address with what is open on it.
func (p InstancePage) self() string { return p.Ask.at(p.path()) }

// logAt is the page with another ask, at its log.
func (p InstancePage) logAt(a LogAsk) string { return a.at(p.path()) + "#log" }

// logFile is the log of an attempt as a file.
func (p InstancePage) logFile(a LogAsk) string {
	a.Whole = false
	return a.at(p.path() + "/output")
}

// following tells whether the shown attempt may still get entries.
func (p InstancePage) following() bool {
	return p.open() && p.Log.Attempt != 0 && p.Log.Attempt == p.View.Attempt
}

// logSources are the sources that a log of such work has.
func (p InstancePage) logSources() []sched.LogSource {
	a, _ := p.View.AttemptNo(p.Log.Attempt)
	if a.Executor == string(sched.TargetShell) {
		return []sched.LogSource{sched.LogStdout, sched.LogStderr, sched.LogRequest, sched.LogAnswer, sched.LogAx}
	}
	return []sched.LogSource{sched.LogRequest, sched.LogAnswer, sched.LogProgress, sched.LogReceipt, sched.LogAx}
}

func sourceWord(ctx context.Context, s sched.LogSource) string {
	switch s {
	case sched.LogRequest:
		return t(ctx, "request|log")
	case sched.LogAnswer:
		return t(ctx, "answer|log")
	case sched.LogReceipt:
		return t(ctx, "receipt|log")
	case sched.LogProgress:
		return t(ctx, "progress|log")
	default: // stdout, stderr and ax are names
		return string(s)
	}
}

// logTabs are the attempts whose log can be shown.
func (p InstancePage) logTabs() []ui.Tab {
	var out []ui.Tab
	for _, a := range p.View.Attempts {
		ask := p.Ask
		ask.Attempt = a.No
		out = append(out, ui.Tab{Label: number(a.No), Href: p.logAt(ask), On: a.No == p.Log.Attempt})
	}
	const shown = 8
	return out[max(0, len(out)-shown):]
}

// logCount says how much of the log is shown; "" when that is all of it.
func (p InstancePage) logCount(ctx context.Context) string {
	shown := tn(ctx, "the last %d are shown", len(p.Log.Entries))
	switch {
	case p.Ask.Words != "" && p.Log.Earlier:
		return joined(" · ", tn(ctx, "%d entries match", p.Log.Matches), shown)
	case p.Ask.Words != "":
		return tn(ctx, "%d entries match", p.Log.Matches)
	case p.Log.Earlier:
		return shown
	}
	return ""
}

// logRow is an entry as the page shows it.
type logRow struct {
	at      time.Time
	clock   string // "" when it is that of the row before
	source  string // the same
	class   string
	text    []markedText
	skipped string // what is not kept before it
}

// markedText is text, found by a search or not.
type markedText struct {
	text  string
	found bool
}

func (p InstancePage) logRows(ctx context.Context) []logRow {
	out := make([]logRow, 0, len(p.Log.Entries))
	var before logRow
	for _, e := range p.Log.Entries {
		row := logRow{
			at: e.At, clock: viewer(ctx).TimeOfDay(e.At), source: sourceWord(ctx, e.Source), class: "l-" + string(e.Source),
			text: marked(p.logWords(ctx, e), p.Ask.Words), skipped: viewer(ctx).SkippedText(e),
		}
		full := row
		if row.clock == before.clock {
			row.clock = ""
		}
		if row.source == before.source {
			row.source = ""
		}
		out, before = append(out, row), full
	}
	return out
}

// logWords is the entry's text for the page's viewer; nodes by their names.
func (p InstancePage) logWords(ctx context.Context, e sched.LogEntry) string {
	say := e.Say
	say.Args = slices.Clone(say.Args)
	for i, a := range say.Args {
		if id, ok := a.(sched.NodeID); ok {
			say.Args[i] = nodeName(p.Nodes, string(id))
		}
	}
	return logText(ctx, say, e.Text)
}

func logText(ctx context.Context, say fault.Text, came string) string {
	if say.Format == "" {
		return came
	}
	said := text(ctx, say)
	if came == "" {
		return said
	}
	return t(ctx, "%s: %s", said, came)
}

// marked takes a text apart by the words that were searched for.
func marked(text, words string) []markedText {
	if text == "" {
		return nil
	}
	var out []markedText
	at := 0
	for _, found := range sched.FindWords(text, words, 0) {
		if found[0] > at {
			out = append(out, markedText{text: text[at:found[0]]})
		}
		out = append(out, markedText{text[found[0]:found[1]], true})
		at = found[1]
	}
	if at < len(text) {
		out = append(out, markedText{text: text[at:]})
	}
	return out
}

// SkippedText says what is not kept before an entry; "" when nothing is
// missing.
func (v Viewer) SkippedText(e sched.LogEntry) string {
	ctx := With(context.Background(), v)
	switch {
	case e.Skipped > 0:
		return t(ctx, "%s not kept here", bytesText(e.Skipped))
	case e.Dropped > 0:
		return tn(ctx, "%d entries not kept here", e.Dropped)
	}
	return ""
}

// LogText is an entry as lines of a file: time, source and text, or the bare
// text.
func (v Viewer) LogText(e sched.LogEntry, bare bool) string {
	ctx := With(context.Background(), v)
	var b strings.Builder
	if cut := v.SkippedText(e); cut != "" {
		b.WriteString("[… " + cut + " …]\n")
	}
	said := logText(ctx, e.Say, e.Text)
	if bare {
		return b.String() + said + "\n"
	}
	head := e.At.In(cmp.Or(v.Zone, time.UTC)).Format("2006-01-02T15:04:05.000Z07:00") + "  " + string(e.Source)
	head += strings.Repeat(" ", max(2, 10-len(e.Source)))
	b.WriteString(head + strings.ReplaceAll(said, "\n", "\n"+strings.Repeat(" ", len(head))) + "\n")
	return b.String()
}

// logQuiet says what stands where there is no entry.
func (p InstancePage) logQuiet(ctx context.Context) string {
	switch {
	case p.Ask.Words != "":
		return t(ctx, "No entry has “%s”.", p.Ask.Words)
	case len(p.Ask.Sources) > 0 && p.following():
		return t(ctx, "Nothing of these sources yet.")
	default:
		return t(ctx, "Nothing of these sources.")
	}
}

// overdueFor is how long the awaited target has been silent past what it may;
// 0: it isn't.
func (p InstancePage) overdueFor(ctx context.Context) time.Duration {
	if p.silence() == 0 || p.View.ReceiptDeadline.IsZero() {
		return 0
	}
	return max(0, viewer(ctx).Now.Sub(p.View.ReceiptDeadline))
}
