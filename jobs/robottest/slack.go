package robottest

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

type slackText struct {
	Type  string `json:"type"`
	Text  string `json:"text"`
	Emoji *bool  `json:"emoji"`
}

type slackMessage struct {
	Text   string `json:"text"`
	Mrkdwn bool   `json:"mrkdwn"`
	Blocks []struct {
		Type     string      `json:"type"`
		Text     *slackText  `json:"text"`
		Elements []slackText `json:"elements"`
	} `json:"blocks"`
}

var (
	slackAt   = regexp.MustCompile(`<@(\w+)>|<!(channel)>`)
	slackLink = regexp.MustCompile(`<(https?://[^|>]+)\|[^>]*>`)
	slackBare = regexp.MustCompile(`<|>|&(amp|lt|gt);|&`)
)

// Slack is an incoming webhook of Slack.
func Slack(t testing.TB, o Options) *Robot {
	return start(t, o, "/services/T0CANARY1/B0CANARY2/"+Token, lookSlack)
}

func lookSlack(_ Options, r *http.Request, raw []byte) (Got, Play) {
	var m slackMessage
	switch {
	case r.URL.Path != "/services/T0CANARY1/B0CANARY2/"+Token:
		return Got{}, Say(http.StatusNotFound, "no_service")
	case !posted(r) || strict(raw, &m) != nil:
		return Got{}, Say(http.StatusBadRequest, "invalid_payload")
	case m.Text == "":
		return Got{}, Say(http.StatusBadRequest, "no_text")
	case len(m.Blocks) > 50:
		return Got{}, Say(http.StatusBadRequest, "invalid_blocks")
	}
	got := Got{}
	var lines []string
	for n, b := range m.Blocks {
		limit := map[string]int{"header": 150, "section": 3000, "context": 2000}[b.Type]
		texts := b.Elements
		if b.Text != nil {
			texts = append(texts, *b.Text)
		}
		for _, t := range texts {
			if utf8.RuneCountInString(t.Text) > limit || t.Text == "" || b.Type == "header" && t.Type != "plain_text" || t.Type == "plain_text" && !escaped(t.Text) {
				return Got{}, Say(http.StatusBadRequest, "invalid_blocks")
			}
			switch {
			case n == 0:
				got.Title = unescape(t.Text)
			case t.Type == "plain_text":
				lines = append(lines, unescape(t.Text))
			default:
				for _, at := range slackAt.FindAllStringSubmatch(t.Text, -1) {
					got.Called = append(got.Called, strings.Replace(at[1]+at[2], "channel", "all", 1))
				}
				for _, l := range slackLink.FindAllStringSubmatch(t.Text, -1) {
					got.Links = append(got.Links, l[1])
				}
			}
		}
	}
	got.Plain = strings.Join(lines, "\n")
	answer := Say(http.StatusOK, "ok")
	answer.Heard = true
	return got, answer
}

// escaped tells whether each of the three signs is written as Slack wants it.
func escaped(s string) bool {
	for _, m := range slackBare.FindAllString(s, -1) {
		if len(m) == 1 {
			return false
		}
	}
	return true
}

func unescape(s string) string {
	return strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&").Replace(s)
}
