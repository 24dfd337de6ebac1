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

type feishuText struct {
	Tag     string `json:"tag"`
	Content string `json:"content"`
}

type feishuButton struct {
	Tag  string     `json:"tag"`
	Text feishuText `json:"text"`
	Type string     `json:"type"`
	URL  string     `json:"url"`
}

type feishuElement struct {
	Tag      string         `json:"tag"`
	Text     *feishuText    `json:"text"`
	Extra    *feishuButton  `json:"extra"`
	Actions  []feishuButton `json:"actions"`
	Elements []feishuText   `json:"elements"`
}

type feishuMessage struct {
	Timestamp string `json:"timestamp"`
	Sign      string `json:"sign"`
	Type      string `json:"msg_type"`
	Card      struct {
		Config map[string]bool `json:"config"`
		Header struct {
			Template string     `json:"template"`
			Title    feishuText `json:"title"`
		} `json:"header"`
		Elements []feishuElement `json:"elements"`
	} `json:"card"`
}

var feishuAt = regexp.MustCompile(`<at id=([^>]*)></at>`)

// Feishu is a custom robot of Feishu.
func Feishu(t testing.TB, o Options) *Robot {
	return start(t, o, "/open-apis/bot/v2/hook/"+Token, lookFeishu)
}

func feishuSays(code int, msg string) Play {
	status := http.StatusOK
	if code == 19001 || code == 9499 {
		status = http.StatusBadRequest
	}
	return Say(status, fmt.Sprintf(`{"code":%d,"data":{},"msg":%q}`, code, msg))
}

func lookFeishu(o Options, r *http.Request, raw []byte) (Got, Play) {
	var m feishuMessage
	switch {
	case r.URL.Path != "/open-apis/bot/v2/hook/"+Token:
		return Got{}, feishuSays(19001, "param invalid: incoming webhook access token invalid")
	case !posted(r) || len(raw) >= 20<<10 || strict(raw, &m) != nil || m.Type != "interactive" || len(m.Card.Elements) == 0:
		return Got{}, feishuSays(9499, "Bad Request")
	case o.Key != "" && !feishuSigned(o, m):
		return Got{}, feishuSays(19021, "sign match fail or timestamp is not within one hour from current time")
	}
	got, ok := readFeishu(m)
	switch {
	case !ok:
		return Got{}, feishuSays(11246, "parse card json err")
	case !strings.Contains(got.Title+got.Plain, o.Keyword):
		return Got{}, feishuSays(19024, "Key Words Not Found")
	}
	answer := Say(http.StatusOK, `{"StatusCode":0,"StatusMessage":"success","code":0,"data":{},"msg":"success"}`)
	answer.Heard = true
	return got, answer
}

// feishuSigned computes the signature as Feishu's page says: the text is the
// key, and nothing is signed.
func feishuSigned(o Options, m feishuMessage) bool {
	s, err := strconv.ParseInt(m.Timestamp, 10, 64)
	h := hmac.New(sha256.New, []byte(m.Timestamp+"\n"+o.Key))
	return err == nil && near(time.Unix(s, 0), o.Now()) && m.Sign == base64.StdEncoding.EncodeToString(h.Sum(nil))
}

func readFeishu(m feishuMessage) (Got, bool) {
	got := Got{Title: m.Card.Header.Title.Content}
	var lines []string
	for _, e := range m.Card.Elements {
		texts := e.Elements
		if e.Text != nil {
			texts = append(texts, *e.Text)
		}
		for _, t := range texts {
			switch t.Tag {
			case "plain_text":
				lines = append(lines, t.Content)
			case "lark_md":
				for _, at := range feishuAt.FindAllStringSubmatch(t.Content, -1) {
					got.Called = append(got.Called, at[1])
				}
			default:
				return got, false
			}
		}
		buttons := e.Actions
		if e.Extra != nil {
			buttons = append(buttons, *e.Extra)
		}
		for _, b := range buttons {
			if b.Tag != "button" || b.URL == "" {
				return got, false
			}
			got.Links = append(got.Links, b.URL)
		}
	}
	got.Plain = strings.Join(lines, "\n")
	return got, got.Title != "" && m.Card.Header.Title.Tag == "plain_text"
}
