package cron

import (
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	robfig "github.com/robfig/cron/v3"
	"github.com/stretchr/testify/require"
)

// A published library reads the same five fields in UTC. Where it gives another
// answer, a rule of doc.go must say why; and what it gives for the same
// expression in plain lists, without that rule, must then be ours. Seven fields
// and L, W, # are held to another library by bench/cronlib.

// difference is a rule of ours that the library doesn't have.
type difference struct {
	name   string
	source string                // its words in doc.go
	seen   func(f []string) bool // minute … weekday, as written
	plain  bool                  // the expression in plain lists means the same
}

var (
	specialDay     = regexp.MustCompile(`(?i)[LW]`)
	specialWeekday = regexp.MustCompile(`(?i)#|[0-9]L|[A-Z]{3}L`)
	seven          = regexp.MustCompile(`(^|[,-])7($|[,/-])`)
	weekdayStep    = regexp.MustCompile(`(^|,)\w+/`)
	laterStar      = regexp.MustCompile(`,\*(/1)?(,|$)`)
	rangeOf        = regexp.MustCompile(`^(\w+)-(\w+)(/\d+)?$`)
	longStep       = regexp.MustCompile(`/(\d+)`)
)

func differences() []difference {
	return []difference{
		{"L, W and #", "L last day of the month", func(f []string) bool {
			return specialDay.MatchString(f[2]) || specialWeekday.MatchString(f[4])
		}, false},
		{"7 is Sunday", "weekday 0–7 where 0 and 7 are Sunday", func(f []string) bool { return seven.MatchString(f[4]) }, true},
		{"the week ends with 7", "the end of the Vixie weekday is 7", func(f []string) bool { return weekdayStep.MatchString(f[4]) }, true},
		{"a range wraps", "ranges may wrap", wraps, true},
		{"a star with a step leaves the day open", `A field whose text begins with * counts as unrestricted`, func(f []string) bool {
			return strings.HasPrefix(f[2], "*/") || strings.HasPrefix(f[4], "*/")
		}, true},
		{"a star later in the list doesn't", `A field whose text begins with * counts as unrestricted`, func(f []string) bool {
			return laterStar.MatchString(f[2]) || laterStar.MatchString(f[4])
		}, true},
		{"? stands in a day field, alone, once", "? in at most one day field", func(f []string) bool {
			strange := strings.Contains(f[0]+f[1]+f[3], "?") || f[2] == "?" && f[4] == "?"
			for _, day := range []string{f[2], f[4]} {
				strange = strange || len(day) > 1 && strings.Contains(day, "?")
			}
			return strange
		}, false},
		{"a step longer than the field", "a step longer than the field is", func(f []string) bool {
			for i, most := range []int{59, 23, 31, 12, 7} {
				for _, m := range longStep.FindAllStringSubmatch(f[i], -1) {
					if n, _ := strconv.Atoi(m[1]); n > most {
						return true
					}
				}
			}
			return false
		}, false},
	}
}

// These two can't be seen in the text; the comparison finds them.
const (
	neverRule   = "what can never fire is refused"
	horizonRule = "the library gives up after five years"
)

var fieldNames = []map[string]int{3: named(oracleMonth, monthNames), 4: named(oracleDay, weekdayNames)}

func named(read func(string) (int, bool), names []string) map[string]int {
	out := map[string]int{}
	for _, name := range names {
		out[name], _ = read(name)
	}
	return out
}

func numberIn(field int, s string) int {
	if n, ok := fieldNames[field][strings.ToUpper(s)]; ok {
		return n
	}
	n, _ := strconv.Atoi(s)
	return n
}

func wraps(f []string) bool {
	for i, text := range f {
		for part := range strings.SplitSeq(text, ",") {
			if m := rangeOf.FindStringSubmatch(part); m != nil && numberIn(i%5, m[1]) > numberIn(i%5, m[2]) {
				return true
			}
		}
	}
	return false
}

