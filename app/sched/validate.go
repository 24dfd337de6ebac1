package sched

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"ax/app/fault"
)

// Bounds of a task's fields.
const (
	maxCode    = 64
	maxName    = 100
	maxShort   = 64 // group, owner
	maxNote    = 500
	maxTags    = 10
	maxTag     = 32
	maxURL     = 2000
	maxPayload = 64 << 10
	maxBizID   = 64
	// maxSeconds bounds periods and delays: a year.
	maxSeconds = 31_536_000
	maxTimeout = 86_400
	maxRetries = 100
)

var codeForm = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*$`)

// problems gathers broken fields.
type problems []fault.FieldError

func (p *problems) add(name, format string, args ...any) {
	*p = append(*p, fault.Field(name, format, args...))
}

// Resolve checks a written task against every rule at once and gives the task
// that it describes, with defaults filled in. old is the task being changed,
// or the zero Task for a new one; now is the ledger's. The error is Invalid
// with all broken fields.
func (w TaskSpec) Resolve(old Task, d Defaults, now time.Time) (Task, error) {
	var bad problems
	t := old
	if old.ID == 0 {
		t.Code, t.Enabled = w.Code, true
		bad.code(w.Code)
	} else if w.Code != "" && w.Code != old.Code {
		bad.add("code", "The code never changes; make a new task instead")
	}
	if w.Enabled != nil {
		t.Enabled = *w.Enabled
	}
	t.Name, t.Group, t.Owner = strings.TrimSpace(w.Name), strings.TrimSpace(w.Group), strings.TrimSpace(w.Owner)
	if t.Name == "" {
		bad.add("name", "A name is needed")
	}
	bad.text("name", t.Name, maxName)
	bad.text("group", t.Group, maxShort)
	bad.text("owner", t.Owner, maxShort)
	t.Tags = bad.tags(w.Tags)
	t.Queue = bad.queue(w.Queue, d.Queues)
	t.Spec = Spec{
		Schedule: bad.schedule(w.Schedule, old, now),
		Target:   bad.target(w.Target),
		Labels:   bad.labels(w.Labels),
		Payload:  bad.payload("payload", w.Payload),
		Hooks:    bad.hooks(w.Hooks),
	}
	t.Spec.Policy = bad.policy(w.Policy, t.Spec.Schedule.Kind, d)
	t.Spec.Policy.HostLimit = bad.hostLimit(w.Policy.HostLimit, t.Spec.Target)
	bad.httpLimits(t.Spec.Target.HTTP, t.Spec.Policy)
	if w.Target.Kind == TargetShell && w.Policy.TimeoutSeconds == nil {
		bad.add("policy.timeout_seconds", "A command needs a time limit of its own")
	}
	bad.text("note", w.Note, maxNote)
	return t, fault.Invalid(bad...)
}

func (p *problems) code(code string) {
	switch {
	case code == "":
		p.add("code", "A code is needed")
	case len(code) > maxCode:
		p.add("code", "At most %d characters; this has %d", maxCode, len(code))
	case code == "new" || code == "preview":
		p.add("code", "The code %q is an address of the console", code)
	case !codeForm.MatchString(code):
		p.add("code", "Lower-case letters, digits, dots, hyphens and underscores, beginning with a letter or digit")
	}
}

// text refuses what no line of text may hold.
func (p *problems) text(name, s string, limit int) {
	if n := utf8.RuneCountInString(s); n > limit {
		p.add(name, "At most %d characters; this has %d", limit, n)
	}
	if !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl) {
		p.add(name, "Control characters and broken text can't be used here")
	}
}

func (p *problems) tags(tags []string) []string {
	var out []string
	for _, tag := range tags {
		tag = strings.ToLower(strings.TrimSpace(tag))
		if tag == "" || slices.Contains(out, tag) {
			continue
		}
		if strings.ContainsAny(tag, ", ") {
			p.add("tags", "A tag is one word: %q", tag)
		}
		p.text("tags", tag, maxTag)
		out = append(out, tag)
	}
	if len(out) > maxTags {
		p.add("tags", "At most %d tags; these are %d", maxTags, len(out))
	}
	slices.Sort(out)
	return out
}

func (p *problems) queue(name string, queues []string) string {
	if name == "" && len(queues) > 0 {
		return queues[0]
	}
	if !slices.Contains(queues, name) {
		p.add("queue", "There is no queue %q; there are: %s", name, strings.Join(queues, ", "))
	}
	return name
}

func (p *problems) target(w TargetSpec) Target {
	switch w.Kind {
	case TargetHTTP:
		if w.Executor != "" || w.Type != "" || w.Route != "" {
			p.noShell(w)
			return p.executorTarget(w)
		}
		p.httpURL("target.url", w.URL)
	case TargetShell:
		p.noMQ(w)
		return p.shellTarget(w)
	case TargetMQ:
		return p.mqTarget(w)
	default:
		p.add("target.kind", "This must be http, mq or shell; it is %q", string(w.Kind))
	}
	p.noShell(w)
	p.noMQ(w)
	p.noExecutor(w)
	return Target{Kind: w.Kind, URL: w.URL, Headers: p.headers("target.headers", w.Headers), HTTP: p.httpRules(w.HTTP)}
}

func (p *problems) httpURL(name, raw string) {
	u, err := url.Parse(raw)
	switch {
	case raw == "":
		p.add(name, "An address is needed, such as https://orders.internal/close")
	case len(raw) > maxURL:
		p.add(name, "At most %d characters; this has %d", maxURL, len(raw))
	case err != nil || !utf8.ValidString(raw) || strings.ContainsFunc(raw, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }):
		p.add(name, "This is not an address that can be called")
	case u.Scheme != "http" && u.Scheme != "https":
		p.add(name, "The address must begin with http:// or https://")
	case u.Hostname() == "":
		p.add(name, "The address names no host")
	case u.User != nil:
		p.add(name, "User name and password don't belong into the address: everybody who may read the task would see them")
	case u.Fragment != "":
		p.add(name, "The part after # is never sent; leave it out")
	}
}

// payload checks and compacts JSON; empty stays empty.
func (p *problems) payload(name string, raw json.RawMessage) json.RawMessage {
	if said := bytes.TrimSpace(raw); len(said) == 0 || string(said) == "null" {
		return nil
	}
	if len(raw) > maxPayload {
		p.add(name, "At most %d bytes; this has %d", maxPayload, len(raw))
		return nil
	}
	var whole json.RawMessage // Compact alone doesn't tell where it failed
	if err := json.Unmarshal(raw, &whole); err != nil {
		p.add(name, "Line %d is not valid JSON: %s", jsonLine(raw, err), err.Error())
		return nil
	}
	var out bytes.Buffer
	_ = json.Compact(&out, raw) // it was read just now
	if !utf8.Valid(out.Bytes()) {
		p.add(name, "This is not valid UTF-8")
		return nil
	}
	return out.Bytes()
}

// jsonLine is the line of a syntax error, from 1.
func jsonLine(raw []byte, err error) int {
	at := len(raw)
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		at = min(int(e.Offset), len(raw))
	}
	return 1 + bytes.Count(raw[:at], []byte("\n"))
}

func (p *problems) bizID(name, id string) {
	switch {
	case strings.HasPrefix(id, "@"):
		p.add(name, "A biz_id that begins with @ belongs to a slot of the schedule")
	case len(id) > maxBizID:
		p.add(name, "At most %d characters; this has %d", maxBizID, len(id))
	case strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r > '~' }):
		p.add(name, "Printable ASCII without blanks only")
	}
}
