package robottest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

type dingTalkMessage struct {
	Type     string `json:"msgtype"`
	Markdown struct {
		Title string `json:"title"`
		Text  string `json:"text"`
	} `json:"markdown"`
	At struct {
		Mobiles []string `json:"atMobiles"`
		UserIDs []string `json:"atUserIds"`
		All     bool     `json:"isAtAll"`
	} `json:"at"`
}

// DingTalk is a custom robot of DingTalk.
func DingTalk(t testing.TB, o Options) *Robot {
	return start(t, o, "/robot/send?access_token="+Token, lookDingTalk)
}

func errcode(code int, msg string) Play {
	return Say(http.StatusOK, fmt.Sprintf(`{"errcode":%d,"errmsg":%q}`, code, msg))
}

func lookDingTalk(o Options, r *http.Request, raw []byte) (Got, Play) {
	var m dingTalkMessage
	q := r.URL.Query()
	switch {
	case r.URL.Path != "/robot/send" || q.Get("access_token") != Token:
		return Got{}, errcode(300001, "token is not exist")
	case !posted(r) || len(raw) > 20_000 || strict(raw, &m) != nil:
		return Got{}, errcode(40035, "缺少参数 json")
	case m.Type != "markdown":
		return Got{}, errcode(400105, "unsupport msgtype")
	case o.Key != "" && !dingTalkNear(o, q.Get("timestamp")):
		return Got{}, errcode(310000, "invalid timestamp")
	case o.Key != "" && !dingTalkSigned(o, q.Get("timestamp"), q.Get("sign")):
		return Got{}, errcode(310000, "sign not match")
	case !strings.Contains(m.Markdown.Title+m.Markdown.Text, o.Keyword):
		return Got{}, errcode(310000, "keywords not in content")
	}
	got := Got{Title: m.Markdown.Title, Plain: Unmark(m.Markdown.Text), Links: linksIn(m.Markdown.Text)}
	for _, id := range append(m.At.Mobiles, m.At.UserIDs...) {
		if strings.Contains(m.Markdown.Text, "@"+id) { // else DingTalk calls nobody
			got.Called = append(got.Called, id)
		}
	}
	if m.At.All {
		got.Called = append(got.Called, "all")
	}
	answer := errcode(0, "ok")
	answer.Heard = true
	return got, answer
}

func dingTalkNear(o Options, timestamp string) bool {
	ms, err := strconv.ParseInt(timestamp, 10, 64)
	return err == nil && near(time.UnixMilli(ms), o.Now())
}

func dingTalkSigned(o Options, timestamp, sign string) bool {
	h := hmac.New(sha256.New, []byte(o.Key))
	_, _ = fmt.Fprintf(h, "%s\n%s", timestamp, o.Key)
	return sign == base64.StdEncoding.EncodeToString(h.Sum(nil))
}

var (
	markdownLink = regexp.MustCompile(`(^|[^\\])\[([^\]\\]*)\]\(([^)]*)\)`)
	markdownHead = regexp.MustCompile(`(?m)^(#{1,6} |> ?)`)
	markdownEsc  = regexp.MustCompile("\\\\([!-/:-@\\[-`{-~])")
)

// Unmark shows Markdown as a person reads it: without heads, quotes, links and
// escapes. Its lines are those that a reader sees.
func Unmark(s string) string {
	s = markdownLink.ReplaceAllString(s, "$1$2")
	s = markdownHead.ReplaceAllString(s, "")
	s = markdownEsc.ReplaceAllString(s, "$1")
	var lines []string
	for block := range strings.SplitSeq(s, "\n\n") {
		lines = append(lines, strings.ReplaceAll(strings.ReplaceAll(block, "  \n", "\x00"), "\n", " "))
	}
	return strings.ReplaceAll(strings.Join(lines, "\n"), "\x00", "\n")
}

func linksIn(s string) []string {
	var out []string
	for _, l := range markdownLink.FindAllStringSubmatch(s, -1) {
		out = append(out, l[3])
	}
	return out
}
