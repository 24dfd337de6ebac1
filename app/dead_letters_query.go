package app

import (
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"ax/app/sched"
	"ax/views"
)

func letterQuery(c *gin.Context) views.LetterQuery {
	q := func(name string) string { return clip(strings.TrimSpace(c.Query(name)), maxFilterText) }
	return views.LetterQuery{
		Status: q("status"), Task: q("task"), BizID: q("biz"), Assignee: q("assignee"), Mine: q("mine") == "1" || q("mine") == "true",
		After: q("after"), Before: q("before"),
	}
}

// readLetterQuery makes the filter of the query; none: it names something
// that isn't there. The error is Invalid, its texts are for the whole form.
func (a *App) readLetterQuery(c *gin.Context, q views.LetterQuery) (f sched.LetterFilter, none bool, err error) {
	bad := &form{}
	f = sched.LetterFilter{Scope: scopeOf(c), BizID: q.BizID, Statuses: q.Statuses()}
	for _, s := range f.Statuses {
		if !s.Valid() {
			bad.refuse("", "There is no status %q", string(s))
		}
	}
	if q.BizID != "" && !isCode(q.BizID) {
		bad.refuse("", "A biz_id has printable ASCII without blanks only")
	}
	if (q.After != "" && !isNumber(q.After)) || (q.Before != "" && !isNumber(q.Before)) {
		bad.refuse("", "This place in the list can’t be read")
	}
	if err := bad.err(); err != nil {
		return f, false, err
	}
	if f.TaskID, none, err = a.taskFilter(c, q.Task); err != nil || none {
		return f, none, err
	}
	switch {
	case q.Mine:
		f.Assignee = actor(c).ID
	case q.Assignee != "":
		f.Assignee, err = a.memberID(c, q.Assignee)
		none = f.Assignee == 0
	}
	return f, none, err
}

// memberID finds a person by login in the teams that the viewer looks at; 0
// when there is none.
func (a *App) memberID(c *gin.Context, login string) (int64, error) {
	scope := scopeOf(c)
	for _, team := range teamsOf(c) {
		if !scope.All && !slices.Contains(scope.Teams, team.ID) {
			continue
		}
		members, err := a.teams.Members(c.Request.Context(), actor(c), team.ID)
		if err != nil {
			return 0, err
		}
		for _, m := range members {
			if m.Person.Login == login {
				return m.Person.ID, nil
			}
		}
	}
	return 0, nil
}

// typedLetters goes to the list that the words in its box ask for.
func (a *App) typedLetters(c *gin.Context, q views.LetterQuery, typed string) (reply, error) {
	q.After, q.Before = "", ""
	for _, word := range strings.Fields(clip(typed, 4*maxFilterText)) {
		switch key, value, _ := strings.Cut(word, ":"); key {
		case "task":
			q.Task = value
		case "biz", "biz_id":
			q.BizID = value
		case "with", "assignee":
			q.Assignee, q.Mine = strings.ToLower(value), false
		case "status":
			q.Status = value
		default:
			_, none, err := a.taskFilter(c, word)
			if err != nil {
				return reply{}, err
			}
			if none {
				q.BizID = word
			} else {
				q.Task = word
			}
		}
	}
	return reply{to: q.Path()}, nil
}
