package jobs

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"ax/app/alert"
)

// feishuLimit is how long a body may be: under 20 KB, with some reserve for
// the signature.
const feishuLimit = 19_800

// feishuBody is a card of a custom robot.
type feishuBody struct {
	Timestamp string     `json:"timestamp,omitempty"` // seconds
	Sign      string     `json:"sign,omitempty"`
	Type      string     `json:"msg_type"`
	Card      feishuCard `json:"card"`
}

type feishuCard struct {
	Config   map[string]bool `json:"config"`
	Header   feishuHeader    `json:"header"`
	Elements []any           `json:"elements"`
}

type feishuHeader struct {
	Template string     `json:"template"`
	Title    feishuText `json:"title"`
}

// feishuText is plain_text, which shows what is written, or lark_md.
type feishuText struct {
	Tag     string `json:"tag"`
	Content string `json:"content"`
}

type feishuDiv struct {
	Tag   string     `json:"tag"`
	Text  feishuText `json:"text"`
	Extra any        `json:"extra,omitempty"`
}

type feishuButton struct {
	Tag  string     `json:"tag"`
	Text feishuText `json:"text"`
	Type string     `json:"type"`
	URL  string     `json:"url"`
}

var feishuColours = map[alert.Tone]string{alert.ToneWorse: "red", alert.ToneBad: "orange", alert.ToneGood: "green", alert.TonePlain: "blue"}

// feishu is the custom robot of Feishu and Lark.
func feishu() robot {
	return robot{
		write: func(l letter) any { return feishuOf(l.text) },
		limit: feishuLimit,
		sign: func(_ *post, body any, key string, now time.Time) error {
			b := body.(*feishuBody)
			b.Timestamp = strconv.FormatInt(now.Unix(), 10)
			b.Sign = feishuSign(b.Timestamp, key)
			return nil
		},
		judge: judgeFeishu,
	}
}

// feishuSign is the HMAC of nothing under "<seconds>\n<key>".
func feishuSign(timestamp, key string) string {
	return base64.StdEncoding.EncodeToString(hmac.New(sha256.New, []byte(timestamp+"\n"+key)).Sum(nil))
}

func feishuOf(t alert.Text) *feishuBody {
	card := feishuCard{
		Config: map[string]bool{"wide_screen_mode": true},
		Header: feishuHeader{Template: feishuColours[t.Tone], Title: feishuPlain(t.Title)},
	}
	add := func(e any) { card.Elements = append(card.Elements, e) }
	div := func(s string) {
		if s != "" {
			add(feishuDiv{Tag: "div", Text: feishuPlain(s)})
		}
	}
	div(strings.Join(plainLines(t), "\n"))
	for _, i := range t.Items {
		d := feishuDiv{Tag: "div", Text: feishuPlain(plainItem(i))}
		if t.Merged && i.Link != "" {
			d.Extra = feishuButton{"button", feishuPlain("→"), "default", i.Link}
		}
		add(d)
	}
	div(t.More)
	ids, names := called(alert.Feishu, t)
	var at []string
	if t.All {
		at = append(at, "<at id=all></at>")
	}
	for _, id := range ids {
		at = append(at, "<at id="+id+"></at>")
	}
	if len(at) > 0 {
		add(feishuDiv{Tag: "div", Text: feishuText{"lark_md", strings.Join(at, " ")}})
	}
	div(strings.Join(names, " "))
	if t.Link != "" {
		add(map[string]any{"tag": "action", "actions": []feishuButton{{"button", feishuPlain(t.LinkWord), "default", t.Link}}})
	}
	add(map[string]any{"tag": "note", "elements": []feishuText{feishuPlain(t.Foot)}})
	return &feishuBody{Type: "interactive", Card: card}
}

func feishuPlain(s string) feishuText { return feishuText{"plain_text", s} }

// judgeFeishu reads code and msg; older robots say StatusCode.
func judgeFeishu(r reply) alert.Answer {
	var got struct {
		Code       *json.Number `json:"code"`
		Msg        string       `json:"msg"`
		StatusCode *json.Number `json:"StatusCode"`
		StatusMsg  string       `json:"StatusMessage"`
	}
	if json.Unmarshal(r.body, &got) != nil {
		return noRobot(r)
	}
	if got.Code == nil {
		got.Code, got.Msg = got.StatusCode, got.StatusMsg
	}
	return byCode(alert.Feishu, r, got.Code, got.Msg)
}
