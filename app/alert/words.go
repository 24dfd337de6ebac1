package alert

import (
	"slices"
	"strings"
	"time"
)

// Text is what a message says, for any channel to lay out. Every string but
// Link is one line without control characters, of a bounded length.
type Text struct {
	Language string // "en" or "zh-CN"
	Title    string
	Tone     Tone
	Lines    []Line
	Items    []Item // members, or the messages of a merged one: at most MaxNamed or MaxMerged
	More     string // "and 30 more"; empty: Items are all
	Link     string // to the console; empty: it doesn't know its own address
	LinkWord string
	Mentions []Person // to be called by name, if the robot knows an id of theirs
	All      bool     // everybody is to be called
	Late     string   // "sent 12 min late"; empty: it is in time
	Merged   bool     // Items are messages, not members
	Foot     string   // "ax", with the installation's name: always there, so that it can be a robot's keyword
	rest     int      // how many Items leaves out
}

// Line is a value with its label, or (empty Label) a plain line.
type Line struct{ Label, Value string }

// Item is one of several things that a message tells of.
type Item struct {
	Text   string
	Detail string // what the target said
	Link   string
}

// Tone is how a message looks.
type Tone string

// The tones. Worse is P1.
const (
	ToneBad   Tone = "bad"
	ToneWorse Tone = "worse"
	ToneGood  Tone = "good"
	TonePlain Tone = "plain"
)

// Where says where and to whom a message is told.
type Where struct {
	Base   string         // address of the console, such as https://ax.example.org; empty: no links
	Name   string         // of the installation; may be empty
	Bad    string         // the channel's own text when something breaks; empty: ax's
	Good   string         // its text when it is over; empty: ax's
	Zone   *time.Location // of times; nil: UTC
	Now    time.Time      // when it is sent
	People []Person       // who may be meant by the logins of messages
	All    bool           // calls everybody instead
	Quiet  bool           // calls nobody
}

// Bounds of a text, in characters.
const (
	maxTitle  = 200
	maxValue  = 500
	maxDetail = 300
	// MaxMerged is how many messages a merged one has lines for.
	MaxMerged = 20
	maxCalled = 20 // people that one message calls
	lateAfter = 5 * time.Minute
)

// Text words the message in a language: "zh-CN", else English.
func (m Message) Text(lang string, w Where) Text {
	t := Text{
		Language: spoken(lang), Tone: m.tone(), Foot: w.foot(),
		Link: w.link(m.Path), LinkWord: wordOpen.in(lang),
	}
	if m.calls() && !w.Quiet {
		t.All, t.Mentions = w.All, w.meant(m.Mention)
	}
	switch {
	case m.Digest != nil:
		t.Title = m.digestTitle(lang)
		t.Lines = m.digestLines(lang, w)
	case m.Run != nil:
		t.Title, t.Lines = m.Run.title(lang), m.Run.lines(lang, w, m.Team)
	case m.own(w) != "":
		t.Title, t.Lines = m.fill(lang, w, m.own(w))
	default:
		t.Title = m.title(lang)
		t.Lines = m.lines(lang, w)
		t.Items, t.rest = m.items(lang, w)
		t.More = more(lang, t.rest)
	}
	t.Late = m.late(lang, w)
	return t
}

// own is the channel's text for this kind of message.
func (m Message) own(w Where) string {
	switch m.Kind {
	case Closed:
		return w.Good
	case Opened, Repeated, Grown, Escalated, Test:
		return w.Bad
	}
	return ""
}

// calls tells whether the message is one to call people for.
func (m Message) calls() bool {
	return m.Kind != Closed && m.Kind != Summing && m.Kind != Event && m.Kind != Ran
}

func (m Message) tone() Tone {
	switch m.Kind {
	case Closed:
		return ToneGood
	case Opened, Repeated, Grown, Escalated:
		if m.Level == P1 {
			return ToneWorse
		}
		return ToneBad
	case Ran:
		if m.Run != nil && m.Run.State.Bad() {
			return ToneBad
		}
		return ToneGood
	}
	return TonePlain
}

// title is "[P1] Failures in a row: 40 tasks fail at pay-gw.internal".
func (m Message) title(lang string) string {
	switch {
	case m.Kind == Event:
		return oneLine(string(m.Event), maxTitle)
	case m.Rule == "" && m.Kind == Test:
		return wordTest.in(lang)
	}
	return oneLine("["+m.mark(lang)+"] "+m.subject(lang), maxTitle)
}

// subject is the title without its mark.
func (m Message) subject(lang string) string {
	return oneLine(RuleName(lang, m.Rule), 80) + wordColon.in(lang) + m.what(lang)
}

