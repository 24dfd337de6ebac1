package alert

import (
	"strconv"
	"strings"
	"time"

	"ax/app/sched"
)

// runWords say how a run ended (%s is the task).
var runWords = map[sched.State]pair{
	sched.Succeeded: {"%s succeeded", "%s 成功"},
	sched.Failed:    {"%s failed", "%s 失败"},
	sched.TimedOut:  {"%s timed out", "%s 超时"},
	sched.Lost:      {"%s was lost with its node", "%s 随节点丢失"},
}

var (
	wordAgain   = pair{"%s succeeded again", "%s 恢复成功"}
	wordMillis  = pair{"%s ms", "%s 毫秒"}
	labelTask   = pair{"Task", "任务"}
	labelBiz    = pair{"biz_id", "biz_id"}
	labelTook   = pair{"Took", "用时"}
	labelRanAt  = pair{"Ended", "结束于"}
	labelError  = pair{"Error", "错误"}
	labelBefore = pair{"The run before", "上一次运行"}
	wordWasGood = pair{"succeeded", "成功"}
)

// title is "Close orders failed".
func (r RunFacts) title(lang string) string {
	name := oneLine(r.Name, 100)
	if r.State == sched.Succeeded && r.Changed {
		return oneLine(wordAgain.fill(lang, name), maxTitle)
	}
	return oneLine(runWords[r.State].fill(lang, name), maxTitle)
}

// lines of it, in the order in which they are looked for.
func (r RunFacts) lines(lang string, w Where, team string) []Line {
	var out []Line
	add := func(label pair, value string) {
		if value != "" {
			out = append(out, Line{label.in(lang), oneLine(value, maxValue)})
		}
	}
	first, _, _ := strings.Cut(strings.TrimSpace(r.Error), "\n")
	add(labelError, first)
	add(labelTask, r.Task)
	add(labelBiz, r.BizID)
	if !r.StartedAt.IsZero() {
		add(labelTook, lastedShort(lang, r.took()))
	}
	add(labelRanAt, clock(r.FinishedAt, w.Zone))
	if r.Changed && r.State != sched.Succeeded {
		add(labelBefore, wordWasGood.in(lang))
	}
	add(labelTeam, team)
	return out
}

// lastedShort is Lasted of what may be less than a second.
func lastedShort(lang string, d time.Duration) string {
	if d < time.Second {
		return wordMillis.fill(lang, strconv.FormatInt(max(d, 0).Milliseconds(), 10))
	}
	return Lasted(lang, d)
}
