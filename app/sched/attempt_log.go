package sched

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"ax/app/fault"
)

// LogSource says where an entry of a log comes from.
type LogSource string

// The sources.
const (
	LogStdout   LogSource = "stdout"
	LogStderr   LogSource = "stderr"
	LogRequest  LogSource = "request"  // what was sent, secrets masked
	LogAnswer   LogSource = "answer"   // what came back
	LogReceipt  LogSource = "receipt"  // the target's later word, and what ax made of it
	LogProgress LogSource = "progress" // the target's words while it works
	LogAx       LogSource = "ax"       // what ax did
)

// LogSources are all sources, in the order of a page.
func LogSources() []LogSource {
	return []LogSource{LogStdout, LogStderr, LogRequest, LogAnswer, LogReceipt, LogProgress, LogAx}
}

// Bounds of what is kept and read of a log.
const (
	// NotesHead and NotesTail are how many words of a source are kept of an
	// attempt: the first and the last.
	NotesHead = 100
	NotesTail = 100
	// MaxLogPage is the most entries of one answer; LogPageBytes is after how
	// much text it ends earlier.
	MaxLogPage   = 1000
	LogPageBytes = 1 << 20
	// maxReceipts of an attempt are read at once.
	maxReceipts = 200
)

// NodeID is an argument of a text that pages show as the node's name.
type NodeID string

// LogEntry is one line of what was printed, or one thing that happened.
type LogEntry struct {
	At     time.Time
	Source LogSource
	Say    fault.Text // ax's own words; empty: it has none
	Text   string     // of the command or the target, as it came
	// Skipped is how many bytes before it were not kept, Dropped how many
	// entries of its source.
	Skipped int64
	Dropped int
}

// String is the entry in English.
func (e LogEntry) String() string { return joinSaid(e.Say.String(), e.Text) }

func joinSaid(said, text string) string {
	if said != "" && text != "" {
		return said + ": " + text
	}
	return said + text
}

// LogCursor is how far a log was read: what it covers, by source, so that an
// entry that is stored late is neither left out nor told twice.
type LogCursor struct {
	Attempt  int
	facts    int   // bits of what happens once
	events   int   // of the instance
	receipt  int64 // row
	progress int   // note
	refused  int   // note
	seq      int   // stretch; in the last part the line
	line     int   // entries of that stretch
}

// String is the cursor as a caller gets it.
func (c LogCursor) String() string {
	var b strings.Builder
	for i, n := range []int64{int64(c.Attempt), int64(c.facts), int64(c.events), c.receipt, int64(c.progress), int64(c.refused), int64(c.seq), int64(c.line)} {
		if i > 0 {
			b.WriteByte('.')
		}
		b.WriteString(strconv.FormatInt(n, 36))
	}
	return b.String()
}

// ParseLogCursor reads what String wrote; ok is false for anything else.
func ParseLogCursor(s string) (c LogCursor, ok bool) {
	parts := strings.Split(s, ".")
	if len(parts) != 8 {
		return c, false
	}
	var n [8]int64
	for i, p := range parts {
		got, err := strconv.ParseInt(p, 36, 64)
		if err != nil || got < 0 || i != 3 && got > 1<<31-1 {
			return c, false
		}
		n[i] = got
	}
	return LogCursor{
		Attempt: int(n[0]), facts: int(n[1]), events: int(n[2]), receipt: n[3],
		progress: int(n[4]), refused: int(n[5]), seq: int(n[6]), line: int(n[7]),
	}, true
}

// Receipts, Notes and Stretches tell a store from where on to read.
func (c LogCursor) Receipts() int64 { return c.receipt }

// Stretch is the one that reading goes on in, or after.
func (c LogCursor) Stretch() int { return c.seq }

// LogQuery narrows a log. Empty fields don't.
type LogQuery struct {
	Attempt int
	After   LogCursor
	Limit   int
	Words   string // in any case of letters, as they stand
	Sources []LogSource
}

// Narrowed tells whether something is left out.
func (q LogQuery) Narrowed() bool { return q.Words != "" || len(q.Sources) > 0 }

func (q LogQuery) wants(e LogEntry) bool {
	if len(q.Sources) > 0 && !slices.Contains(q.Sources, e.Source) {
		return false
	}
	return q.Words == "" || len(FindWords(e.String(), q.Words, 1)) > 0
}

// LogPage is a part of a log.
type LogPage struct {
	Attempt int
	Entries []LogEntry
	After   LogCursor // reading goes on from here
	More    bool      // there is more behind it already
	Earlier bool      // there is something before it that was wanted too
	Matches int       // how many entries were wanted in all; LogTail knows it of a narrowed log
	Ended   bool      // the attempt is over
}

// Note is a word that is kept of an attempt for its log.
type Note struct {
	Source LogSource
	Seq    int // from 1, by source
	At     time.Time
	Text   string
}

// ReceiptRow is a receipt as it was stored.
type ReceiptRow struct {
	ID      int64
	At      time.Time
	Outcome Outcome
	Message string
	Address string
}

// LogParts are what a log is made of beside the instance and what was printed.
type LogParts struct {
	Receipts []ReceiptRow // by id; at most maxReceipts
	Notes    []Note       // by source and number
	Shards   []ShardRun   // of the attempt
}
