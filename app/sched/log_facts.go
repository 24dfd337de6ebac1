package sched

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"ax/app/fault"
)

// What happens once in an attempt, as bits of a cursor.
const (
	factBegan = 1 << iota
	factRequest
	factAnswer
	factAccepted
	factShards
	factEnd
)

// logFact is an entry that was not printed, and the cursor's place for it.
type logFact struct {
	LogEntry
	cover func(c *LogCursor)
}

// covered tells whether a cursor has it already.
func (f logFact) covered(c LogCursor) bool {
	had := c
	f.cover(&had)
	return had == c
}

// factsOf are the facts of an attempt that the cursor doesn't cover, in their
// order.
func factsOf(v InstanceView, a Attempt, p LogParts, after LogCursor) []logFact {
	all := slices.Concat(onceFacts(a, p), eventFacts(v, a), receiptFacts(v, p.Receipts), noteFacts(p.Notes))
	all = slices.DeleteFunc(all, func(f logFact) bool { return f.covered(after) })
	slices.SortStableFunc(all, func(x, y logFact) int { return cmp.Or(x.At.Compare(y.At), cmp.Compare(x.rank(), y.rank())) })
	return all
}

// rank orders what happened in the same millisecond.
func (f logFact) rank() int {
	var c LogCursor
	f.cover(&c)
	if c.facts == 0 { // events and words stand between the answer and the end
		return factAccepted
	}
	return c.facts
}

// before tells whether it comes before a line that was printed at a moment.
func (f logFact) before(line time.Time) bool {
	return f.At.Before(line) || f.At.Equal(line) && f.rank() <= factRequest
}

func say(format string, args ...any) fault.Text { return fault.Text{Format: format, Args: args} }

