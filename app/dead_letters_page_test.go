package app_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/sched"
)

func letterURL(l sched.Letter) string { return "/dead-letters/" + strconv.FormatInt(l.ID, 10) }

func (h *house) letterNow(id int64) sched.Letter {
	h.t.Helper()
	l, err := h.ledger.Letter(h.t.Context(), id)
	require.NoError(h.t, err)
	return l
}

// solved edits a letter as the command line would.
func (h *house) solved(id int64, e sched.LetterEdit) {
	h.t.Helper()
	_, err := h.opt.Letters.Edit(h.t.Context(), root, id, e)
	require.NoError(h.t, err)
}

func TestTheListOfDeadLettersIsNarrowedByItsAddress(t *testing.T) {
	t.Parallel()
	h := presentHouse(t)
	h.found()
	h.task("orders.send")
	h.task("orders.close")
	h.task("shop.open", h.ofStore)
	h.letter("orders.send", "o-1", "no luck")
	taken := h.letter("orders.send", "o-2", "no luck")
	h.letter("orders.close", "c-1", "no luck")
	fixed := h.letter("orders.close", "c-2", "no luck")
	h.letter("shop.open", "s-1", "no luck")
	c := h.as("operator")
	h.solved(taken.ID, sched.LetterEdit{Status: new(sched.LetterTaken), Assignee: new("operator")})
	h.solved(fixed.ID, sched.LetterEdit{Status: new(sched.LetterSolved)})
	for query, want := range map[string][]string{
		"":                               {"c-1", "o-2", "o-1"},
		"status=todo":                    {"c-1", "o-2", "o-1"},
		"status=open":                    {"c-1", "o-1"},
		"status=taken":                   {"o-2"},
		"status=solved":                  {"c-2"},
		"status=wont_fix":                nil,
		"status=all":                     {"c-2", "c-1", "o-2", "o-1"},
		"task=orders.send":               {"o-2", "o-1"},
		"task=orders.close&status=all":   {"c-2", "c-1"},
		"task=shop.open":                 nil,
		"biz=o-":                         {"o-2", "o-1"},
		"assignee=operator":              {"o-2"},
		"assignee=stranger":              nil,
		"mine=1":                         {"o-2"},
		"mine=1&status=open":             nil,
		"team=store":                     {"c-1", "o-2", "o-1"},
		"after=" + fmt.Sprint(taken.ID):  {"o-1"},
		"before=" + fmt.Sprint(taken.ID): {"c-1"},
	} {
		got := c.get("/dead-letters?" + query)
		require.Equal(t, http.StatusOK, got.status, query)
		require.Equal(t, want, bizIDs(got, "[data-test=letter]"), query)
		require.Equal(t, want, bizIDs(c.htmx("/dead-letters").get("/dead-letters?"+query), "[data-test=letter]"), query)
	}
	require.Equal(t, []string{"s-1"}, bizIDs(h.as("stranger").get("/dead-letters"), "[data-test=letter]"))
	require.Empty(t, bizIDs(h.as("nobody").get("/dead-letters?status=all"), "[data-test=letter]"))
	require.Equal(t, "3", c.get("/dead-letters").text(".tabs .n"))
	require.Equal(t, "no luck", c.get("/dead-letters").text("[data-test=letter] .err"))
}

func TestNoOpenLetterIsAGoodPage(t *testing.T) {
	t.Parallel()
	h := presentHouse(t)
	c := h.as("viewer")
	page := c.get("/dead-letters")
	require.Equal(t, "No open dead letters", page.text(".blank h2"))
	require.Contains(t, page.text(".blank p"), "A replay that succeeds closes it.")
	require.Equal(t, "Nothing is assigned to you", c.get("/dead-letters?mine=1").text(".blank h2"))
	require.Equal(t, "Nothing matches", c.get("/dead-letters?task=orders.send").text(".blank h2"))
	require.Equal(t, "No dead letter yet", c.get("/dead-letters?status=all").text(".blank h2"))
}

