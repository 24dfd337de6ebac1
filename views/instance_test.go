package views

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/sched"
)

func inGallery(t *testing.T) context.Context {
	t.Helper()
	return With(t.Context(), GalleryViewer(English, "light"))
}

func TestAnAnswerIsTakenApart(t *testing.T) {
	t.Parallel()
	for stored, want := range map[string]exchange{
		"":                                    {},
		"POST https://x/\nA: 1\nB: 2":         {first: "POST https://x/", head: "A: 1\nB: 2"},
		"HTTP/1.1 204 No Content":             {first: "HTTP/1.1 204 No Content"},
		"HTTP/1.1 200 OK\nA: 1\n\none\n\ntwo": {first: "HTTP/1.1 200 OK", head: "A: 1", body: "one\n\ntwo"},
		"HTTP/1.1 200 OK\n\nabc\n[truncated: 18211 bytes]":             {first: "HTTP/1.1 200 OK", body: "abc", cut: "Only the beginning is kept; 17.8 KB came."},
		"HTTP/1.1 200 OK\n\nabc\n[truncated: more than 1048576 bytes]": {first: "HTTP/1.1 200 OK", body: "abc", cut: "Only the beginning is kept; more than 1 MB came."},
		"HTTP/1.1 200 OK\n\n[truncated: 5 bytes] is what it said":      {first: "HTTP/1.1 200 OK", body: "[truncated: 5 bytes] is what it said"},
		"X\n\na\n[truncated: 99999999999999999999 bytes]":              {first: "X", body: "a", cut: "Only the beginning is kept."},
	} {
		require.Equal(t, want, readExchange(inGallery(t), stored), stored)
	}
}

func TestTheStepsOfAnInstanceAreInTheOrderOfTime(t *testing.T) {
	t.Parallel()
	for _, v := range []sched.InstanceView{awaitingView(), runningView(), wishedView(), retryingView(), failedView(), lostView(), skippedView(), viewOf(sched.Queued)} {
		all := InstancePage{View: v, Nodes: runNodes()}.stations(inGallery(t))
		for i := 1; i < len(all); i++ {
			require.False(t, !all[i].Future && all[i].from.Before(all[i-1].from), "%s: %s comes after %s", v.State, all[i].Title, all[i-1].Title)
			require.False(t, all[i-1].Future, "what is to come is last")
		}
		require.Equal(t, !v.State.Final(), all[len(all)-1].Future, "%s", v.State)
		require.Empty(t, all[0].Gap)
	}
}

func TestWhatComesAfterTheEndStandsAfterIt(t *testing.T) {
	t.Parallel()
	all := InstancePage{View: failedView()}.stations(inGallery(t))
	require.Equal(t, "A receipt came after the end", all[len(all)-1].Title)
	require.Equal(t, "Ended: failed, no more retries", all[len(all)-2].Title)
}

func TestAGapIsCountedFromTheEndOfTheStepBefore(t *testing.T) {
	t.Parallel()
	v := viewOf(sched.Retrying, runAttempt(1, 60*time.Second, 20*time.Second, sched.OutcomeFailed, 500, "no", ""),
		runAttempt(2, 10*time.Second, 3*time.Second, sched.OutcomeFailed, 500, "no", ""))
	all := InstancePage{View: v}.stations(inGallery(t))
	require.Equal(t, "+30 s", all[3].Gap, "attempt 2, 30 s after attempt 1 had ended")
}

func TestAStepOnAnotherDaySaysSo(t *testing.T) {
	t.Parallel()
	v := viewOf(sched.Succeeded, runAttempt(1, 0, time.Second, sched.OutcomeSucceeded, 200, "", ""))
	v.CreatedAt, v.QueuedAt = v.CreatedAt.Add(-24*time.Hour), time.Time{}
	all := InstancePage{View: v}.stations(inGallery(t))
	require.True(t, strings.HasPrefix(all[1].Gap, "Wed 2 Dec 2026 · +"), all[1].Gap)
}

func TestEventsThatRepeatAreToldOnce(t *testing.T) {
	t.Parallel()
	v := viewOf(sched.Queued)
	for i := range 100 {
		v.Events = append(v.Events, sched.InstanceEvent{At: v.DueAt.Add(time.Duration(i) * time.Second), Kind: sched.EvResent})
	}
	v.Events = append(v.Events, sched.InstanceEvent{At: v.DueAt.Add(time.Hour), Kind: sched.EvHandedBack}, sched.InstanceEvent{At: v.DueAt.Add(2 * time.Hour), Kind: sched.EvResent})
	got := InstancePage{View: v}.happened(inGallery(t))
	require.Len(t, got, 3)
	require.Equal(t, "100 times: The message was sent again", got[0].Title)
	require.Equal(t, v.DueAt, got[0].from)
	require.Equal(t, "The message was sent again", got[2].Title)
}

