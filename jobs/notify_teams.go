package jobs

import (
	"net/http"
	"strings"

	"ax/app/alert"
)

// teamsLimit is how long a body may be: Teams documents 28 KB, and refuses from
// about 21 KB on.
const teamsLimit = 19_000

type teamsBody struct {
	Type        string            `json:"type"`
	Attachments []teamsAttachment `json:"attachments"`
}

type teamsAttachment struct {
	ContentType string    `json:"contentType"`
	ContentURL  *string   `json:"contentUrl"`
	Content     teamsCard `json:"content"`
}

type teamsCard struct {
	Schema  string        `json:"$schema"`
	Type    string        `json:"type"`
	Version string        `json:"version"`
	Body    []any         `json:"body"`
	Actions []teamsAction `json:"actions,omitempty"`
	Teams   teamsExtra    `json:"msteams"`
}

type teamsExtra struct {
	Width    string         `json:"width"`
	Entities []teamsMention `json:"entities,omitempty"`
}

type teamsMention struct {
	Type      string      `json:"type"`
	Text      string      `json:"text"`
	Mentioned teamsPerson `json:"mentioned"`
}

type teamsPerson struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

type teamsAction struct {
	Type  string `json:"type"`
	Title string `json:"title"`
	URL   string `json:"url"`
}

// teamsRun is text that is shown as it is: other blocks read Markdown.
type teamsRun struct {
	Type   string       `json:"type"`
	Text   string       `json:"text"`
	Weight string       `json:"weight,omitempty"`
	Size   string       `json:"size,omitempty"`
	Color  string       `json:"color,omitempty"`
	Subtle bool         `json:"isSubtle,omitempty"`
	Select *teamsAction `json:"selectAction,omitempty"`
}

var teamsColours = map[alert.Tone]string{alert.ToneWorse: "attention", alert.ToneBad: "warning", alert.ToneGood: "good", alert.TonePlain: "default"}

// teams is a webhook of a workflow in Microsoft Teams. It knows no signature.
func teams() robot {
	return robot{write: func(l letter) any { return teamsOf(l.text) }, limit: teamsLimit, judge: judgeTeams}
}

func teamsOf(t alert.Text) *teamsBody {
	card := teamsCard{
		Schema: "http://adaptivecards.io/schemas/adaptive-card.json", Type: "AdaptiveCard", Version: "1.4",
		Teams: teamsExtra{Width: "Full"},
	}
	add := func(runs ...teamsRun) {
		card.Body = append(card.Body, map[string]any{"type": "RichTextBlock", "inlines": runs})
	}
	add(teamsRun{Type: "TextRun", Text: t.Title, Weight: "Bolder", Size: "Medium", Color: teamsColours[t.Tone]})
	for _, l := range plainLines(t) {
		add(teamsRun{Type: "TextRun", Text: l})
	}
	for _, i := range t.Items {
		run := teamsRun{Type: "TextRun", Text: "• " + i.Text}
		if i.Link != "" {
			run.Select = &teamsAction{Type: "Action.OpenUrl", Title: t.LinkWord, URL: i.Link}
		}
		add(run)
		if i.Detail != "" {
			add(teamsRun{Type: "TextRun", Text: i.Detail, Subtle: true})
		}
	}
	if t.More != "" {
		add(teamsRun{Type: "TextRun", Text: t.More})
	}
	card.call(t, add)
	add(teamsRun{Type: "TextRun", Text: t.Foot, Size: "Small", Subtle: true})
	if t.Link != "" {
		card.Actions = []teamsAction{{Type: "Action.OpenUrl", Title: t.LinkWord, URL: t.Link}}
	}
	return &teamsBody{Type: "message", Attachments: []teamsAttachment{{ContentType: "application/vnd.microsoft.card.adaptive", Content: card}}}
}

// call mentions people: each by a mark in a text, and an entity of the same
// text. Nobody can call a whole channel from a webhook.
func (c *teamsCard) call(t alert.Text, add func(...teamsRun)) {
	ids, names := called(alert.Teams, t)
	var marks []string
	for _, id := range ids {
		name := id
		for _, p := range t.Mentions {
			if p.IDs[alert.Teams] == id {
				name = teamsName(p.Called(), id)
			}
		}
		mark := "<at>" + name + "</at>"
		marks = append(marks, mark)
		c.Teams.Entities = append(c.Teams.Entities, teamsMention{"mention", mark, teamsPerson{id, name}})
	}
	if len(marks) > 0 {
		c.Body = append(c.Body, map[string]any{"type": "TextBlock", "text": strings.Join(marks, " "), "wrap": true})
	}
	if len(names) > 0 {
		add(teamsRun{Type: "TextRun", Text: strings.Join(names, " ")})
	}
}

// teamsName is a name without signs of markup; if nothing is left, the id.
func teamsName(name, id string) string {
	clean := strings.TrimSpace(strings.Map(func(r rune) rune {
		if strings.ContainsRune("<>&*_[]()`#~|\\\"", r) {
			return -1
		}
		return r
	}, name))
	if clean == "" {
		return id
	}
	return clean
}

// judgeTeams reads the status: a workflow answers 202 with nothing. The older
// connector answers 200 with "1", or with 200 and why not.
func judgeTeams(r reply) alert.Answer {
	body := said(r)
	a := byStatus(r)
	switch {
	case r.status == http.StatusAccepted && !isPage(r):
	case r.status == http.StatusOK && isPage(r), r.status > 200 && r.status < 300 && isPage(r):
		return noRobot(r)
	case r.status == http.StatusOK && strings.Contains(body, "returned HTTP error 429"):
		a.Verdict, a.Code = alert.Again, "429"
	case r.status == http.StatusOK && strings.Contains(body, "returned HTTP error 413"):
		a.Verdict, a.Code = alert.GiveUp, "413"
	case r.status == http.StatusOK && strings.Contains(body, "delivery failed"):
		a.Verdict = alert.Again
	case isPage(r) && r.status < 500 && r.status != http.StatusTooManyRequests && (r.status < 300 || r.status >= 400):
		return noRobot(r)
	case r.status == http.StatusUnauthorized, r.status == http.StatusForbidden, r.status == http.StatusNotFound:
		a.Verdict, a.Body = alert.TurnOff, "the workflow is gone or switched off, or its address is wrong: "+body
	}
	return a
}