func TestWordsInTheLettersBoxBecomeFilters(t *testing.T) {
	t.Parallel()
	h := presentHouse(t)
	h.task("orders.send")
	c := h.as("viewer")
	for typed, want := range map[string]string{
		"orders.send":             "/dead-letters?task=orders.send",
		"task:orders.send with:X": "/dead-letters?assignee=x&task=orders.send",
		"@2026-12-02T06:20:00Z":   "/dead-letters?biz=" + url.QueryEscape("@2026-12-02T06:20:00Z"),
		"status:solved biz:o":     "/dead-letters?biz=o&status=solved",
	} {
		got := c.get("/dead-letters?after=9&q=" + url.QueryEscape(typed))
		require.Equal(t, http.StatusSeeOther, got.status, typed)
		require.Equal(t, want, got.location(), typed)
	}
	for query, said := range map[string]string{"status=gone": `There is no status "gone"`, "biz=%E4%B8%AD": "printable ASCII", "after=x": "place in the list", "before=-1": "place in the list"} {
		got := c.get("/dead-letters?" + query)
		require.Equal(t, http.StatusUnprocessableEntity, got.status, query)
		require.Contains(t, got.text(".note.bad"), said)
	}
}

func TestALetterTellsWhatItIsAbout(t *testing.T) {
	t.Parallel()
	h := presentHouse(t)
	h.task("orders.send")
	l := h.letter("orders.send", "o-1", "no luck")
	page := h.as("viewer").get(letterURL(l))
	require.Equal(t, "Task orders.send failed", page.text("h1"))
	require.Equal(t, "Open", page.text(".facts .st"))
	require.Contains(t, page.text("#cause"), "no luck")
	require.Contains(t, page.text("#cause"), "500 Internal Server Error")
	require.Equal(t, "/instances/"+l.InstanceID, page.attr(`.sec-h a.more`, "href"))
	require.Equal(t, []string{"The first run"}, page.texts("#runs a"))
	require.Equal(t, "Nobody has written one yet.", page.text("aside section p"))
	require.False(t, page.has("main form, dialog#replay"), "a viewer may do nothing")
	fresh := h.as("viewer").htmx(letterURL(l)).get(letterURL(l))
	require.True(t, strings.HasPrefix(fresh.body, `<div id="top"`))
	require.Contains(t, fresh.body, `<hx-partial hx-target="#runs"`)
	require.NotContains(t, fresh.body, "<aside", "somebody may be writing there")
}

func TestALetterOfOthersIsNotThere(t *testing.T) {
	t.Parallel()
	h := presentHouse(t)
	h.task("orders.send")
	l := h.letter("orders.send", "o-1", "no luck")
	for _, who := range []string{"stranger", "nobody"} {
		c := h.as(who)
		for _, path := range []string{letterURL(l), "/dead-letters/999", "/dead-letters/x", "/dead-letters/-1", "/dead-letters/99999999999999999999"} {
			require.Equal(t, http.StatusNotFound, c.get(path).status, "%s as %s", path, who)
			require.Equal(t, http.StatusNotFound, c.htmx("/").get(path).status, "%s as %s", path, who)
		}
		require.Equal(t, http.StatusNotFound, c.post(letterURL(l), "version", "1", "solution", "mine").status)
		require.Equal(t, http.StatusNotFound, c.post(letterURL(l)+"/replay", "reason", "mine").status)
	}
	require.Equal(t, http.StatusNotFound, h.as("viewer").get("/dead-letters/01").status, "one address per letter")
	require.Equal(t, http.StatusBadRequest, h.as("viewer").get("/dead-letters/%00").status)
	require.Equal(t, 1, h.letterNow(l.ID).Version)
}

