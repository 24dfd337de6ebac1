package jobs

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"time"

	"ax/app/alert"
)

// dingTalkLimit is how long a body may be, with some reserve under 20,000.
const dingTalkLimit = 18_000

// dingTalkBody is a markdown message: the only type with both a link and people
// who are called.
type dingTalkBody struct {
	Type     string           `json:"msgtype"`
	Markdown dingTalkMarkdown `json:"markdown"`
	At       dingTalkAt       `json:"at"`
}

type dingTalkMarkdown struct {
	Title string `json:"title"` // in the list of chats
	Text  string `json:"text"`
}

type dingTalkAt struct {
	Mobiles []string `json:"atMobiles"`
	UserIDs []string `json:"atUserIds"`
	All     bool     `json:"isAtAll"`
}

// dingTalk is the custom robot of DingTalk.
func dingTalk() robot {
	return robot{
		write: func(l letter) any { return dingTalkOf(l.text) },
		limit: dingTalkLimit,
		sign: func(p *post, _ any, key string, now time.Time) error {
			u, err := url.Parse(p.url)
			if err != nil {
				return err
			}
			timestamp := strconv.FormatInt(now.UnixMilli(), 10)
			sign := dingTalkSign(timestamp, key)
			more := "timestamp=" + timestamp + "&sign=" + url.QueryEscape(sign)
			u.RawQuery = strings.TrimPrefix(u.RawQuery+"&"+more, "&")
			p.secrets = append(p.secrets, p.url, sign)
			p.url = u.String()
			return nil
		},
		judge: func(r reply) alert.Answer { return judgeErrcode(alert.DingTalk, r) },
	}
}

// dingTalkSign is the HMAC of "<milliseconds>\n<key>" under the key.
func dingTalkSign(timestamp, key string) string {
	h := hmac.New(sha256.New, []byte(key))
	h.Write([]byte(timestamp + "\n" + key))
	return base64.StdEncoding.EncodeToString(h.Sum(nil))
}

// dingTalkOf writes blocks with empty lines between: within one, DingTalk folds
// lines unless they end in two spaces.
func dingTalkOf(t alert.Text) *dingTalkBody {
	blocks := []string{"#### " + markdown(t.Title)}
	add := func(lines []string) {
		if len(lines) > 0 {
			blocks = append(blocks, strings.Join(lines, "  \n"))
		}
	}
	add(each(plainLines(t), markdown))
	add(markdownItems(t, markdown))
	if t.Link != "" {
		add([]string{"[" + t.LinkWord + "](" + t.Link + ")"})
	}
	b := dingTalkBody{Type: "markdown", At: dingTalkAt{Mobiles: []string{}, UserIDs: []string{}, All: t.All}}
	ids, names := called(alert.DingTalk, t)
	var at []string
	for _, id := range ids {
		at = append(at, "@"+id) // DingTalk shows the name for it
		if isMobile(id) {
			b.At.Mobiles = append(b.At.Mobiles, id)
		} else {
			b.At.UserIDs = append(b.At.UserIDs, id)
		}
	}
	if at = append(at, each(names, markdown)...); len(at) > 0 {
		add([]string{strings.Join(at, " ")})
	}
	blocks = append(blocks, "> "+markdown(t.Foot))
	b.Markdown = dingTalkMarkdown{Title: t.Title, Text: strings.Join(blocks, "\n\n")}
	return &b
}

// isMobile tells a number from a user id: eleven digits, or with a country's
// code.
func isMobile(id string) bool {
	digits := strings.NewReplacer("-", "").Replace(strings.TrimPrefix(id, "+"))
	_, err := strconv.ParseUint(digits, 10, 64)
	return err == nil && (strings.HasPrefix(id, "+") || len(digits) == 11 && strings.HasPrefix(digits, "1"))
}

// markdownItems are items of a text with their links, and what is left out.
func markdownItems(t alert.Text, escape func(string) string) []string {
	var out []string
	for _, i := range t.Items {
		s := "• " + escape(i.Text)
		if i.Link != "" {
			s += " [→](" + i.Link + ")"
		}
		out = append(out, s)
		if i.Detail != "" {
			out = append(out, "　"+escape(i.Detail))
		}
	}
	if t.More != "" {
		out = append(out, escape(t.More))
	}
	return out
}

func each(in []string, change func(string) string) []string {
	out := make([]string, len(in))
	for i, s := range in {
		out[i] = change(s)
	}
	return out
}

// judgeErrcode reads errcode and errmsg, as DingTalk and WeCom answer.
func judgeErrcode(kind alert.ChannelKind, r reply) alert.Answer {
	var got struct {
		Code *json.Number `json:"errcode"`
		Msg  string       `json:"errmsg"`
	}
	if json.Unmarshal(r.body, &got) != nil {
		return noRobot(r)
	}
	return byCode(kind, r, got.Code, got.Msg)
}
