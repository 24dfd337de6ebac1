package alert

import (
	"strings"
	"time"
)

var (
	wordDaily  = pair{"Daily summary", "每日汇总"}
	wordWeekly = pair{"Weekly review of dead letters", "死信周报"}
	wordRuns   = pair{"%s succeeded, %s failed, %s not run", "成功 %s，失败 %s，未运行 %s"}
	wordDead   = pair{"%s new, %s closed, %s open", "新增 %s，关闭 %s，待处理 %s"}
	wordNone   = pair{"none", "无"}

	labelSpan    = pair{"Time", "时间"}
	labelRuns    = pair{"Runs", "实例"}
	labelLetters = pair{"Dead letters", "死信"}
	labelOldest  = pair{"Oldest open one", "最早的待处理死信"}
	labelWorstOf = pair{"Most failures", "失败最多"}
	labelErrors  = pair{"Open by error", "待处理（按错误）"}
	labelAlerts  = pair{"Alerts", "告警"}
)

// weekly tells which of the digests it is.
func (m Message) weekly() bool {
	return m.Event == DigestWeekly || m.Event == "" && m.Digest.To.Sub(m.Digest.From) > 48*time.Hour
}

// digestTitle is "Daily summary: payments, 2026-11-30".
func (m Message) digestTitle(lang string) string {
	word := wordDaily
	if m.weekly() {
		word = wordWeekly
	}
	return oneLine(word.in(lang)+wordColon.in(lang)+oneLine(m.teamWords(lang), 100), maxTitle)
}

func (m Message) digestLines(lang string, w Where) []Line {
	d := m.Digest
	n := func(i int) string { return number(float64(i)) }
	out := []Line{
		{labelSpan.in(lang), clock(d.From, w.Zone) + " – " + clock(d.To, w.Zone)},
		{labelRuns.in(lang), wordRuns.fill(lang, n(d.Good), n(d.Bad), n(d.NotRun))},
		{labelLetters.in(lang), wordDead.fill(lang, n(d.Opened), n(d.Closed), n(d.Open))},
	}
	if !d.Oldest.IsZero() {
		out = append(out, Line{labelOldest.in(lang), clock(d.Oldest, w.Zone)})
	}
	out = append(out, summary(lang, labelWorstOf, d.Worst)...)
	out = append(out, summary(lang, labelErrors, d.Letters)...)
	if len(d.Alerts) == 0 {
		return append(out, Line{labelAlerts.in(lang), wordNone.in(lang)})
	}
	for i := range d.Alerts[:min(len(d.Alerts), MaxNamed)] {
		x := d.Alerts[i]
		x.Name = RuleName(lang, x.Name)
		label := pair{}
		if i == 0 {
			label = labelAlerts
		}
		out = append(out, summary(lang, label, []SummaryLine{x})...)
	}
	return out
}

// summary is a line per name; only the first has the label.
func summary(lang string, label pair, of []SummaryLine) []Line {
	var out []Line
	for i, x := range of[:min(len(of), MaxNamed)] {
		said := oneLine(x.Name, maxDetail) + wordColon.in(lang) + number(float64(x.N))
		if more := oneLine(x.More, 100); more != "" {
			said = strings.Join([]string{said, more}, " · ")
		}
		l := Line{Value: said}
		if i == 0 {
			l.Label = label.in(lang)
		}
		out = append(out, l)
	}
	return out
}