func TestASolutionIsSavedAndRecorded(t *testing.T) {
	t.Parallel()
	h := presentHouse(t)
	h.task("orders.send")
	l := h.letter("orders.send", "o-1", "no luck")
	require.Equal(t, http.StatusForbidden, h.as("viewer").post(letterURL(l), "version", "1", "status", "solved").status)
	c := h.as("operator")
	form := c.get(letterURL(l))
	require.Equal(t, "1", form.value("version"))
	text := "Gateway needs 45 s.\r\nNow it has them. <a href=javascript:alert(1) hx-get=/x>x</a>"
	done := c.post(letterURL(l), "version", "1", "status", "taken", "cause", "their_service", "assignee", "Operator", "solution", text, "team_id", "2", "closed_by", "me")
	require.Equal(t, http.StatusSeeOther, done.status, done.body)
	require.Equal(t, letterURL(l), done.location())
	got := h.letterNow(l.ID)
	stored := strings.ReplaceAll(text, "\r\n", "\n")
	require.Equal(t, []string{"taken", "their_service", "operator", stored}, []string{string(got.Status), got.Cause, got.Assignee, got.Solution})
	require.Equal(t, l.TeamID, got.TeamID)
	e := h.recorded("letter.edit")
	require.Equal(t, "operator", e.Actor.Name)
	require.Contains(t, e.Changes, access.Change{Field: "solution", New: stored})
	require.Contains(t, e.Changes, access.Change{Field: "status", Old: "open", New: "taken"})

	page := c.get(letterURL(l))
	require.Equal(t, stored, page.value("solution"))
	require.Equal(t, []string{"taken", "their_service", "operator", "2"}, []string{page.value("status"), page.value("cause"), page.value("assignee"), page.value("version")})
	require.False(t, page.has("main [hx-get='/x'], main a[href^='javascript']"))
	seen := h.as("viewer").get(letterURL(l))
	require.Equal(t, stored, seen.doc().Find("[data-test=solution]").Text(), "text, whatever is in it")
	require.Zero(t, seen.doc().Find("[data-test=solution]").Children().Length())
}

func TestALetterIsTakenWithOnePress(t *testing.T) {
	t.Parallel()
	h := presentHouse(t)
	h.task("orders.send")
	l := h.letter("orders.send", "o-1", "no luck")
	c := h.as("operator")
	form := c.get(letterURL(l)).doc().Find(".head form")
	require.Equal(t, letterURL(l), form.AttrOr("action", ""))
	var fields []string
	for i := range form.Find("input").Length() {
		in := form.Find("input").Eq(i)
		fields = append(fields, in.AttrOr("name", ""), in.AttrOr("value", ""))
	}
	require.Equal(t, http.StatusSeeOther, c.post(letterURL(l), fields...).status)
	got := h.letterNow(l.ID)
	require.Equal(t, []string{"taken", "operator"}, []string{string(got.Status), got.Assignee})
	require.False(t, c.get(letterURL(l)).has(".head form"), "it is taken")
	require.Contains(t, c.get("/dead-letters?mine=1").text("[data-test=letter]"), "Taken")
}

func TestAStaleFormShowsWhatIsStoredAndKeepsWhatWasTyped(t *testing.T) {
	t.Parallel()
	h := presentHouse(t)
	h.task("orders.send")
	l := h.letter("orders.send", "o-1", "no luck")
	c := h.as("operator")
	base := []string{"was_status", "open", "was_cause", "", "was_assignee", "", "was_solution", ""}
	page := c.get(letterURL(l))
	for i := 0; i < len(base); i += 2 {
		require.Equal(t, base[i+1], page.value(base[i]))
	}
	h.solved(l.ID, sched.LetterEdit{Status: new(sched.LetterTaken), Solution: new("somebody else’s")})
	got := c.post(letterURL(l), append(base, "version", "1", "status", "open", "cause", "data", "assignee", "", "solution", "mine <b>")...)
	require.Equal(t, http.StatusConflict, got.status)
	require.Contains(t, got.text(".note.warn"), "Nothing you typed is lost")
	require.Equal(t, []string{"Status: Taken", "Solution: somebody else’s"}, got.texts(".stored li"))
	form := got.doc().Find("#solve")
	require.Equal(t, "mine <b>", form.Find("[name=solution]").Text(), "what was typed")
	require.Equal(t, "data", form.Find("[name=cause] [selected]").AttrOr("value", ""))
	require.Equal(t, "taken", form.Find("[name=status] [selected]").AttrOr("value", ""), "what was not touched is as it is stored")
	require.Equal(t, "2", form.Find("[name=version]").AttrOr("value", ""))
	require.Equal(t, "somebody else’s", form.Find("[name=was_solution]").AttrOr("value", ""))
	require.Equal(t, "somebody else’s", h.letterNow(l.ID).Solution)
	require.Equal(t, http.StatusSeeOther, c.post(letterURL(l), "version", "2", "status", "solved", "solution", "mine <b>").status)
	require.Equal(t, "mine <b>", h.letterNow(l.ID).Solution)
}

