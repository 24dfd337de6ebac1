package views

import (
	"context"
	"strconv"

	"ax/app/fault"
	"ax/app/sched"
	"ax/views/ui"
)

// TaskVersionPage compares a version of a task with what is in force, and asks
// before going back to it.
type TaskVersionPage struct {
	Task        sched.Task // as it is now
	Version     sched.TaskVersion
	MayRollBack bool
	Note        string // as it was typed
	Errors      []fault.FieldError
}

func taskVersionURL(code string, version int) string {
	return taskURL(code) + "/versions/" + strconv.Itoa(version)
}

func (p TaskVersionPage) title(ctx context.Context) string {
	return t(ctx, "Version %d of %s", p.Version.Version, p.Task.Name)
}

func (p TaskVersionPage) crumbs(ctx context.Context) []ui.Crumb {
	return []ui.Crumb{
		{Label: t(ctx, "Tasks"), Href: "/tasks"},
		{Label: p.Task.Code, Href: taskURL(p.Task.Code), Mono: true},
		{Label: t(ctx, "version %d", p.Version.Version)},
	}
}

// present tells that this is the definition in force.
func (p TaskVersionPage) present() bool { return p.Version.Version == p.Task.Version }

// diff is what a roll-back would change, from what is in force to the version.
func (p TaskVersionPage) diff(ctx context.Context) []FieldDiff {
	v := viewer(ctx)
	return taskDiff(v.TaskValues(p.Task, ""), v.TaskValues(p.Version.Of(p.Task), ""))
}

// said are the errors that belong to no field of the question: also those of
// fields that the version would bring back.
func (p TaskVersionPage) said(ctx context.Context) []string {
	var out []string
	for _, e := range p.Errors {
		switch e.Name {
		case "note":
		case "", "version":
			out = append(out, text(ctx, e.Text))
		default:
			out = append(out, t(ctx, "%s: %s|field", fieldLabel(ctx, e.Name), text(ctx, e.Text)))
		}
	}
	return out
}

func (p TaskPage) self() string {
	if p.AllVersions {
		return taskURL(p.Task.Code) + "?versions=all"
	}
	return taskURL(p.Task.Code)
}

// olderVersions tells that there are versions before those listed, which the
// page lists when it is asked to.
func (p TaskPage) olderVersions() bool {
	n := len(p.Report.Versions)
	return !p.AllVersions && n > 0 && p.Report.Versions[n-1].Version > 1
}
