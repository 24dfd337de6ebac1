package jobs

import (
	"strconv"
	"strings"

	"ax/app/alert"
)

// Slack's bounds, in characters: of a header, of a section, and ours of a body.
const (
	slackHeader  = 150
	slackSection = 3000
	slackLimit   = 19_500
)

type slackBody struct {
	Text   string `json:"text"` // of notices and old clients
	Mrkdwn bool   `json:"mrkdwn"`
	Blocks []any  `json:"blocks"`
}

type slackText struct {
	Type  string `json:"type"` // plain_text or mrkdwn
	Text  string `json:"text"`
	Emoji *bool  `json:"emoji,omitempty"` // of plain_text: whether :names: become pictures
}

type slackBlock struct {
	Type     string      `json:"type"`
	Text     *slackText  `json:"text,omitempty"`
	Elements []slackText `json:"elements,omitempty"`
}

// slack is an incoming webhook of Slack. It knows no signature.
func slack() robot {
	return robot{write: func(l letter) any { return slackOf(l.text) }, limit: slackLimit, judge: judgeSlack}
}

func slackOf(t alert.Text) *slackBody {
	b := &slackBody{Text: slackEscape(t.Title)}
	add := func(kind string, text slackText) { b.Blocks = append(b.Blocks, slackBlock{Type: kind, Text: &text}) }
	section := func(lines ...string) {
		for _, s := range chunks(lines, slackSection) {
			add("section", slackPlain(s))
		}
	}
	if len([]rune(b.Text)) <= slackHeader {
		add("header", slackPlain(b.Text))
	} else {
		section(b.Text)
	}
	section(each(plainLines(t), slackEscape)...)
	section(append(each(strings.Split(strings.Join(plainItems(t), "\n"), "\n"), slackEscape), slackEscape(t.More))...)
	var marked []string
	if t.Merged {
		for n, i := range t.Items {
			if i.Link != "" {
				marked = append(marked, slackLink(i.Link, "→ "+strconv.Itoa(n+1)))
			}
		}
	}
	if t.Link != "" {
		marked = append(marked, slackLink(t.Link, t.LinkWord))
	}
	ids, names := called(alert.Slack, t)
	if t.All {
		marked = append(marked, "<!channel>")
	}
	for _, id := range ids {
		marked = append(marked, "<@"+id+">")
	}
	for _, s := range chunks([]string{strings.Join(marked, "  ")}, slackSection) {
		add("section", slackText{Type: "mrkdwn", Text: s})
	}
	section(each(names, slackEscape)...)
	b.Blocks = append(b.Blocks, slackBlock{Type: "context", Elements: []slackText{slackPlain(slackEscape(t.Foot))}})
	return b
}

func slackPlain(s string) slackText { return slackText{Type: "plain_text", Text: s, Emoji: new(bool)} }

func slackLink(to, word string) string { return "<" + to + "|" + slackEscape(word) + ">" }

// slackEscape escapes the three signs that Slack reads in every text.
func slackEscape(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}

// chunks joins lines to texts of at most limit characters; a longer line, which
// no text has, is cut.
func chunks(lines []string, limit int) []string {
	var out []string
	for _, l := range lines {
		if l == "" {
			continue
		}
		l = firstRunes(l, limit)
		if n := len(out); n > 0 && len([]rune(out[n-1]))+1+len([]rune(l)) <= limit {
			out[n-1] += "\n" + l
			continue
		}
		out = append(out, l)
	}
	return out
}

// judgeSlack reads the word that Slack answers with: "ok", or why not.
func judgeSlack(r reply) alert.Answer {
	word := strings.TrimSpace(string(r.body))
	if word == "ok" && r.status == 200 {
		return alert.Answer{Verdict: alert.Accepted, Body: word}
	}
	if len(word) > 60 || strings.ContainsAny(word, " <{\n") || word == "" {
		return slackByStatus(r)
	}
	a := slackByStatus(r)
	a.Code = word
	return meant(alert.Slack, a, word)
}

// slackByStatus judges a refusal whose word isn't known.
func slackByStatus(r reply) alert.Answer {
	a := noRobot(r)
	if isPage(r) {
		return a
	}
	switch r.status {
	case 400, 413:
		a.Verdict = alert.GiveUp
	case 404, 410:
		a.Verdict = alert.TurnOff
	}
	return a
}