func TestABadFormComesBackWithItsErrors(t *testing.T) {
	t.Parallel()
	h := presentHouse(t)
	h.task("orders.send")
	l := h.letter("orders.send", "o-1", "no luck")
	c := h.as("operator")
	for name, fields := range map[string][]string{
		"status":   {"version", "1", "status", "gone"},
		"assignee": {"version", "1", "assignee", "stranger"},
		"cause":    {"version", "1", "cause", strings.Repeat("x", 65)},
		"solution": {"version", "1", "solution", strings.Repeat("x", 20_001)},
	} {
		got := c.post(letterURL(l), append(fields, "solution", "kept")...)
		require.Equal(t, http.StatusUnprocessableEntity, got.status, name)
		require.True(t, got.has(`#solve [name=`+name+`][aria-invalid=true]`), "%s: %s", name, got.text("#solve"))
		if name != "solution" {
			require.Equal(t, "kept", got.value("solution"))
		}
	}
	for _, fields := range [][]string{{"solution", "x"}, {"version", "0", "solution", "x"}, {"version", "-3"}, {"version", "x"}} {
		require.Equal(t, http.StatusUnprocessableEntity, c.post(letterURL(l), fields...).status, fields)
	}
	require.Equal(t, http.StatusUnprocessableEntity, c.post(letterURL(l), "version", "1", "solution", "a\x01b").status)
	require.Equal(t, http.StatusBadRequest, c.post(letterURL(l), "version", "1", "solution", "a\x00b").status)
	require.Equal(t, http.StatusBadRequest, c.post(letterURL(l), "version", "1", "solution", "a\xffb").status)
	require.Equal(t, 1, h.letterNow(l.ID).Version, "nothing was stored")
}

func TestALetterIsReplayedOnceAtATime(t *testing.T) {
	t.Parallel()
	h := presentHouse(t)
	h.task("orders.send")
	l := h.letter("orders.send", "o-1", "no luck")
	c := h.as("operator")
	require.Equal(t, http.StatusForbidden, h.as("viewer").post(letterURL(l)+"/replay", "reason", "x").status)
	page := c.get(letterURL(l))
	require.Equal(t, letterURL(l)+"/replay", page.attr("dialog#replay form[method=post]", "action"))
	require.Contains(t, page.text("#replay .eff"), "The key stays orders.send/o-1")
	require.Contains(t, page.text("#replay .eff"), "The earlier request may have taken effect")

	again := c.post(letterURL(l)+"/replay", "reason", "")
	require.Equal(t, http.StatusUnprocessableEntity, again.status)
	require.True(t, again.has("dialog#replay[open] input[name=reason][aria-invalid=true]"))

	done := c.post(letterURL(l)+"/replay", "reason", "gateway is back")
	require.Equal(t, http.StatusSeeOther, done.status)
	id := strings.TrimPrefix(done.location(), "/instances/")
	require.Equal(t, id, h.letterNow(l.ID).Replaying)
	require.Equal(t, "gateway is back", h.recorded("letter.replay").Reason)
	watched := c.get(done.location())
	require.Contains(t, watched.text(".facts"), "replay 1, by operator")
	require.Equal(t, "Replay 1 is under way", watched.text("#ax-toasts [data-text]"))
	require.Equal(t, []string{"The first run"}, watched.texts(".list a"))

	page = c.get(letterURL(l))
	require.True(t, page.has("button[disabled][aria-describedby=why-not]"))
	require.False(t, page.has(`a[href="#replay"]`))
	require.Equal(t, "/instances/"+id, page.attr(".note.info a", "href"))
	second := c.post(letterURL(l)+"/replay", "reason", "impatient")
	require.Equal(t, http.StatusConflict, second.status)
	require.Contains(t, second.text(".note.bad"), "under way already")
	require.Equal(t, "replay under way", c.get("/dead-letters").text("[data-test=letter] .sub"))

	require.Equal(t, sched.Succeeded, h.run(id, ok()).State)
	page = c.get(letterURL(l))
	require.Equal(t, "Solved", page.text(".facts .st"))
	require.Equal(t, "/instances/"+id, page.attr(".note a", "href"))
	require.Equal(t, []string{"The first run", "Replay 1"}, page.texts("#runs a"))
	closed := c.post(letterURL(l)+"/replay", "reason", "once more")
	require.Equal(t, http.StatusConflict, closed.status)
	require.Contains(t, closed.text(".note.bad"), "closed")
}
