package app

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"unicode"

	"github.com/gin-gonic/gin"

	"ax/app/access"
	"ax/app/fault"
	"ax/app/sched"
	"ax/views"
)

func (a *App) letterRoutes() []route {
	return []route{
		{http.MethodGet, "/dead-letters", (*App).listLetters, access.Read, false},
		{http.MethodGet, "/dead-letters/:id", (*App).showLetter, access.Read, false},
		{http.MethodPost, "/dead-letters/:id", (*App).solveLetter, access.Solve, false},
		{http.MethodPost, "/dead-letters/:id/replay", (*App).replayLetter, access.Replay, false},
	}
}

const listedLetters = 50

// listLetters shows the dead letters, narrowed by the address.
func (a *App) listLetters(c *gin.Context) (reply, error) {
	q := letterQuery(c)
	if typed := c.Query("q"); typed != "" {
		return a.typedLetters(c, q, typed)
	}
	f, none, err := a.readLetterQuery(c, q)
	if err != nil {
		return show(views.Letters(views.LettersPage{Query: q, Errors: fault.Fields(err)})), err
	}
	page := views.LettersPage{Query: q, Todo: a.lettersTodo(c, q)}
	if !none {
		list, err := a.letters.List(c.Request.Context(), actor(c), f, sched.PageRequest{After: q.After, Before: q.Before, Limit: listedLetters})
		if err != nil {
			return reply{}, err
		}
		page.Rows, page.Newer, page.Older = list.Items, list.Prev, list.Next
	}
	if page.Tasks, err = a.namesOf(c.Request.Context(), page.Rows, nil); err != nil {
		return reply{}, err
	}
	return show(views.Letters(page)).piecewise(views.LetterRows(page)), nil
}

// lettersTodo is how many letters are to do, for their tab. The count of the
// sidebar will do: it knows of no filters.
func (a *App) lettersTodo(c *gin.Context, q views.LetterQuery) string {
	if q.Task != "" || q.BizID != "" || q.Assignee != "" {
		return ""
	}
	n := a.openLetters(c.Request.Context(), actor(c), scopeOf(c), a.viewer(c).Now)
	if n >= lettersShown {
		return strconv.FormatInt(n, 10) + "+"
	}
	return strconv.FormatInt(n, 10)
}

// letterOf gives the letter of the address.
func (a *App) letterOf(c *gin.Context) (sched.Letter, error) {
	n, err := rowNumber(c.Param("id"))
	if err != nil {
		return sched.Letter{}, err
	}
	return a.letters.Get(c.Request.Context(), actor(c), n)
}

// showLetter shows one dead letter.
func (a *App) showLetter(c *gin.Context) (reply, error) {
	l, err := a.letterOf(c)
	if err != nil {
		return reply{}, err
	}
	page, err := a.letterPage(c, l)
	if err != nil {
		return reply{}, err
	}
	return show(views.Letter(page)).piecewise(views.LetterLive(page)), nil
}

func (a *App) letterPage(c *gin.Context, l sched.Letter) (views.LetterPage, error) {
	ctx, by := c.Request.Context(), actor(c)
	a.seenAt(c, letterPath(l.ID), refreshEvery)
	page := views.LetterPage{Letter: l, Values: views.ValuesOf(l), Base: views.ValuesOf(l), MaySolve: by.Can(access.Solve, l.TeamID), MayReplay: by.Can(access.Replay, l.TeamID)}
	page.History = a.historyOf(c, l.TeamID, "dead_letter", l.ID)
	var err error
	if page.View, err = a.endedBadly(ctx, by, l); err != nil {
		return page, err
	}
	if page.Nodes, err = a.nodesSince(ctx, page.View.CreatedAt); err != nil {
		return page, err
	}
	if page.Open, err = a.incidentOf(c, page.View.Task, page.View.Instance); err != nil {
		return page, err
	}
	runs, all, err := a.runsOf(ctx, by, l)
	if err != nil {
		return page, err
	}
	page.Runs, page.Missing = runs, !all
	if page.MaySolve {
		page.Members, err = a.teams.Members(ctx, by, l.TeamID)
	}
	return page, err
}

func letterPath(id int64) string { return "/dead-letters/" + strconv.FormatInt(id, 10) }

// endedBadly gives the latest instance of the letter. Its row may have been
// pruned: then what the letter itself knows must do.
func (a *App) endedBadly(ctx context.Context, by access.Actor, l sched.Letter) (sched.InstanceView, error) {
	v, err := a.instances.Get(ctx, by, l.InstanceID)
	if fault.KindOf(err) != fault.KindNotFound || err == nil {
		return v, err
	}
	tasks, err := a.reports.TasksByID(ctx, []int64{l.TaskID})
	return sched.InstanceView{
		Instance: sched.Instance{ID: l.InstanceID, TaskID: l.TaskID, TeamID: l.TeamID, BizID: l.BizID, CreatedAt: l.OpenedAt},
		Task:     tasks[l.TaskID],
	}, err
}

