package app_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/sched"
)

type logJSON struct {
	Attempt int
	Items   []struct {
		At, Source, Text string
		Skipped          int64 `json:"skipped_bytes"`
		Dropped          int   `json:"skipped_entries"`
	}
	After string
	More  bool
	Ended bool
}

func outputPath(id, query string) string { return v1 + "/instances/" + id + "/output" + query }

func (c *client) log(id, query string) (out logJSON) {
	c.h.t.Helper()
	got := c.get(outputPath(id, query))
	require.Equal(c.h.t, http.StatusOK, got.status, got.body)
	require.Equal(c.h.t, "application/json", got.header.Get("Content-Type"))
	got.into(&out)
	return out
}

func (l logJSON) lines() []string {
	var out []string
	for _, e := range l.Items {
		out = append(out, e.Source+" "+e.Text)
	}
	return out
}

// One stream of an accepted call: request, answer, words, receipts of every
// kind, and what ax made of them.
func TestTheLogOfACallOverTheAPI(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send")
	in := h.accepted("orders.send", "o-1")
	target, program := h.browser(), h.api(access.Viewer)
	token := h.signer.ReceiptToken(in.ID, 1)
	before := program.log(in.ID, "")
	require.False(t, before.Ended)
	h.forward(2 * time.Second)
	target.wants(progressPath(in.ID), `{"token": "`+token+`", "percent": 40, "message": "</script><b>481</b>"}`, 200)
	h.forward(2 * time.Second)
	target.wants(receiptPath(in.ID), `{"token": "`+token+`", "outcome": "succeeded", "message": "done 完成"}`, 200)
	h.forward(2 * time.Second)
	target.wants(receiptPath(in.ID), `{"token": "`+token+`", "outcome": "failed"}`, 200)

	after := program.log(in.ID, "?after="+before.After)
	lines := after.lines()
	require.Len(t, lines, 4)
	require.Equal(t, "progress 40 % · </script><b>481</b>", lines[0])
	require.Regexp(t, `^receipt A receipt from \S+ ended it: succeeded done 完成$`, lines[1])
	require.Equal(t, "ax The attempt succeeded", lines[2])
	require.Regexp(t, `^receipt A receipt from \S+ came after the end and changed nothing: failed$`, lines[3])
	require.True(t, after.Ended)

	whole := program.log(in.ID, "")
	require.Equal(t, append(before.lines(), lines...), whole.lines())
	require.Contains(t, strings.Join(whole.lines(), "\n"), "The target accepted the work")
	var paged []string
	for query := "?limit=1"; ; {
		page := program.log(in.ID, query)
		paged = append(paged, page.lines()...)
		if query = "?limit=1&after=" + page.After; !page.More {
			break
		}
	}
	require.Equal(t, whole.lines(), paged)
	require.Equal(t, []string{lines[1]}, program.log(in.ID, "?q="+url.QueryEscape("DONE 完")).lines())
	require.Equal(t, []string{lines[0]}, program.log(in.ID, "?source=progress,stderr").lines())

	page := h.as("viewer").get("/instances/" + in.ID)
	require.Contains(t, page.text("#log"), "</script><b>481</b>")
	require.NotContains(t, page.body, "</script><b>")
}

func TestAnOldAttemptsReceiptThatIsRefusedStandsInItsLog(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send", func(w *sched.TaskSpec) { w.Policy.Retry.Max = new(1) })
	id := h.trigger("orders.send", "o-1").ID
	h.run(id, bad("503"))
	refused := h.browser().json("POST", receiptPath(id), `{"token": "`+h.signer.ReceiptToken(id, 1)+`", "outcome": "failed", "message": "库存不足"}`)
	require.Equal(t, http.StatusConflict, refused.status, refused.body)
	lines := h.api(access.Viewer).log(id, "?source=receipt").lines()
	require.Len(t, lines, 1)
	require.Regexp(t, `^receipt A receipt was refused: failed 库存不足 \(\S+\): Attempt 1 is no longer the present one`, lines[0])
}

func TestALogAsTextAndAsAFile(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.printed("one\n\x0ebad\n\x0ftwo 完\n")
	program := h.api(access.Viewer)
	text := program.with("Accept", "text/plain").get(outputPath(id, "?source=stdout,stderr"))
	require.Equal(t, "text/plain; charset=utf-8", text.header.Get("Content-Type"))
	require.Equal(t, "one\nbad\ntwo 完\n", text.body)
	require.NotEmpty(t, text.header.Get("Ax-After"))
	text = program.with("Accept", "text/plain").get(outputPath(id, ""))
	require.Regexp(t, `^\S+Z  ax        Attempt 1 began on node .*\n\S+Z  stdout    one\n\S+Z  stderr    bad\n\S+Z  stdout    two 完\n$`, text.body)
	file := program.get(v1 + "/instances/" + id + "/output.txt?attempt=1")
	require.Equal(t, text.body, file.body)
	require.Contains(t, file.header.Get("Content-Disposition"), id+"-1.txt")
}

