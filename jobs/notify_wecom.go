package jobs

import (
	"strings"

	"ax/app/alert"
)

// weComLimit is how long the content may be, in bytes of UTF-8.
const weComLimit = 4096

type weComBody struct {
	Type     string `json:"msgtype"`
	Markdown struct {
		Content string `json:"content"`
	} `json:"markdown"`
}

var weComColours = map[alert.Tone]string{alert.ToneWorse: "warning", alert.ToneBad: "warning", alert.ToneGood: "info", alert.TonePlain: "comment"}

// weCom is the group robot of WeCom. It knows no signature.
func weCom() robot {
	return robot{
		write: func(l letter) any { return weComOf(l.text) },
		limit: weComLimit,
		size:  func(body any) int { return len(body.(*weComBody).Markdown.Content) },
		judge: func(r reply) alert.Answer { return judgeErrcode(alert.WeCom, r) },
	}
}

func weComOf(t alert.Text) *weComBody {
	lines := []string{`**<font color="` + weComColours[t.Tone] + `">` + weComText(t.Title) + "</font>**"}
	for _, l := range plainLines(t) {
		lines = append(lines, ">"+weComText(l))
	}
	lines = append(lines, markdownItems(t, weComText)...)
	if t.Link != "" {
		lines = append(lines, "["+t.LinkWord+"]("+t.Link+")")
	}
	ids, names := called(alert.WeCom, t)
	var at []string
	if t.All {
		at = append(at, "<@all>")
	}
	for _, id := range ids {
		at = append(at, "<@"+id+">")
	}
	if at = append(at, each(names, weComText)...); len(at) > 0 {
		lines = append(lines, strings.Join(at, " "))
	}
	lines = append(lines, `<font color="comment">`+weComText(t.Foot)+"</font>")
	b := weComBody{Type: "markdown"}
	b.Markdown.Content = strings.Join(lines, "\n")
	return &b
}

// weComText takes text out of WeCom's markup. It documents no way to escape, so
// the signs that call people, colour and link look alike and are others.
func weComText(s string) string {
	return strings.NewReplacer("<", "＜", ">", "＞", "](", "］(", "`", "'", "*", "＊").Replace(s)
}
