package app

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"ax/app/fault"
	"ax/app/sched"
	"ax/views"
)

// instanceAsk is what the list of instances is asked for.
type instanceAsk struct {
	filter sched.InstanceFilter
	none   bool // the filters name something that isn't there: no rows
}

// instanceQuery takes the filters from the address as they stand there.
func instanceQuery(c *gin.Context) views.InstanceQuery {
	q := func(name string) string { return clip(strings.TrimSpace(c.Query(name)), maxFilterText) }
	return views.InstanceQuery{
		State: sched.State(q("state")), Group: sched.Group(q("group")), Task: q("task"), BizID: q("biz"), Node: q("node"),
		Origin: sched.Origin(q("origin")), Since: q("since"), Until: q("until"), After: q("after"), Before: q("before"),
	}
}

// readInstanceQuery makes the filter of the query. The error is Invalid, its
// texts are for the whole form.
func (a *App) readInstanceQuery(c *gin.Context, q views.InstanceQuery) (instanceAsk, error) {
	f := &form{zone: a.zoneOf(c)}
	ask := instanceAsk{filter: sched.InstanceFilter{Scope: scopeOf(c), BizID: q.BizID, NodeID: q.Node, Origin: q.Origin}}
	ask.filter.States = f.statesOf(q)
	if q.BizID != "" && !isCode(q.BizID) {
		f.refuse("", "A biz_id has printable ASCII without blanks only")
	}
	if q.Node != "" && !isID(q.Node) {
		f.refuse("", "There is no node %q", q.Node)
	}
	if q.Origin != "" && !slices.Contains([]sched.Origin{sched.FromSchedule, sched.FromAPI, sched.FromPerson, sched.FromReplay}, q.Origin) {
		f.refuse("", "There is no origin %q: it is schedule, api, person or replay", string(q.Origin))
	}
	if (q.After != "" && !isID(q.After)) || (q.Before != "" && !isID(q.Before)) {
		f.refuse("", "This place in the list can’t be read")
	}
	ask.filter.Since = f.begin(q.Period(), a.now())
	ask.filter.Until = f.readMoment(q.Until)
	if err := f.err(); err != nil {
		return ask, err
	}
	var err error
	ask.filter.TaskID, ask.none, err = a.taskFilter(c, q.Task)
	return ask, err
}

// statesOf gives those that the query asks for; nil: all.
func (f *form) statesOf(q views.InstanceQuery) []sched.State {
	switch {
	case q.State != "" && !q.State.Valid():
		f.refuse("", "There is no state %q", string(q.State))
	case q.State != "":
		return []sched.State{q.State}
	case q.Group != "" && len(q.Group.States()) == 0:
		f.refuse("", "There is no state %q", string(q.Group))
	}
	return q.Group.States()
}

// taskFilter finds the task that a list is narrowed to. One that isn't there,
// or belongs to others, has no rows.
func (a *App) taskFilter(c *gin.Context, code string) (id int64, none bool, err error) {
	switch {
	case code == "":
		return 0, false, nil
	case !isCode(code):
		return 0, true, nil
	}
	t, err := a.tasks.Get(c.Request.Context(), actor(c), code)
	if fault.KindOf(err) == fault.KindNotFound && err != nil {
		return 0, true, nil
	}
	return t.ID, false, err
}

// period is how a length of time is written in an address: 90m, 24h, 7d.
var period = regexp.MustCompile(`^([1-9][0-9]{0,3})([mhd])$`)

// begin gives the moment at which a period begins.
func (f *form) begin(p string, now time.Time) time.Time {
	if p == views.PeriodAll {
		return time.Time{}
	}
	m := period.FindStringSubmatch(p)
	if m == nil {
		return f.readMoment(p)
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		return f.readMoment(p)
	}
	return now.Add(-time.Duration(n) * map[string]time.Duration{"m": time.Minute, "h": time.Hour, "d": 24 * time.Hour}[m[2]])
}

// readMoment reads a date, with or without a time, in the person's zone.
func (f *form) readMoment(typed string) time.Time {
	if typed == "" {
		return time.Time{}
	}
	if len(typed) == len("2006-01-02") {
		typed += "T00:00"
	}
	one := &form{values: map[string][]string{"": {typed}}, zone: f.zone}
	at := one.time("")
	f.bad = append(f.bad, one.bad...)
	if epoch := time.Unix(0, 0).UTC(); len(one.bad) == 0 && at.Before(epoch) {
		return epoch // ids begin there
	}
	return at
}

// typedInstances goes to the list that the words in its box ask for: tokens
// such as task:code, an instance's id, a task's code, or how a biz_id begins.
func (a *App) typedInstances(c *gin.Context, typed string) (reply, error) {
	q := instanceQuery(c)
	q.After, q.Before = "", ""
	for _, word := range strings.Fields(clip(typed, 4*maxFilterText)) {
		if isID(word) {
			if _, err := a.instances.Get(c.Request.Context(), actor(c), word); err == nil {
				return goTo("/instances/%s", word), nil
			}
		}
		if err := a.typeInstance(c, &q, word); err != nil {
			return reply{}, err
		}
	}
	return reply{to: q.Path()}, nil
}

func (a *App) typeInstance(c *gin.Context, q *views.InstanceQuery, word string) error {
	key, value, _ := strings.Cut(word, ":")
	switch key {
	case "task":
		q.Task = value
	case "biz", "biz_id":
		q.BizID = value
	case "origin":
		q.Origin = sched.Origin(value)
	case "since":
		q.Since = value
	case "until":
		q.Until = value
	case "state":
		q.State, q.Group = sched.State(value), ""
	case "group":
		q.State, q.Group = "", sched.Group(value)
	case "node":
		return a.typeNode(c.Request.Context(), q, value)
	default:
		if _, none, err := a.taskFilter(c, word); err != nil || !none {
			q.Task = word
			return err
		}
		q.BizID = word
	}
	return nil
}

// typeNode finds the node that somebody named: by id, host, or host:pid. Of
// several on a host the newest is meant.
func (a *App) typeNode(ctx context.Context, q *views.InstanceQuery, name string) error {
	q.Node = name
	if name == "" || isID(name) {
		return nil
	}
	list, err := a.nodes.Nodes(ctx, a.now().Add(-30*24*time.Hour))
	if err != nil {
		return err
	}
	var newest sched.NodeInfo
	for _, n := range list {
		if (n.Host == name || n.Host+":"+strconv.Itoa(n.PID) == name) && n.StartedAt.After(newest.StartedAt) {
			newest = n
		}
	}
	q.Node = cmp.Or(newest.ID, name)
	return nil
}
