package alert

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/sched"
)

func runEnd(id string, on sched.HookOn, s sched.State, at time.Time) HookEnd {
	return HookEnd{ChannelID: "ch", TaskID: 7, TeamID: 3, Team: "Shop", Run: RunFacts{
		On: on, InstanceID: id, Task: "close-orders", Name: "Close orders", BizID: "order-17", State: s, Error: "answered 503: down\nsecond line",
		Attempt: 2, StartedAt: at.Add(-1500 * time.Millisecond), FinishedAt: at,
	}}
}

func TestAHookTellsOfAnEndOnceAndInItsTasksOrder(t *testing.T) {
	e, f, c := events()
	f.listeners = nil
	for i := range 3 {
		f.hooks = append(f.hooks, runEnd(fmt.Sprint("i", i), sched.OnFailure, sched.Failed, c.Now().Add(time.Duration(i)*time.Second)))
	}
	for range 3 {
		c.now = c.now.Add(EventsEvery)
		require.False(t, turn2(t, e))
	}
	require.Equal(t, []string{"hook/failure/i0", "hook/failure/i1", "hook/failure/i2"}, f.told())
	d := f.sent[0]
	require.Equal(t, []any{"ch", int64(3), "task/7", Ran, Waiting, "/instances/i0"}, []any{d.ChannelID, d.TeamID, d.Object, d.Kind, d.State, d.Message.Path})
	require.Equal(t, d.ID, d.Message.ID)
	require.Equal(t, "close-orders", d.Title())
}

func TestTheWordsOfAnEnd(t *testing.T) {
	at := time.Date(2026, 12, 2, 7, 2, 7, 0, time.UTC)
	for name, c := range map[string]struct {
		state   sched.State
		changed bool
		en, zh  string
		tone    Tone
	}{
		"success":             {sched.Succeeded, false, "Close orders succeeded", "Close orders 成功", ToneGood},
		"success after a bad": {sched.Succeeded, true, "Close orders succeeded again", "Close orders 恢复成功", ToneGood},
		"failure":             {sched.Failed, false, "Close orders failed", "Close orders 失败", ToneBad},
		"time":                {sched.TimedOut, true, "Close orders timed out", "Close orders 超时", ToneBad},
		"lost":                {sched.Lost, false, "Close orders was lost with its node", "Close orders 随节点丢失", ToneBad},
	} {
		t.Run(name, func(t *testing.T) {
			h := runEnd("i", sched.OnChange, c.state, at)
			h.Run.Changed = c.changed
			if !c.state.Bad() {
				h.Run.Error = ""
			}
			m := Message{Kind: Ran, At: at, Team: "Shop", Path: "/instances/i", Run: &h.Run}
			w := Where{Base: "https://ax.example", Now: at, Bad: "own {{rule}}", Good: "own", All: true}
			en, zh := m.Text("en", w), m.Text("zh-CN", w)
			require.Equal(t, []any{c.en, c.zh, c.tone}, []any{en.Title, zh.Title, en.Tone})
			require.Equal(t, "https://ax.example/instances/i", en.Link)
			require.False(t, en.All, "an end calls nobody")
			if c.state.Bad() {
				require.Equal(t, Line{"Error", "answered 503: down"}, en.Lines[0])
				require.Equal(t, Line{"错误", "answered 503: down"}, zh.Lines[0])
			}
			require.Contains(t, en.Lines, Line{"Took", "1 s"})
			require.Contains(t, en.Lines, Line{"Task", "close-orders"})
			require.Equal(t, c.changed && c.state.Bad(), en.Lines[len(en.Lines)-2] == Line{"The run before", "succeeded"})
		})
	}
}

func TestEndsAreMergedWithWhatElseWaits(t *testing.T) {
	bad, good := runEnd("i", sched.OnFailure, sched.Failed, t0), runEnd("j", sched.OnSuccess, sched.Succeeded, t0)
	text := Merge("en", []Message{{Kind: Ran, Run: &bad.Run}, {Kind: Ran, Run: &good.Run}}, Where{})
	require.Equal(t, "2 messages", text.Title)
	require.Equal(t, ToneBad, text.Tone)
	require.Equal(t, []string{"Close orders failed", "answered 503: down second line"}, []string{text.Items[0].Text, text.Items[0].Detail})
}
