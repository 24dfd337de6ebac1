package robottest

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
)

type weComMessage struct {
	Type     string `json:"msgtype"`
	Markdown struct {
		Content string `json:"content"`
	} `json:"markdown"`
}

var (
	weComAt   = regexp.MustCompile(`<@([^>]*)>`)
	weComFont = regexp.MustCompile(`</?font[^>]*>|\*\*`)
)

// WeCom is a group robot of WeCom.
func WeCom(t testing.TB, o Options) *Robot {
	return start(t, o, "/cgi-bin/webhook/send?key="+Token, lookWeCom)
}

func lookWeCom(_ Options, r *http.Request, raw []byte) (Got, Play) {
	var m weComMessage
	switch {
	case r.URL.Path != "/cgi-bin/webhook/send" || r.URL.Query().Get("key") != Token:
		return Got{}, errcode(93000, "invalid webhook url, hint: [1796000000_1_0]")
	case !posted(r) || strict(raw, &m) != nil:
		return Got{}, errcode(93017, "invalid request body")
	case m.Type != "markdown":
		return Got{}, errcode(40008, "invalid message type")
	case m.Markdown.Content == "":
		return Got{}, errcode(44004, "empty content")
	case len(m.Markdown.Content) > 4096:
		return Got{}, errcode(40058, "markdown.content exceed max length 4096. invalid Request Parameter")
	}
	got := Got{Links: linksIn(m.Markdown.Content)}
	for _, at := range weComAt.FindAllStringSubmatch(m.Markdown.Content, -1) {
		got.Called = append(got.Called, at[1])
	}
	text := weComFont.ReplaceAllString(weComAt.ReplaceAllString(m.Markdown.Content, ""), "")
	got.Title, text, _ = strings.Cut(text, "\n")
	got.Plain = markdownHead.ReplaceAllString(markdownLink.ReplaceAllString(text, "$1$2"), "")
	answer := errcode(0, "ok")
	answer.Heard = true
	return got, answer
}