// solveLetter stores what a person found out and did.
func (a *App) solveLetter(c *gin.Context) (reply, error) {
	l, err := a.letterOf(c)
	if err != nil {
		return reply{}, err
	}
	if err := actor(c).Check(access.Solve, l.TeamID); err != nil {
		return reply{}, err
	}
	f, err := a.form(c)
	if err != nil {
		return reply{}, err
	}
	edit := letterEdit(f)
	if err = f.err(); err == nil {
		_, err = a.letters.Edit(c.Request.Context(), actor(c), l.ID, edit)
	}
	if err != nil {
		return a.solveAgain(c, l.ID, f, err)
	}
	a.flash(c, "Saved")
	return reply{to: letterPath(l.ID)}, nil
}

// letterEdit reads the form; a field that wasn't sent stays as it is.
func letterEdit(f *form) sched.LetterEdit {
	e := sched.LetterEdit{Version: f.number("version")}
	if e.Version < 1 && !f.broken("version") {
		f.refuse("", "The form doesn’t say which version it began from. Load the page again.")
	}
	if f.has("status") {
		e.Status = new(sched.LetterStatus(f.text("status")))
	}
	if f.has("cause") {
		e.Cause = new(f.text("cause"))
	}
	if f.has("assignee") {
		e.Assignee = new(strings.ToLower(f.text("assignee")))
	}
	if f.has("solution") {
		text := plainLines(f.text("solution"))
		e.Solution = &text
		if strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }) {
			f.refuse("solution", "Control characters and broken text can't be used here")
		}
	}
	return e
}

// solveAgain shows the letter as it is stored now, with everything that was
// typed and what is wrong with it.
func (a *App) solveAgain(c *gin.Context, id int64, f *form, why error) (reply, error) {
	kind := fault.KindOf(why)
	if kind != fault.KindInvalid && kind != fault.KindConflict {
		return reply{}, why
	}
	l, err := a.letters.Get(c.Request.Context(), actor(c), id)
	if err != nil {
		return reply{}, err
	}
	page, err := a.letterPage(c, l)
	if err != nil {
		return reply{}, err
	}
	stored := views.ValuesOf(l)
	base := letterValues(f, "was_", stored)
	page.Values, page.Errors = letterValues(f, "", base), fault.Fields(why)
	if n := f.number("version"); n > 0 {
		page.Values.Version = n
	}
	if page.Base = base; kind == fault.KindConflict {
		page.Stale, page.Was, page.Base = true, base, stored
		page.Values = page.Values.Merged(base, stored)
	}
	return show(views.Letter(page)), why
}

// letterValues are the values of the form's fields whose names begin so; those
// of other for what wasn't sent.
func letterValues(f *form, prefix string, other views.LetterValues) views.LetterValues {
	v := other
	for name, field := range map[string]*string{"status": &v.Status, "cause": &v.Cause, "assignee": &v.Assignee, "solution": &v.Solution} {
		if f.has(prefix + name) {
			*field = plainLines(f.text(prefix + name))
		}
	}
	return v
}

// plainLines has lines end as ax stores them: a browser ends those of a text
// area with CR LF.
func plainLines(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

// replayLetter runs the business action again and goes to the new instance.
func (a *App) replayLetter(c *gin.Context) (reply, error) {
	l, err := a.letterOf(c)
	if err != nil {
		return reply{}, err
	}
	if err := actor(c).Check(access.Replay, l.TeamID); err != nil {
		return reply{}, err
	}
	f, err := a.form(c)
	if err != nil {
		return reply{}, err
	}
	if err := reasonOf(f); err != nil {
		return a.replayAgain(c, l.ID, f, err)
	}
	in, err := a.letters.Replay(c.Request.Context(), actor(c), l.ID, f.text("reason"))
	if err != nil {
		return a.replayAgain(c, l.ID, f, err)
	}
	made(c, in)
	a.flash(c, "Replay %s is under way", strconv.Itoa(in.Replay))
	return goTo("/instances/%s", in.ID), nil
}

// replayAgain shows the letter as it is now, with what was typed and why it
// was refused.
func (a *App) replayAgain(c *gin.Context, id int64, f *form, why error) (reply, error) {
	if k := fault.KindOf(why); k != fault.KindInvalid && k != fault.KindConflict {
		return reply{}, why
	}
	l, err := a.letters.Get(c.Request.Context(), actor(c), id)
	if err != nil {
		return reply{}, err
	}
	page, err := a.letterPage(c, l)
	if err != nil {
		return reply{}, err
	}
	page.Reason, page.Errors, page.Refused = f.text("reason"), fault.Fields(why), a.refusal(c, why)
	return show(views.Letter(page)), why
}
