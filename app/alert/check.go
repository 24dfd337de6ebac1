package alert

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"ax/app/access"
	"ax/app/fault"
	"ax/app/sched"
)

// Bounds of what a team, or the installation, keeps.
const (
	MaxRules         = 500
	MaxChannels      = 100
	MaxSubscriptions = 500
	MaxSilences      = 200 // that are not over
)

const (
	maxName       = 100 // characters
	maxScopeValue = 100 // of a scope
	maxReason     = 500
)

// problems gathers broken fields.
type problems []fault.FieldError

func (p *problems) add(name, format string, args ...any) {
	*p = append(*p, fault.Field(name, format, args...))
}

// line is text on one line, without what stands around it.
func (p *problems) line(name, typed string, most int) string {
	s := strings.TrimSpace(typed)
	if n := utf8.RuneCountInString(s); n > most {
		p.add(name, "At most %d characters; this has %d", most, n)
	}
	if !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl) {
		p.add(name, "Control characters and broken text can't be used here")
	}
	return s
}

func (p *problems) name(typed string) string {
	s := p.line("name", typed, maxName)
	if s == "" {
		p.add("name", "A name is needed")
	}
	return s
}

func (p *problems) version(v int) {
	if v <= 0 {
		p.add("version", "The version that you read is needed, so that nobody's change is overwritten")
	}
}

// span is a whole number of seconds between two bounds; zero is one of them
// when least is 0.
func (p *problems) span(name string, seconds int, least, most time.Duration) time.Duration {
	d := time.Duration(seconds) * time.Second
	if seconds < int(least/time.Second) || seconds > int(most/time.Second) {
		p.add(name, "Between %d and %d seconds; this is %d", int(least/time.Second), int(most/time.Second), seconds)
		return 0
	}
	return d
}

// oneOf refuses a word that is none of the known ones.
func oneOf[T ~string](p *problems, name string, word T, known ...T) {
	if slices.Contains(known, word) {
		return
	}
	words := make([]string, len(known))
	for i, k := range known {
		words[i] = string(k)
	}
	p.add(name, "%q is not one of %s", string(word), strings.Join(words, ", "))
}

// scope checks a written scope; the zero Scope is all.
func (p *problems) scope(s Scope, known ...ScopeKind) Scope {
	if s.Kind == "" {
		s.Kind = All
	}
	s.Value = p.line("scope.value", s.Value, maxScopeValue)
	if s.Kind == OfTag {
		s.Value = strings.ToLower(s.Value) // as tags are kept
	}
	oneOf(p, "scope.kind", s.Kind, known...)
	switch {
	case s.Kind == All && s.Value != "":
		p.add("scope.value", "Everything is covered: leave the value out")
	case s.Kind != All && s.Value == "":
		p.add("scope.value", "Which one? Its name is needed")
	}
	return s
}

// world is what the use cases look up to check a field.
type world interface {
	teams
	// Task is NotFound when there is none with the code.
	Task(ctx context.Context, code string) (sched.Task, error)
}

// teams finds a team by its code; NotFound when there is none.
type teams interface {
	Team(ctx context.Context, code string) (access.Team, error)
}

// teamOf finds the team that something new is to belong to, 0 for the
// installation's, and checks the right in it.
func teamOf(ctx context.Context, w teams, by access.Actor, v access.Verb, code string) (int64, error) {
	if code == "" {
		return 0, by.CheckShared(v, 0)
	}
	team, err := w.Team(ctx, code)
	if err != nil && fault.KindOf(err) != fault.KindNotFound {
		return 0, err
	}
	if err != nil || !by.Sees(team.ID) {
		return 0, fault.Invalid(fault.Field("team", "There is no team %q that you can see", code))
	}
	return team.ID, by.Check(v, team.ID)
}

// taskOf looks whether the task of a scope is one of the team's; team 0 covers
// those of every team.
func taskOf(ctx context.Context, w world, s Scope, team int64) ([]fault.FieldError, error) {
	if s.Kind != OfTask || s.Value == "" {
		return nil, nil
	}
	t, err := w.Task(ctx, s.Value)
	if err != nil && fault.KindOf(err) != fault.KindNotFound {
		return nil, err
	}
	if err != nil || team != 0 && t.TeamID != team {
		return []fault.FieldError{fault.Field("scope.value", "The team has no task with the code %q", s.Value)}, nil
	}
	return nil, nil
}

// shared narrows what is asked for to what the actor may read, of what the
// installation shares: ok is false when there
// is nothing that the actor may see.
func shared(by access.Actor, asked access.Scope) (s access.Scope, ok bool) {
	return by.Scope().Narrow(asked), by.SeesShared(0)
}

// notFound turns a store's NotFound into the one text for what isn't there and
// for what belongs to others.
func notFound(err error) error {
	if err != nil && fault.KindOf(err) == fault.KindNotFound {
		return access.NoObject()
	}
	return err
}

// differ appends a change when the values differ.
func differ(c []access.Change, field, was, is string) []access.Change {
	if was == is {
		return c
	}
	return append(c, access.Change{Field: field, Old: was, New: is})
}

// seconds tells a duration in an audit row; "" is none.
func seconds(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return strconv.FormatInt(int64(d/time.Second), 10)
}

// stamp tells an instant in an audit row; "" is none.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// String tells a scope in an audit row.
func (s Scope) String() string {
	if s.Value == "" {
		return string(s.Kind)
	}
	return string(s.Kind) + ":" + s.Value
}

// House is the actor of what ax does by itself.
func House() access.Actor { return access.Actor{Kind: access.System, Name: "ax"} }
