package alert

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"ax/app/access"
	"ax/app/fault"
)

// ChannelSpec is a channel as it is written in a form or over the API.
type ChannelSpec struct {
	Team     string      `json:"team,omitempty"` // code; "": the installation's
	Kind     ChannelKind `json:"kind"`           // never changes
	Name     string      `json:"name"`
	Language string      `json:"language,omitempty"` // "" is en
	Mention  Mentioning  `json:"mention,omitempty"`  // "" is the owners
	URL      string      `json:"url,omitempty"`      // at a change "" keeps the old one
	Key      string      `json:"key,omitempty"`      // at a change "" keeps the old one
	NewKey   bool        `json:"new_key,omitempty"`  // of a webhook: make another key
	NoKey    bool        `json:"no_key,omitempty"`   // of a robot: it asks for no signature any more
	To       []string    `json:"to,omitempty"`       // of e-mail
	Bad      string      `json:"bad_text,omitempty"`
	Good     string      `json:"good_text,omitempty"`

	Version int    `json:"version,omitempty"` // as it was read
	Reason  string `json:"reason,omitempty"`  // kept in the audit
}

const (
	maxKey        = 500 // characters
	minKey        = 16  // of a webhook: it must not be guessed
	maxRecipients = 20
	maxAllTo      = 2400 // bytes of all recipients
)

// Signs tells whether messages to the kind can be signed with a key.
func (k ChannelKind) Signs() bool { return k == Feishu || k == DingTalk || k == Webhook }

// resolve checks a written channel and gives what it describes: old is the
// channel being changed, or the zero Channel, and was its secret. made is a key
// that ax made, to be shown once.
func (w ChannelSpec) resolve(old Channel, was ChannelSecret, newKey func() string) (c Channel, s ChannelSecret, made string, err error) {
	var bad problems
	c = old
	switch {
	case old.ID == "":
		c.Kind = w.Kind
		oneOf(&bad, "kind", w.Kind, ChannelKinds()...)
	case w.Kind != "" && w.Kind != old.Kind:
		bad.add("kind", "The kind of a channel never changes; make a new channel instead")
	}
	if c.UserID != 0 {
		return c, s, "", fault.Conflict("This channel is a person's own: it changes with their subscriptions")
	}
	if c.Name = bad.name(w.Name); strings.HasPrefix(c.Name, personMark) {
		bad.add("name", "Names that begin with @ are of people's own channels")
	}
	c.Language, c.Mention = w.Language, w.Mention
	if c.Language == "" {
		c.Language = "en"
	}
	if c.Mention == "" {
		c.Mention = MentionOwner
	}
	oneOf(&bad, "language", c.Language, "en", "zh-CN")
	oneOf(&bad, "mention", c.Mention, MentionOwner, MentionAll, MentionNobody)
	c.Bad, c.Good = strings.TrimSpace(w.Bad), strings.TrimSpace(w.Good)
	bad = append(bad, CheckTemplate("bad_text", c.Bad)...)
	bad = append(bad, CheckTemplate("good_text", c.Good)...)
	bad.line("reason", w.Reason, maxReason)
	if c.Kind == Email {
		c.To = bad.recipients(w.To)
		bad.none("url", w.URL)
		bad.none("key", w.Key)
		return c, ChannelSecret{}, "", fault.Invalid(bad...)
	}
	if len(w.To) > 0 {
		bad.add("to", "Only e-mail has recipients: leave it out")
	}
	s = was
	if c.Kind != "" && (old.ID == "" || w.URL != "") {
		s.URL, c.Hint = bad.address(c.Kind, w.URL)
	}
	s.Key, made = bad.key(w, old, c, was.Key, newKey)
	return c, s, made, fault.Invalid(bad...)
}

func (p *problems) none(name, v string) {
	if v != "" {
		p.add(name, "E-mail has none: leave it out")
	}
}

func (p *problems) address(k ChannelKind, raw string) (clean, hint string) {
	clean, hint, err := CheckAddress(k, raw)
	*p = append(*p, fault.Fields(err)...)
	return clean, hint
}