// inPlainLists writes a field as a list of numbers.
func inPlainLists(field int, text string) string {
	if text == "?" || text == "*" {
		return "*"
	}
	low, turn := []int{0, 0, 1, 1, 0}[field], []int{60, 24, 31, 12, 7}[field]
	end := low + turn - 1
	if field == 4 {
		end = 7
	}
	var set [64]bool
	for part := range strings.SplitSeq(text, ",") {
		body, stepText, stepped := strings.Cut(part, "/")
		step := 1
		if stepped {
			step, _ = strconv.Atoi(stepText)
		}
		from, to := low, end
		if a, b, ranged := strings.Cut(body, "-"); ranged {
			from, to = numberIn(field, a), numberIn(field, b)
		} else if body != "*" {
			if from = numberIn(field, body); !stepped {
				to = from
			}
		}
		if to < from {
			to += turn
		}
		for v := from; v <= to; v += step {
			set[low+(v-low)%turn] = true
		}
	}
	var list []string
	for v, in := range set {
		if in {
			list = append(list, strconv.Itoa(v))
		}
	}
	return strings.Join(list, ",")
}

// library is the other side of the comparison.
type library struct{ gaveUp bool }

// next asks again where the library gives up: after the fifth year.
func (l *library) next(s robfig.Schedule, t time.Time) (time.Time, bool) {
	for range 5 {
		if found := s.Next(t); !found.IsZero() {
			return found, true
		}
		l.gaveUp = true
		t = time.Date(t.Year()+5, 12, 31, 23, 59, 59, 0, time.UTC)
	}
	return time.Time{}, false
}

// plainly gives the slots of an expression in plain lists. The library has no
// two day fields of which both must match, so those are two of its schedules.
func (l *library) plainly(f []string, from time.Time, n int) ([]time.Time, error) {
	var list [5]string
	for i := range f {
		list[i] = inPlainLists(i, f[i])
	}
	both := strings.ContainsAny(f[2][:1]+f[4][:1], "*?")
	clock, dom, month, dow := list[0]+" "+list[1], list[2], list[3], list[4]
	if !both || dom == "*" || dow == "*" {
		s, err := robfig.ParseStandard(strings.Join([]string{clock, dom, month, dow}, " "))
		if err != nil {
			return nil, err
		}
		return firstSlots(func(t time.Time) (time.Time, bool) { return l.next(s, t) }, from, n), nil
	}
	days, err := robfig.ParseStandard(clock + " " + dom + " " + month + " *")
	if err != nil {
		return nil, err
	}
	weekdays, err := robfig.ParseStandard(clock + " * " + month + " " + dow)
	if err != nil {
		return nil, err
	}
	return firstSlots(func(t time.Time) (time.Time, bool) {
		for {
			a, ok := l.next(days, t)
			if !ok || weekdays.Next(a.Add(-time.Second)).Equal(a) {
				return a, ok
			}
			t = a
			if b := weekdays.Next(a).Add(-time.Second); b.After(t) {
				t = b
			}
		}
	}, from, n), nil
}

func firstSlots(next func(time.Time) (time.Time, bool), t time.Time, n int) (out []time.Time) {
	for range n {
		var ok bool
		if t, ok = next(t); !ok {
			return out
		}
		out = append(out, t)
	}
	return out
}

func sameSlots(a, b []time.Time) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !a[i].Equal(b[i]) {
			return false
		}
	}
	return true
}

// compare gives the names of the rules that explain a difference, and what is
// not explained.
func compare(expr string, from time.Time, rules []difference) (why []string, unexplained string) {
	const n = 3
	f := strings.Fields(expr)
	ours, refused := Parse(expr)
	theirs, theirRefusal := robfig.ParseStandard(expr)
	var want, got []time.Time
	if refused == nil {
		got = firstSlots(func(t time.Time) (time.Time, bool) { return ours.Next(t, time.UTC) }, from, n)
	}
	if theirRefusal == nil {
		want = firstSlots(func(t time.Time) (time.Time, bool) { t = theirs.Next(t); return t, !t.IsZero() }, from, n)
	}
	if (refused == nil) == (theirRefusal == nil) && sameSlots(got, want) {
		return nil, ""
	}
	plain := true
	for _, r := range rules {
		if r.seen(f) {
			why, plain = append(why, r.name), plain && r.plain
		}
	}
	var l library
	if refused != nil && strings.Contains(refused.Error(), "never fires") {
		return append(why, neverRule), l.fires(f)
	}
	if !plain {
		return why, oneSided(f, refused, theirRefusal)
	}
	if refused != nil {
		return why, fmt.Sprintf("only we refuse it: %s", refused)
	}
	if want, err := l.plainly(f, from, n); err != nil || !sameSlots(got, want) {
		return why, fmt.Sprintf("slots %v, want %v %v", got, want, err)
	}
	if l.gaveUp {
		why = append(why, horizonRule)
	}
	if len(why) == 0 {
		return why, fmt.Sprintf("slots %v, want %v; refusal: %v", got, want, theirRefusal)
	}
	return why, ""
}

