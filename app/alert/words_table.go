package alert

import (
	"fmt"
	"strings"
)

// pair is a word, or a format, in the languages that messages speak.
type pair struct{ en, zh string }

// chinese is the tag of the one language beside English.
const chinese = "zh-CN"

func spoken(lang string) string {
	if lang == chinese {
		return chinese
	}
	return "en"
}

func (p pair) in(lang string) string {
	if lang == chinese {
		return p.zh
	}
	return p.en
}

func (p pair) fill(lang string, args ...any) string { return fmt.Sprintf(p.in(lang), args...) }

// Words of messages.
var (
	wordOpen      = pair{"Open in ax", "在 ax 中打开"}
	wordOpenAll   = pair{"Open the alerts", "查看告警"}
	wordTest      = pair{"Test message from ax", "来自 ax 的测试消息"}
	wordTestMore  = pair{"This channel works. Nothing is wrong.", "此通道可用，没有任何异常。"}
	wordThreshold = pair{"%s, threshold %s", "%s，阈值 %s"}
	wordSince     = pair{"%s (%s)", "%s（%s）"}
	wordLate      = pair{"sent %s late", "延迟 %s 送达"}
	wordMore      = pair{"and %s more", "另有 %s 个"}
	wordColon     = pair{": ", "："}
	wordComma     = pair{", ", "、"}
	wordHost      = pair{"%s at %s", "%s（主机 %s）"}
	wordAlerts    = pair{"%d alerts", "%d 条告警"}
	wordMessages  = pair{"%d messages", "%d 条消息"}
	wordAllTasks  = pair{"all tasks", "全部任务"}
	wordHouse     = pair{"the installation", "整个系统"}

	labelValue = pair{"Value", "当前值"}
	labelWorst = pair{"Worst value", "最差值"}
	labelSince = pair{"Since", "开始于"}
	labelEnded = pair{"Over since", "恢复于"}
	labelTeam  = pair{"Team", "团队"}
	labelScope = pair{"Scope", "范围"}
	labelOwner = pair{"Owner", "负责人"}
	labelNote  = pair{"Note", "备注"}
)

var kindWords = map[MessageKind]pair{
	Repeated:  {"still", "仍未恢复"},
	Grown:     {"growing", "扩大"},
	Escalated: {"escalated", "升级"},
	Closed:    {"over", "已恢复"},
	Test:      {"test", "测试"},
}

// metricWords say what is wrong with one subject (%s) and with several (%s is
// their number).
var metricWords = map[Metric]struct{ one, many pair }{
	InARow:       {pair{"%s fails", "%s 失败"}, pair{"%s tasks fail", "%s 个任务失败"}},
	Failures:     {pair{"%s fails", "%s 失败"}, pair{"%s tasks fail", "%s 个任务失败"}},
	SuccessRate:  {pair{"%s: too few runs succeed", "%s：成功率过低"}, pair{"%s scopes: too few runs succeed", "%s 个范围的成功率过低"}},
	MissedRun:    {pair{"%s misses a run", "%s 未按时成功"}, pair{"%s tasks miss a run", "%s 个任务未按时成功"}},
	RunTooLong:   {pair{"%s runs too long", "%s 运行过久"}, pair{"%s tasks run too long", "%s 个任务运行过久"}},
	RunTooShort:  {pair{"%s ran too short", "%s 运行过短"}, pair{"%s tasks ran too short", "%s 个任务运行过短"}},
	TriggerLag:   {pair{"%s: late starts", "%s：启动延迟"}, pair{"%s scopes: late starts", "%s 个范围启动延迟"}},
	OpenLetters:  {pair{"%s: too many dead letters", "%s：死信过多"}, pair{"%s scopes: too many dead letters", "%s 个范围死信过多"}},
	LetterAge:    {pair{"%s: a dead letter waits too long", "%s：死信等待过久"}, pair{"%s scopes: dead letters wait too long", "%s 个范围的死信等待过久"}},
	CalendarEnds: {pair{"%s runs out of data", "%s 的数据即将用完"}, pair{"%s calendars run out of data", "%s 个日历的数据即将用完"}},
	NoExecutor:   {pair{"%s is offline", "%s 离线"}, pair{"%s executors are offline", "%s 个执行器离线"}},
	QueueDepth:   {pair{"%s is too deep", "%s 积压过多"}, pair{"%s queues are too deep", "%s 个队列积压过多"}},
	NotServed:    {pair{"no node serves %s", "没有节点处理%s"}, pair{"no node serves %s queues", "%s 个队列没有节点处理"}},
	NodeOffline:  {pair{"%s is offline", "%s 离线"}, pair{"%s nodes are offline", "%s 个节点离线"}},
	ClockOffset:  {pair{"%s: clock is off", "%s 时钟偏差"}, pair{"%s nodes: clocks are off", "%s 个节点时钟偏差"}},
	PlanningLate: {pair{"nothing is planned", "没有计划新的实例"}, pair{"nothing is planned", "没有计划新的实例"}},
	RedisMemory:  {pair{"Redis is short of memory", "Redis 内存不足"}, pair{"Redis is short of memory", "Redis 内存不足"}},
	RedisEvicts:  {pair{"Redis may throw away what it holds", "Redis 可能淘汰数据"}, pair{"Redis may throw away what it holds", "Redis 可能淘汰数据"}},
}

