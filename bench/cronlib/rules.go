package main

import (
	"fmt"
	"strings"
	"time"

	netresearch "github.com/netresearch/go-cron"

	"ax/app/cron"
)

// The rules that explain a difference; their words are those of app/cron's
// doc.go, or name a limit of a library.
const (
	never  = `app/cron: "An expression that can never fire is refused"`
	gaveUp = "netresearch/go-cron gives up after some years; asked again later it agrees"
)

func parser() netresearch.Parser {
	return netresearch.MustNewParser(netresearch.Second | netresearch.Minute | netresearch.Hour | netresearch.Dom | netresearch.Month |
		netresearch.Dow | netresearch.YearOptional | netresearch.DowNth | netresearch.DowLast | netresearch.DomL | netresearch.DomW | netresearch.DowOrDom)
}

const slots = 3

// compare says by which rule the answers differ; "" means they don't. The error
// is a difference without a rule.
func (x expression) compare(from time.Time) (string, error) {
	ours, refused := cron.Parse(x.text())
	theirs, theirRefusal := parser().Parse(strings.Join(x.theirFields, " "))
	if theirRefusal != nil {
		return "", fmt.Errorf("refused by the library (%v): %w; by us: %s", x.theirFields, theirRefusal, said(refused))
	}
	l := library{schedule: theirs}
	if refused != nil {
		if t, ok := l.next(time.Date(1999, 12, 31, 0, 0, 0, 0, time.UTC)); ok || !strings.Contains(refused.Error(), "never fires") {
			return "", fmt.Errorf("refused by us: %w; the library (%v) fires at %s", refused, x.theirFields, t)
		}
		return never, nil
	}
	for at, n := from, 0; n < slots; n++ {
		got, ok := ours.Next(at, time.UTC)
		want, theyOK := l.next(at)
		if ok != theyOK || ok && !got.Equal(want) {
			return "", fmt.Errorf("after %s we say %s %v, the library (%v) %s %v", at, got, ok, x.theirFields, want, theyOK)
		}
		if !ok {
			break
		}
		at = got
	}
	if l.gaveUp {
		return gaveUp, nil
	}
	return "", nil
}

// library asks again where it gives up, up to our own horizon.
type library struct {
	schedule netresearch.Schedule
	gaveUp   bool
}

func (l *library) next(t time.Time) (time.Time, bool) {
	start := t
	for end := t.AddDate(100, 0, 0); t.Before(end); t = t.AddDate(4, 0, 0) {
		if found := l.schedule.Next(t); !found.IsZero() {
			l.gaveUp = l.gaveUp || !t.Equal(start)
			return found, true
		}
	}
	return time.Time{}, false
}

// said is a refusal in words, for messages about both sides.
func said(refused error) string {
	if refused == nil {
		return "accepted"
	}
	return refused.Error()
}
