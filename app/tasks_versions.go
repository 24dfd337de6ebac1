package app

import (
	"strconv"

	"github.com/gin-gonic/gin"

	"ax/app/access"
	"ax/app/fault"
	"ax/app/sched"
	"ax/views"
)

// versionOf reads the task and the version that the address names.
func (a *App) versionOf(c *gin.Context) (sched.Task, sched.TaskVersion, error) {
	code := c.Param("code")
	if err := checkCode(code); err != nil {
		return sched.Task{}, sched.TaskVersion{}, err
	}
	n, err := strconv.Atoi(c.Param("version"))
	if err != nil || n <= 0 {
		_, err := a.taskOf(c)
		if err == nil {
			err = access.NoObject()
		}
		return sched.Task{}, sched.TaskVersion{}, err
	}
	return a.tasks.Version(c.Request.Context(), actor(c), code, n)
}

// showTaskVersion shows in what a version differs from the present definition,
// and lets an editor go back to it.
func (a *App) showTaskVersion(c *gin.Context) (reply, error) {
	t, v, err := a.versionOf(c)
	if err != nil {
		return reply{}, err
	}
	return show(views.TaskVersion(a.versionPage(c, t, v))), nil
}

func (a *App) versionPage(c *gin.Context, t sched.Task, v sched.TaskVersion) views.TaskVersionPage {
	return views.TaskVersionPage{
		Task: t, Version: v,
		MayRollBack: actor(c).Can(access.EditTask, t.TeamID) && t.ArchivedAt.IsZero(),
	}
}

// rollBackTask makes the version of the address the definition again.
func (a *App) rollBackTask(c *gin.Context) (reply, error) {
	t, v, err := a.versionOf(c)
	if err != nil {
		return reply{}, err
	}
	if err := actor(c).Check(access.EditTask, t.TeamID); err != nil {
		return reply{}, err
	}
	f, err := a.form(c)
	if err != nil {
		return reply{}, err
	}
	if f.text("note") == "" {
		f.refuse("note", "A reason is needed: the history keeps it")
	}
	read, _ := strconv.Atoi(f.text("read_version"))
	if read <= 0 {
		f.refuse("", "The version that you read is needed, so that nobody's change is overwritten")
	}
	now := t
	if err = f.err(); err == nil {
		now, err = a.tasks.RollBack(c.Request.Context(), actor(c), t.Code, sched.RollBack{To: v.Version, Read: read, Note: f.text("note")})
	}
	if err != nil {
		return a.rollBackAgain(c, f, v, err)
	}
	a.saySaved(c, now, a.say(c, "The definition is that of version %d.", v.Version))
	return goTo("/tasks/%s", t.Code), nil
}

// rollBackAgain shows the question with what is wrong. The task is read anew:
// who changed it meanwhile, and in what it differs now, is seen at once.
func (a *App) rollBackAgain(c *gin.Context, f *form, v sched.TaskVersion, why error) (reply, error) {
	if k := fault.KindOf(why); k != fault.KindInvalid && k != fault.KindConflict {
		return reply{}, why
	}
	t, err := a.taskOf(c)
	if err != nil {
		return reply{}, err
	}
	page := a.versionPage(c, t, v)
	page.Note, page.Errors = f.text("note"), errorsOf(why)
	return show(views.TaskVersion(page)), why
}