// perWords name subjects: one by its name, several by their number.
var perWords = map[SubjectKind]struct{ one, many pair }{
	TaskSubject:     {pair{"%s", "%s"}, pair{"%s tasks", "%s 个任务"}},
	ScopeSubject:    {pair{"%s", "%s"}, pair{"%s scopes", "%s 个范围"}},
	QueueSubject:    {pair{"queue %s", "队列 %s"}, pair{"%s queues", "%s 个队列"}},
	NodeSubject:     {pair{"node %s", "节点 %s"}, pair{"%s nodes", "%s 个节点"}},
	ExecutorSubject: {pair{"executor %s", "执行器 %s"}, pair{"%s executors", "%s 个执行器"}},
	CalendarSubject: {pair{"calendar %s", "日历 %s"}, pair{"%s calendars", "%s 个日历"}},
	HouseSubject:    {pair{"the installation", "整个系统"}, pair{"the installation", "整个系统"}},
}

var scopeWords = map[ScopeKind]pair{
	OfTag:   {"tag %s", "标签 %s"},
	OfGroup: {"group %s", "分组 %s"},
	OfTask:  {"task %s", "任务 %s"},
	OfQueue: {"queue %s", "队列 %s"},
}

// ruleNames are the default names in 中文.
var ruleNames = map[string]string{
	"Failures in a row": "连续失败", "Success rate": "成功率", "Expected run missing": "未按时运行",
	"Run too long": "运行过久", "Open dead letters": "待处理死信", "Trigger lag": "触发延迟",
	"Calendar without data": "日历缺少数据", "Queue depth": "队列积压", "Node offline": "节点离线", "Executor offline": "执行器离线", "No node serves it": "没有节点处理",
	"Nothing planned": "停止计划", "Clock offset": "时钟偏差", "Clock offset that stops planning": "时钟偏差导致停止计划",
	"Redis memory": "Redis 内存", "Redis may evict": "Redis 可能淘汰数据",
}

// RuleName is a rule's name in the language, if it still has its default one;
// else as it was given.
func RuleName(lang, name string) string {
	if zh, ok := ruleNames[name]; ok && lang == chinese {
		return zh
	}
	return name
}

// words of a scope: "tag pay".
func (s Scope) words(lang string) string {
	if p, ok := scopeWords[s.Kind]; ok {
		return p.fill(lang, oneLine(s.Value, 100))
	}
	return wordAllTasks.in(lang)
}

// words of a subject: its name, else its key; a scope as a scope.
func (s Subject) words(lang string) string {
	name := oneLine(s.Name, 100)
	if name == "" {
		name = oneLine(s.Key, 100)
	}
	if kind, value, ok := strings.Cut(s.Key, ":"); s.Kind == ScopeSubject && s.Name == "" && ok {
		return Scope{ScopeKind(kind), value}.words(lang)
	}
	if s.Kind == ScopeSubject && (name == "" || name == string(All)) {
		return wordAllTasks.in(lang)
	}
	if p, ok := perWords[s.Kind]; ok && s.Kind != HouseSubject {
		return p.one.fill(lang, name)
	}
	return wordHouse.in(lang)
}

// what is wrong, or (when it is over) was: "40 tasks fail at pay-gw.internal".
func (m Message) what(lang string) string {
	var first Subject
	if len(m.Members) > 0 {
		first = m.Members[0].Subject
	}
	one, many := metricWords[m.Metric].one, metricWords[m.Metric].many
	if m.Kind == Closed || one == (pair{}) {
		one, many = pair{"%s", "%s"}, perWords[first.Kind].many
	}
	if many == (pair{}) {
		many = pair{"%s subjects", "%s 个对象"}
	}
	said := filled(many, lang, number(float64(m.count())))
	if m.count() <= 1 {
		said = filled(one, lang, first.words(lang))
	}
	if host := oneLine(m.Host, 100); host != "" {
		said = wordHost.fill(lang, said, host)
	}
	return said
}

// filled fills a format that may have no place for its word.
func filled(p pair, lang, word string) string { return strings.ReplaceAll(p.in(lang), "%s", word) }

func (m Message) teamWords(lang string) string {
	if m.Team == "" {
		return wordHouse.in(lang)
	}
	return m.Team
}