// BIG: much more than a page, read in pages and as a file.
func TestALongLogIsReadInPagesAndSentWhole(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	var all strings.Builder
	for i := range 4000 {
		fmt.Fprintf(&all, "line %d %s\n", i, strings.Repeat("x", 200))
	}
	id := h.printed(all.String())
	program := h.api(access.Viewer)
	var got strings.Builder
	for query := "?source=stdout&limit=1000"; ; {
		page := program.log(id, query)
		for _, e := range page.Items {
			got.WriteString(e.Text + "\n")
		}
		if query = "?source=stdout&limit=1000&after=" + page.After; !page.More {
			break
		}
	}
	require.Equal(t, all.String(), got.String())
	require.Equal(t, all.String(), program.get(v1+"/instances/"+id+"/output.txt?source=stdout").body)
	page := h.as("viewer").get("/instances/" + id)
	require.Less(t, len(page.body), 400<<10)
	require.Contains(t, page.text("#log"), "line 3999")
	require.Contains(t, page.text("[data-test=log-count]"), "are shown")
}

func TestALogIsFollowed(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.printed("one\n")
	program := h.api(access.Viewer)
	first := program.log(id, "")
	came := make(chan logJSON, 1)
	go func() { came <- program.log(id, "?follow=1&after="+first.After) }()
	time.Sleep(300 * time.Millisecond)
	require.NoError(t, h.ledger.WriteOutput(t.Context(), id, 1, 0, []sched.Stretch{{Seq: 2, At: h.local(), Text: "two\n"}}))
	select {
	case got := <-came:
		require.Equal(t, []string{"stdout two"}, got.lines())
	case <-time.After(10 * time.Second):
		t.Fatal("nothing came")
	}
}

func TestWhatIsAskedOfALogIsChecked(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.printed("one\n")
	program := h.api(access.Viewer)
	for query, want := range map[string]string{
		"?limit=0": "limit", "?limit=1001": "limit", "?limit=x": "limit", "?attempt=0": "attempt", "?attempt=x": "attempt", "?source=stdin": "source",
		"?after=x": "after", "?after=2.0.0.0.0.0.0.0&attempt=1": "after", "?follow=maybe": "follow", "?q=" + strings.Repeat("x", 201): "q", "?tail=1": "tail",
	} {
		got := program.get(outputPath(id, query))
		require.Equal(t, http.StatusUnprocessableEntity, got.status, query)
		require.Equal(t, []string{want}, got.fields(), query)
	}
	require.Equal(t, http.StatusNotFound, program.get(outputPath(id, "?attempt=2")).status)
	require.Equal(t, http.StatusNotFound, program.get(outputPath(id, "?after=2.0.0.0.0.0.0.0")).status)
	require.Equal(t, http.StatusNotFound, program.get(v1+"/instances/"+id+"/output.txt?attempt=2").status)
	require.Equal(t, http.StatusNotFound, h.otherAPI().get(outputPath(id, "")).status)
	h.task("orders.later")
	none := program.log(h.trigger("orders.later", "o-9").ID, "?follow=1")
	require.Empty(t, none.Items)
	require.Zero(t, none.Attempt)
}

// printed is an instance that runs a command, which printed the text.
func (h *house) printed(text string) string {
	h.t.Helper()
	h.found()
	h.openCommands()
	h.task("orders.close", func(w *sched.TaskSpec) {
		w.Target = sched.TargetSpec{Kind: sched.TargetShell, Command: "/opt/jobs/close.sh"}
		w.Policy.TimeoutSeconds = new(60)
	})
	id := h.trigger("orders.close", "day-7").ID
	h.claim(id)
	var add []sched.Stretch
	for len(text) > 0 {
		part := text[:min(len(text), sched.OutputStretch)]
		if at := strings.LastIndexByte(part, '\n') + 1; at > 0 {
			part = part[:at]
		}
		add, text = append(add, sched.Stretch{Seq: len(add) + 1, At: h.local(), Text: part}), text[len(part):]
	}
	require.NoError(h.t, h.ledger.WriteOutput(h.t.Context(), id, 1, 0, add))
	return id
}