func onceFacts(a Attempt, p LogParts) []logFact {
	var out []logFact
	add := func(bit int, e LogEntry) {
		out = append(out, logFact{e, func(c *LogCursor) { c.facts |= bit }})
	}
	sent := a.SentAt
	if sent.IsZero() {
		sent = a.StartedAt
	}
	add(factBegan, LogEntry{At: a.StartedAt, Source: LogAx, Say: say("Attempt %s began on node %s, with definition version %s",
		strconv.Itoa(a.No), NodeID(a.NodeID), strconv.Itoa(a.TaskVersion))})
	if a.Request != "" {
		add(factRequest, LogEntry{At: sent, Source: LogRequest, Text: a.Request})
	}
	back := a.EndedAt
	if at, ok := acceptedAt(p.Notes); ok {
		back = at
		add(factAccepted, LogEntry{At: at, Source: LogAx, Say: say("The target accepted the work; its receipt is waited for")})
	}
	if a.Response != "" {
		add(factAnswer, LogEntry{At: later(back, sent), Source: LogAnswer, Text: answerText(a)})
	}
	if a.EndedAt.IsZero() {
		return out
	}
	if text := shardsText(p.Shards); text != "" {
		add(factShards, LogEntry{At: a.EndedAt, Source: LogAnswer, Text: text})
	}
	end := LogEntry{At: a.EndedAt, Source: LogAx, Say: endWords(a.Outcome)}
	if a.Outcome != OutcomeSucceeded {
		end.Text = a.Error
	}
	add(factEnd, end)
	return out
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// acceptedAt is when the target took the work.
func acceptedAt(notes []Note) (time.Time, bool) {
	for _, n := range notes {
		if n.Source == LogAx {
			return n.At, true
		}
	}
	return time.Time{}, false
}

// answerText is what came back; what a command printed stands in lines of its
// own.
func answerText(a Attempt) string {
	if a.Executor == string(TargetShell) {
		head, _, _ := strings.Cut(a.Response, "\n\n")
		return head
	}
	return strings.TrimRight(a.Response, "\n")
}

// shownShards are the parts of a broadcast that a log tells one by one.
const shownShards = 200

func shardsText(shards []ShardRun) string {
	var lines []string
	for _, s := range shards {
		if len(lines) == shownShards {
			lines = append(lines, "…")
			break
		}
		line := strconv.Itoa(s.Index+1) + "/" + strconv.Itoa(s.Total) + " " + s.Address + ": " + cmp.Or(string(s.Outcome), "no answer")
		if s.StatusCode != 0 {
			line += " " + strconv.Itoa(s.StatusCode)
		}
		lines = append(lines, joinSaid(line, s.Error))
	}
	return strings.Join(lines, "\n")
}

func endWords(o Outcome) fault.Text {
	switch o {
	case OutcomeSucceeded:
		return say("The attempt succeeded")
	case OutcomeFailed:
		return say("The attempt failed")
	case OutcomeTimedOut:
		return say("The attempt timed out")
	case OutcomeLost:
		return say("The attempt was lost")
	default:
		return say("The attempt was canceled")
	}
}

// eventFacts are the events of an attempt's time. Receipts have rows of their
// own.
func eventFacts(v InstanceView, a Attempt) []logFact {
	var until time.Time
	for _, next := range v.Attempts {
		if next.No == a.No+1 {
			until = next.StartedAt
		}
	}
	var out []logFact
	for i, e := range v.Events {
		words := eventWords(e)
		before := a.No > 1 && e.At.Before(a.StartedAt)
		if words.Format == "" || before || !until.IsZero() && !e.At.Before(until) {
			continue
		}
		entry := LogEntry{At: e.At, Source: LogAx, Say: words, Text: e.Detail}
		out = append(out, logFact{entry, func(c *LogCursor) { c.events = max(c.events, i+1) }})
	}
	return out
}

// eventWords say what an event is; none for those that are told otherwise.
func eventWords(e InstanceEvent) fault.Text {
	switch e.Kind {
	case EvResent:
		return say("The message was sent again")
	case EvLost:
		return say("Node %s was lost", NodeID(e.NodeID))
	case EvRefusedClaim:
		return say("Node %s got the message as well and was refused", NodeID(e.NodeID))
	case EvRefusedResult:
		return say("A late result of node %s was refused", NodeID(e.NodeID))
	case EvCanceled:
		return say("%s canceled it", e.Actor)
	case EvCancelWanted:
		return say("%s asked to cancel it", e.Actor)
	case EvHandedBack:
		return say("Node %s handed it back before anything was sent", NodeID(e.NodeID))
	case EvOverdue:
		return say("Node %s ended it past its deadline", NodeID(e.NodeID))
	case EvDeferred:
		return say("Put off: no free place")
	case EvReceipt, EvRefusedWord:
		return fault.Text{}
	default:
		return say("%s", string(e.Kind))
	}
}

func receiptFacts(v InstanceView, rows []ReceiptRow) []logFact {
	counted := map[int64]int{} // receipts that ended it, by their moment
	for _, e := range v.Events {
		if e.Kind == EvReceipt {
			counted[e.At.UnixMilli()]++
		}
	}
	var out []logFact
	for _, r := range rows {
		e := LogEntry{At: r.At, Source: LogReceipt, Text: strings.TrimSpace(string(r.Outcome) + " " + r.Message)}
		if counted[r.At.UnixMilli()] > 0 {
			counted[r.At.UnixMilli()]--
			e.Say = say("A receipt from %s ended it", r.Address)
		} else {
			e.Say = say("A receipt from %s came after the end and changed nothing", r.Address)
		}
		out = append(out, logFact{e, func(c *LogCursor) { c.receipt = max(c.receipt, r.ID) }})
	}
	return out
}

func noteFacts(notes []Note) []logFact {
	var out []logFact
	before := map[LogSource]int{}
	for _, n := range notes {
		e := LogEntry{At: n.At, Source: n.Source, Text: n.Text, Dropped: n.Seq - before[n.Source] - 1}
		before[n.Source] = n.Seq
		switch n.Source {
		case LogProgress:
			out = append(out, logFact{e, func(c *LogCursor) { c.progress = max(c.progress, n.Seq) }})
		case LogReceipt:
			e.Say = say("A receipt was refused")
			out = append(out, logFact{e, func(c *LogCursor) { c.refused = max(c.refused, n.Seq) }})
		default: // LogAx: when the work was accepted
		}
	}
	return out
}