// mark is level and kind: "P1 · still".
func (m Message) mark(lang string) string {
	var parts []string
	if m.Level == P1 || m.Level == P2 {
		parts = append(parts, strings.ToUpper(string(m.Level)))
	}
	if word := kindWords[m.Kind].in(lang); word != "" {
		parts = append(parts, word)
	}
	if len(parts) == 0 {
		return "ax"
	}
	return strings.Join(parts, " · ")
}

// lines of an alert, in the order in which they are looked for.
func (m Message) lines(lang string, w Where) []Line {
	if m.Rule == "" {
		return []Line{{Value: wordTestMore.in(lang)}}
	}
	out := []Line{m.valueLine(lang)}
	add := func(label pair, value string) {
		if value != "" {
			out = append(out, Line{label.in(lang), oneLine(value, maxValue)})
		}
	}
	add(labelSince, m.sinceWords(lang, w))
	if !m.EndedAt.IsZero() {
		add(labelEnded, clock(m.EndedAt, w.Zone))
	}
	add(labelTeam, m.teamWords(lang))
	if m.Scope.Kind != All && m.Scope.Kind != "" {
		add(labelScope, m.Scope.words(lang))
	}
	add(labelOwner, w.owners(lang, m.Mention))
	for i, l := range cleanLines(m.Note) {
		if i == 0 {
			add(labelNote, l)
			continue
		}
		out = append(out, Line{Value: l})
	}
	return out
}

// valueLine is "7, threshold 3"; of what is over, the worst value.
func (m Message) valueLine(lang string) Line {
	label, value := labelValue, m.Value
	if m.Kind == Closed {
		label, value = labelWorst, m.Worst
	}
	u := m.unit()
	return Line{label.in(lang), wordThreshold.fill(lang, Show(lang, u, value), Show(lang, u, m.Threshold))}
}

func (m Message) unit() Unit {
	meter, _ := MeterOf(m.Metric)
	return meter.Unit
}

// items are the members by name, with what the target said.
func (m Message) items(lang string, w Where) (out []Item, rest int) {
	named := m.Members[:min(len(m.Members), MaxNamed)]
	if m.count() == 1 && len(named) == 1 && named[0].Detail == "" {
		return nil, 0 // the title says it all
	}
	for _, x := range named {
		i := Item{Text: oneLine(x.Subject.words(lang), maxTitle), Detail: oneLine(x.Detail, maxDetail)}
		if m.Kind != Closed {
			i.Text += wordColon.in(lang) + Show(lang, m.unit(), x.Value)
		}
		if x.Instance != "" {
			i.Link = w.link("/instances/" + x.Instance)
		}
		out = append(out, i)
	}
	return out, m.count() - len(named)
}

// count of all members.
func (m Message) count() int { return max(m.Count, len(m.Members)) }

// late tells that the message waited: "sent 12 min late".
func (m Message) late(lang string, w Where) string {
	wait := w.Now.Sub(m.At)
	if m.At.IsZero() || w.Now.IsZero() || wait <= lateAfter {
		return ""
	}
	return wordLate.fill(lang, Lasted(lang, wait))
}

func more(lang string, n int) string {
	if n <= 0 {
		return ""
	}
	return wordMore.fill(lang, number(float64(n)))
}

// link to a page of the console.
func (w Where) link(path string) string {
	if w.Base == "" || len(path) > maxValue || !strings.HasPrefix(path, "/") || strings.ContainsFunc(path, unsafeInLink) {
		return ""
	}
	return strings.TrimRight(w.Base, "/") + path
}

// unsafeInLink tells of what could end a link early in some layout. Paths are
// ax's own and have none of it.
func unsafeInLink(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`"'()<>[]\|`, r) }

func (w Where) foot() string {
	if name := oneLine(w.Name, 60); name != "" {
		return "ax · " + name
	}
	return "ax"
}

// meant are the people of the logins, in their order, each once.
func (w Where) meant(logins []string) []Person {
	if w.All {
		return nil
	}
	var out []Person
	for _, p := range w.People {
		if slices.Contains(logins, p.Login) && len(out) < maxCalled {
			out = append(out, p)
		}
	}
	return out
}

// Called is how a person is written where no robot's id of theirs is known.
func (p Person) Called() string {
	if name := oneLine(p.Name, 60); name != "" {
		return name
	}
	return oneLine(p.Login, 60)
}

// owners by name, or by login where they have none.
func (w Where) owners(lang string, logins []string) string {
	var out []string
	for _, login := range logins[:min(len(logins), MaxNamed)] {
		p := Person{Login: login}
		if i := slices.IndexFunc(w.People, func(p Person) bool { return p.Login == login }); i >= 0 {
			p = w.People[i]
		}
		out = append(out, p.Called())
	}
	if rest := more(lang, len(logins)-len(out)); rest != "" {
		out = append(out, rest)
	}
	return strings.Join(out, wordComma.in(lang))
}