func TestEveryKindOfEventHasWords(t *testing.T) {
	t.Parallel()
	for _, kind := range []sched.EventKind{sched.EvResent, sched.EvLost, sched.EvRefusedClaim, sched.EvRefusedResult, sched.EvReceipt,
		sched.EvRefusedWord, sched.EvCancelWanted, sched.EvHandedBack, sched.EvOverdue, sched.EvDeferred} {
		s := InstancePage{}.eventStep(inGallery(t), sched.InstanceEvent{Kind: kind, Actor: "a", NodeID: "n"})
		require.NotEqual(t, string(kind), s.Title)
		require.NotEmpty(t, s.State.Icon)
	}
	require.Equal(t, "new kind", InstancePage{}.eventStep(inGallery(t), sched.InstanceEvent{Kind: "new kind"}).Title)
}

func TestBannersSayWhatOneMustKnow(t *testing.T) {
	t.Parallel()
	paused := viewOf(sched.Queued)
	paused.Task.PausedFrom, paused.Task.PausedUntil = sampleTime(time.Hour), sampleTime(-time.Hour)
	deferred := viewOf(sched.Queued)
	deferred.Defers, deferred.DueAt = 3, sampleTime(-5*time.Second)
	overdue := runningView()
	overdue.DeadlineAt = sampleTime(30 * time.Second)
	silent := runningView()
	silent.NodeID = "silent"
	nodes := runNodes()
	nodes["silent"] = sched.NodeInfo{ID: "silent", Host: "wk-3", BeatAt: sampleTime(13 * time.Second)}
	killer := lostView()
	fresh := viewOf(sched.Pending)
	fresh.WantedAt, fresh.DueAt = sampleTime(time.Second), sampleTime(time.Second)
	for want, v := range map[string]sched.InstanceView{
		"ops-night asked to cancel it, 3 s ago.":              wishedView(),
		"The target took the work but has not reported back.": awaitingView(),
		"The node wk-sg-2:30218 is gone.":                     goneView(),
		"The node wk-3 was last heard of 13 s ago.":           silent,
		"This attempt is past its deadline.":                  overdue,
		"The task is paused until 15:32:07.":                  paused,
		"No free place: the task runs at most 1 at once.":     deferred,
		"It has been due for 12 min and no worker has begun.": viewOf(sched.Queued),
		"Its node died three times while it ran.":             killer,
		"Whether the target did the work is not known.":       {Instance: sched.Instance{State: sched.Lost, Deaths: 1}},
		"It failed and is not tried again.":                   endedView(),
		"This slot was not run:":                              skippedView(),
		"":                                                    fresh,
		"\x00runs well":                                       runningView(),
	} {
		got := InstancePage{View: v, Nodes: nodes}.banners(inGallery(t))
		if want == "" || want[0] == 0 {
			require.Empty(t, got, want)
			continue
		}
		require.Len(t, got, 1, want)
		require.Equal(t, want, got[0].strong)
	}
	got := unservedPage(InstancePage{View: viewOf(sched.Queued)}, "").banners(inGallery(t))
	require.Equal(t, "No node serves the queue default.", got[0].strong)
	letter := InstancePage{View: endedView(), Letter: caseLetter()}.banners(inGallery(t))
	require.Equal(t, "/dead-letters/9", letter[0].href)
}

func TestTheUsualDurationNeedsEnoughRuns(t *testing.T) {
	t.Parallel()
	p := InstancePage{View: runningView(), Runs: stripRuns()}
	got, ok := p.progress(inGallery(t))
	require.True(t, ok)
	require.Equal(t, "52 s", got.so)
	require.Empty(t, got.over)
	p.Runs = p.Runs[:enoughRuns-1]
	_, ok = p.progress(inGallery(t))
	require.False(t, ok)
	p = InstancePage{View: awaitingView(), Runs: stripRuns()}
	got, ok = p.progress(inGallery(t))
	require.True(t, ok)
	require.Equal(t, "8.2 × its P99", got.over)
	_, ok = InstancePage{View: endedView(), Runs: stripRuns()}.progress(inGallery(t))
	require.False(t, ok)
}

func TestASentenceOfTheEngineIsTranslatedAndATargetsIsNot(t *testing.T) {
	t.Parallel()
	zh := With(t.Context(), GalleryViewer(Chinese, "light"))
	require.Equal(t, "任务已停用", reasonText(zh, sched.ReasonDisabled))
	require.Equal(t, "该任务的另一个实例尚未结束", reasonText(zh, "overlap: "+runID+" has not ended"))
	require.Equal(t, "由 a:b 取消", reasonText(zh, "canceled by a:b"))
	require.Equal(t, "由 ops 取消：why: so", reasonText(zh, "canceled by ops: why: so"))
	require.Equal(t, "目标回报失败：no luck", errorText(zh, "the target reported a failure: no luck"))
	require.Equal(t, "answered 500: no luck", errorText(zh, "answered 500: no luck"))
	require.Equal(t, "按任务的重叠策略，为下一个时刻而取消", reasonText(zh, "canceled by overlap: the slot "+runID+" is due"))
	require.Equal(t, runID, overlapWith("overlap: "+runID+" has not ended"))
	for _, other := range []string{"", "overlap: ", "overlap:  has", "canceled by x"} {
		require.Empty(t, overlapWith(other))
	}
}