func (p *problems) recipients(typed []string) []string {
	var to []string
	bytes := 0
	for _, t := range typed {
		if strings.TrimSpace(t) == "" {
			continue
		}
		clean, err := CheckRecipient(t)
		if err == nil && strings.Contains(clean, ",") { // they are kept apart by commas
			err = fault.Invalid(fault.Field("to", "%q has a comma, which an address can't have here", clean))
		}
		*p = append(*p, fault.Fields(err)...)
		to = append(to, clean)
		bytes += len(clean) + 1
	}
	switch {
	case len(to) == 0:
		p.add("to", "Who gets it? At least one e-mail address is needed")
	case len(to) > maxRecipients || bytes > maxAllTo:
		p.add("to", "At most %d addresses with %d characters together", maxRecipients, maxAllTo)
	}
	return to
}

// key gives the key that is to be stored. Another host needs it again: nobody
// who doesn't know it is to have messages signed for a host of their own.
func (p *problems) key(w ChannelSpec, old, c Channel, was string, newKey func() string) (key, made string) {
	further := old.ID != "" && hostOf(old.Hint) != hostOf(c.Hint)
	switch {
	case !c.Kind.Signs():
		if w.Key != "" || w.NewKey || w.NoKey {
			p.add("key", "Messages to %s are not signed: leave the key out", string(c.Kind))
		}
		return "", ""
	case w.Key != "":
		p.checkKey(c.Kind, w.Key)
		return w.Key, ""
	case c.Kind == Webhook && (old.ID == "" || w.NewKey):
		made = newKey()
		return made, made
	case c.Kind != Webhook && w.NoKey:
		return "", ""
	case w.NewKey || w.NoKey:
		p.add("key", "A webhook has a key always, and the key of a robot is the robot's: type it")
	case further && was != "":
		p.add("key", "Another host gets it: type the key again")
	}
	return was, ""
}

func (p *problems) checkKey(k ChannelKind, key string) {
	switch n := utf8.RuneCountInString(key); {
	case n > maxKey:
		p.add("key", "At most %d characters; this has %d", maxKey, n)
	case !utf8.ValidString(key) || strings.ContainsFunc(key, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }):
		p.add("key", "A key has no spaces and no control characters")
	case k == Webhook && n < minKey:
		p.add("key", "At least %d characters: a shorter one can be guessed", minKey)
	}
}

// hostOf a hint is what stands before the first space.
func hostOf(hint string) string {
	host, _, _ := strings.Cut(hint, " ")
	return strings.ToLower(host)
}

// personMark begins the names of people's own channels.
const personMark = "@"

// Object of the channel in an audit row.
func (c Channel) Object() access.Object {
	return access.Object{Kind: "channel", ID: c.ID, Name: c.Name}
}

// diffChannels lists the fields in which two channels differ; of secrets only
// that they do.
func diffChannels(was, is Channel, url, key bool) []access.Change {
	var c []access.Change
	c = differ(c, "name", was.Name, is.Name)
	c = differ(c, "kind", string(was.Kind), string(is.Kind))
	c = differ(c, "language", was.Language, is.Language)
	c = differ(c, "mention", string(was.Mention), string(is.Mention))
	c = differ(c, "hint", was.Hint, is.Hint)
	c = differ(c, "to", strings.Join(was.To, ", "), strings.Join(is.To, ", "))
	c = differ(c, "bad_text", was.Bad, is.Bad)
	c = differ(c, "good_text", was.Good, is.Good)
	c = differ(c, "on", strconv.FormatBool(was.On()), strconv.FormatBool(is.On()))
	old := access.Masked
	if was.ID == "" {
		old = ""
	}
	if url {
		c = append(c, access.Change{Field: "url", Old: old, New: access.Masked})
	}
	if key {
		c = append(c, access.Change{Field: "key", Old: old, New: access.Masked})
	}
	return c
}