// oneSided holds a difference that plain lists can't show to the side that
// refuses: L, W and # are ours alone, the other two the library's.
func oneSided(f []string, refused, theirRefusal error) string {
	special := specialDay.MatchString(f[2]) || specialWeekday.MatchString(f[4])
	if special && theirRefusal != nil && refused == nil || !special && theirRefusal == nil && refused != nil {
		return ""
	}
	return fmt.Sprintf("refused by us: %v, by the library: %v", refused, theirRefusal)
}

// fires looks for a slot of what we refuse, through all 28 kinds of year.
func (l *library) fires(f []string) string {
	if specialDay.MatchString(f[2]) || specialWeekday.MatchString(f[4]) {
		return "" // hidden from the library
	}
	found, err := l.plainly(f, time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC), 1)
	if err != nil || len(found) > 0 {
		return fmt.Sprintf("it fires: %v %v", found, err)
	}
	return ""
}

// spoiled puts something odd into a field.
func (w writer) spoiled(expr string) string {
	f := strings.Fields(expr)
	if w.IntN(10) == 0 {
		f[2], f[3], f[4] = "29", "2", "*"
	}
	i := w.IntN(5)
	f[i] = []string{"?", "60", "*/99", f[i] + ",*", "?,5", "x", f[i] + ",7", "*/1", ""}[w.IntN(9)]
	return strings.Join(f, " ")
}

func (w writer) fiveFields() string {
	expr := w.field(0, 59, nil, 2) + " " + w.field(0, 23, nil, 3) + " "
	if w.IntN(12) == 0 {
		return expr + w.date(false, 4)
	}
	expr += w.field(1, 31, nil, 4) + " " + w.field(1, 12, monthNames, 6) + " " + w.field(0, 6+w.IntN(4)/3, weekdayNames, 4)
	if w.IntN(12) == 0 {
		return w.spoiled(expr)
	}
	return expr
}

func TestAHundredThousandExpressionsEqualAPublishedLibrary(t *testing.T) {
	t.Parallel()
	w, rules := writer{rand.New(rand.NewPCG(9, 2026))}, differences()
	const runs = 100_000
	same, told := 0, map[string]int{}
	first := time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	for range runs {
		expr := w.fiveFields()
		from := time.Unix(first+w.Int64N(120*365*daySeconds), 0).UTC()
		why, unexplained := compare(expr, from, rules)
		if unexplained != "" {
			t.Fatalf("%q after %s: %s (rules that may play a part: %v)", expr, from.Format(time.RFC3339), unexplained, why)
		}
		if why == nil {
			same++
		}
		for _, name := range why {
			told[name]++
		}
	}
	t.Logf("%d expressions: %d the same, the others by rule: %v", runs, same, told)
	require.Greater(t, same, runs/4, "too few expressions say anything about both")
	for _, name := range append([]string{neverRule, horizonRule}, namesOf(rules)...) {
		require.Positive(t, told[name], "no expression showed the rule %q", name)
	}
}

func namesOf(rules []difference) (names []string) {
	for _, r := range rules {
		names = append(names, r.name)
	}
	return names
}

func TestEachDifferenceFromTheLibraryIsARuleOfTheDocumentation(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	text := strings.Join(strings.Fields(strings.ReplaceAll(string(doc), "\n//", "\n")), " ")
	for _, r := range differences() {
		require.Contains(t, text, r.source, r.name)
	}
	require.Contains(t, text, "An expression that can never fire is refused")
}
