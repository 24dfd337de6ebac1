package jobs

import (
	"strings"

	"ax/app/alert"
)

// plainLines are the lines of a text as "label: value", with how late it is.
func plainLines(t alert.Text) []string {
	var out []string
	for _, l := range t.Lines {
		out = append(out, plainLine(t, l))
	}
	if t.Late != "" {
		out = append(out, t.Late)
	}
	return out
}

func plainLine(t alert.Text, l alert.Line) string {
	switch {
	case l.Label == "":
		return l.Value
	case t.Language == "zh-CN":
		return l.Label + "：" + l.Value
	}
	return l.Label + ": " + l.Value
}

// plainItem is an item with its detail below.
func plainItem(i alert.Item) string {
	s := "• " + i.Text
	if i.Detail != "" {
		s += "\n   " + i.Detail
	}
	return s
}

// called are the ids that a robot of the kind calls people by, and as "@name"
// those it has none of, unless a line names them already.
func called(kind alert.ChannelKind, t alert.Text) (ids, names []string) {
	for _, p := range t.Mentions {
		if id := p.IDs[kind]; safeID(id) {
			ids = append(ids, id)
			continue
		}
		name, named := p.Called(), false
		for _, l := range t.Lines {
			named = named || strings.Contains(l.Value, name)
		}
		if name != "" && !named {
			names = append(names, "@"+name)
		}
	}
	return ids, names
}

// safeID tells whether an id can be put into the markup of a mention: what
// robots' ids are made of, and nothing that ends it.
func safeID(id string) bool {
	if id == "" || len(id) > 128 || strings.EqualFold(id, "all") {
		return false
	}
	for _, r := range id {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		if !letter && !strings.ContainsRune("_-.@+:", r) {
			return false
		}
	}
	return true
}

// markdown escapes what would be markup, and only that: a backslash before
// anything but punctuation is a backslash.
func markdown(s string) string {
	const special = "\\`*_[]<>#~|!"
	runes := []rune(s)
	var b strings.Builder
	for i, r := range runes {
		switch {
		case r == '_' && i > 0 && i < len(runes)-1 && wordy(runes[i-1]) && wordy(runes[i+1]):
			b.WriteRune(r) // within a word it isn't markup
		case r == '\\' && i < len(runes)-1 && !punctuation(runes[i+1]):
			b.WriteRune(r)
		case strings.ContainsRune(special, r), startsMarkup(runes, i):
			b.WriteRune('\\')
			b.WriteRune(r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// startsMarkup tells of what is markup at the beginning of a line only: lists.
func startsMarkup(runes []rune, i int) bool {
	r := runes[i]
	if i < len(runes)-1 && runes[i+1] != ' ' && r != '=' {
		return false
	}
	if i == 0 && (r == '-' || r == '+' || r == '=') {
		return true
	}
	if r != '.' && r != ')' || i == 0 || i > 9 {
		return false
	}
	for _, d := range runes[:i] {
		if d < '0' || d > '9' {
			return false
		}
	}
	return true
}

func wordy(r rune) bool {
	return r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r > 0x7f
}

func punctuation(r rune) bool { return r > ' ' && r < 0x7f && !wordy(r) || r == '_' }

// plainItems are the items of a text, each with its detail below.
func plainItems(t alert.Text) []string {
	var out []string
	for _, i := range t.Items {
		out = append(out, plainItem(i))
	}
	return out
}
