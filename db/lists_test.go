package db_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/sched"
	"ax/db"
	"ax/db/dbtest"
)

// walk reads a list forwards page by page to its end, then back to its
// beginning, and requires that both ways show the same rows once.
func walk[T any](t *testing.T, limit int, list func(sched.PageRequest) (sched.PageOf[T], error), key func(T) string) []string {
	t.Helper()
	var pages [][]string
	var last sched.PageOf[T]
	read := func(p sched.PageRequest) []string {
		var err error
		p.Limit = limit
		last, err = list(p)
		require.NoError(t, err)
		var keys []string
		for _, item := range last.Items {
			keys = append(keys, key(item))
		}
		return keys
	}
	pages = append(pages, read(sched.PageRequest{}))
	require.Empty(t, last.Prev, "nothing is before the first page")
	for last.Next != "" {
		pages = append(pages, read(sched.PageRequest{After: last.Next}))
		require.NotEmpty(t, last.Prev)
	}
	for i := len(pages) - 2; i >= 0; i-- {
		require.Equal(t, pages[i], read(sched.PageRequest{Before: last.Prev}))
		require.NotEmpty(t, last.Next)
	}
	require.Empty(t, last.Prev, "back at the beginning")
	return slices.Concat(pages...)
}

func TestListsArePagedInBothDirections(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		team := dbtest.MakeTeam(t, d)
		var codes, ids, letters []string
		for i := range 7 {
			task := dbtest.MakeTask(t, d, dbtest.Of(team), dbtest.Code(fmt.Sprintf("t%d", 7-i)))
			codes = append(codes, task.Code)
			l, in := dbtest.MakeLetter(t, d, task, dbtest.Due(later(float64(i))))
			ids, letters = append(ids, in.ID), append(letters, fmt.Sprint(l.ID))
		}
		slices.Sort(codes)
		slices.Reverse(ids)
		slices.Reverse(letters)
		for _, limit := range []int{1, 2, 3, 6, 7, 8} {
			require.Equal(t, codes, walk(t, limit, func(p sched.PageRequest) (sched.PageOf[sched.Task], error) {
				return d.Tasks(t.Context(), sched.TaskFilter{Scope: all}, p)
			}, func(task sched.Task) string { return task.Code }), "by code, %d a page", limit)
			require.Equal(t, ids, walk(t, limit, func(p sched.PageRequest) (sched.PageOf[sched.Instance], error) {
				return d.Instances(t.Context(), sched.InstanceFilter{Scope: all}, p)
			}, func(in sched.Instance) string { return in.ID }), "newest first, %d a page", limit)
			require.Equal(t, letters, walk(t, limit, func(p sched.PageRequest) (sched.PageOf[sched.Letter], error) {
				return d.Letters(t.Context(), sched.LetterFilter{Scope: all}, p)
			}, func(l sched.Letter) string { return fmt.Sprint(l.ID) }), "newest first, %d a page", limit)
		}
	})
}

func TestAPageIsBounded(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task := dbtest.MakeTask(t, d)
		for i := range 210 {
			dbtest.MakeInstance(t, d, task, dbtest.Due(later(float64(i))))
		}
		for limit, want := range map[int]int{0: 50, -1: 50, 60: 60, 100_000: 200} {
			page, err := d.Instances(t.Context(), sched.InstanceFilter{Scope: all}, sched.PageRequest{Limit: limit})
			require.NoError(t, err)
			require.Len(t, page.Items, want)
		}
	})
}

// Every list is scoped by team; nobody's scope finds nothing.
func TestListsShowTheScopeOnly(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		teams := []access.Team{dbtest.MakeTeam(t, d), dbtest.MakeTeam(t, d), dbtest.MakeTeam(t, d)}
		for _, team := range teams {
			dbtest.MakeLetter(t, d, dbtest.MakeTask(t, d, dbtest.Of(team)))
		}
		for name, c := range map[string]struct {
			scope access.Scope
			want  []int64
		}{
			"all":        {all, []int64{teams[0].ID, teams[1].ID, teams[2].ID}},
			"one team":   {access.Scope{Teams: []int64{teams[1].ID}}, []int64{teams[1].ID}},
			"two teams":  {access.Scope{Teams: []int64{teams[0].ID, teams[2].ID}}, []int64{teams[0].ID, teams[2].ID}},
			"a stranger": {access.Scope{Teams: []int64{999}}, nil},
			"nobody":     {access.Scope{}, nil},
		} {
			var tasks, instances, letters []int64
			a, err := d.Tasks(t.Context(), sched.TaskFilter{Scope: c.scope}, sched.PageRequest{})
			require.NoError(t, err)
			for _, x := range a.Items {
				tasks = append(tasks, x.TeamID)
			}
			b, err := d.Instances(t.Context(), sched.InstanceFilter{Scope: c.scope}, sched.PageRequest{})
			require.NoError(t, err)
			for _, x := range b.Items {
				instances = append(instances, x.TeamID)
			}
			l, err := d.Letters(t.Context(), sched.LetterFilter{Scope: c.scope}, sched.PageRequest{})
			require.NoError(t, err)
			for _, x := range l.Items {
				letters = append(letters, x.TeamID)
			}
			require.ElementsMatch(t, c.want, tasks, name)
			require.ElementsMatch(t, c.want, instances, name)
			require.ElementsMatch(t, c.want, letters, name)
		}
	})
}

// PAGE-03: what people search for is taken literally.
func TestPAGE03SearchesAreLiteral(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		team := dbtest.MakeTeam(t, d)
		names := []string{`100%_`, `100xx`, `a\b`, `a_b`, `axb`, `50%`, `wow!`, `it's "q"`, `对账 🧾`, `ÉTÉ`}
		var one sched.Task
		for i, n := range names {
			one = dbtest.MakeTask(t, d, dbtest.Of(team), dbtest.Code(fmt.Sprintf("c.%d_x", i)), func(task *sched.Task) {
				task.Name, task.Tags = n, []string{strings.ReplaceAll(n, " ", "")}
			})
		}
		for text, want := range map[string][]string{
			`100%_`: {`100%_`}, `\`: {`a\b`}, `_`: names, `a_b`: {`a_b`}, `%`: {`100%_`, `50%`}, `!`: {`wow!`}, `'`: {`it's "q"`}, `"`: {`it's "q"`},
			`🧾`: {`对账 🧾`}, `对账`: {`对账 🧾`}, `É`: {`ÉTÉ`}, `c.1_`: {`100xx`}, `c.1%`: nil, `C.1_X`: {`100xx`}, `AXB`: {`axb`}, ``: names, `' OR 1=1 --`: nil,
		} {
			require.ElementsMatch(t, want, taskNames(t, d, sched.TaskFilter{Text: text}), "%q", text)
		}
		for tag, want := range map[string][]string{"a_b": {"a_b"}, "%": nil, "100%_": {"100%_"}, "b": nil, `a\b`: {`a\b`}} {
			require.ElementsMatch(t, want, taskNames(t, d, sched.TaskFilter{Tag: tag}), "tag %q", tag)
		}
		bizIDs := []string{`100%_1`, `100xx1`, `a\b`, `a_b`, `axb`, `A_B`, `!`}
		for _, b := range bizIDs {
			dbtest.MakeLetter(t, d, one, dbtest.Biz(b))
		}
		for begin, want := range map[string][]string{
			`100%_`: {`100%_1`}, `a\`: {`a\b`}, `a_`: {`a_b`}, `_`: nil, `%`: nil, `!`: {`!`}, `b`: nil, `A`: {`A_B`}, `a`: {`a\b`, `a_b`, `axb`}, ``: bizIDs, `对`: nil,
		} {
			page, err := d.Instances(t.Context(), sched.InstanceFilter{Scope: all, BizID: begin}, sched.PageRequest{})
			require.NoError(t, err)
			letters, err := d.Letters(t.Context(), sched.LetterFilter{Scope: all, BizID: begin}, sched.PageRequest{})
			require.NoError(t, err)
			var got, opened []string
			for _, in := range page.Items {
				got = append(got, in.BizID)
			}
			for _, l := range letters.Items {
				opened = append(opened, l.BizID)
			}
			require.ElementsMatch(t, want, got, "biz_id %q", begin)
			require.ElementsMatch(t, want, opened, "letters of biz_id %q", begin)
		}
	})
}

func taskNames(t *testing.T, d *db.DB, f sched.TaskFilter) (names []string) {
	t.Helper()
	f.Scope = all
	page, err := d.Tasks(t.Context(), f, sched.PageRequest{})
	require.NoError(t, err)
	for _, task := range page.Items {
		names = append(names, task.Name)
	}
	return names
}

func TestTasksAreFiltered(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		team := dbtest.MakeTeam(t, d)
		named := func(name string) dbtest.TaskOption { return func(task *sched.Task) { task.Name = name } }
		dbtest.MakeTask(t, d, dbtest.Of(team), named("cron"), dbtest.Cron("* * * * *"), func(task *sched.Task) { task.Group, task.Owner = "orders", "lin" })
		dbtest.MakeTask(t, d, dbtest.Of(team), named("off"), dbtest.Disabled())
		old := dbtest.MakeTask(t, d, dbtest.Of(team), named("old"))
		bad := dbtest.MakeTask(t, d, dbtest.Of(team), named("bad"))
		exec(t, d, "UPDATE tasks SET archived_at=1 WHERE id=?", old.ID)
		exec(t, d, "UPDATE tasks SET plan_error='no zone' WHERE id=?", bad.ID)
		on, off := true, false
		for name, c := range map[string]struct {
			f    sched.TaskFilter
			want []string
		}{
			"no filter: without archived": {sched.TaskFilter{}, []string{"cron", "off", "bad"}},
			"archived":                    {sched.TaskFilter{Archived: true}, []string{"old"}},
			"enabled":                     {sched.TaskFilter{Enabled: &on}, []string{"cron", "bad"}},
			"disabled":                    {sched.TaskFilter{Enabled: &off}, []string{"off"}},
			"a kind":                      {sched.TaskFilter{Kind: sched.KindCron}, []string{"cron"}},
			"a group":                     {sched.TaskFilter{Group: "orders"}, []string{"cron"}},
			"an owner":                    {sched.TaskFilter{Owner: "lin"}, []string{"cron"}},
			"troubled":                    {sched.TaskFilter{Troubled: true}, []string{"bad"}},
			"two at once":                 {sched.TaskFilter{Group: "orders", Enabled: &off}, nil},
		} {
			require.ElementsMatch(t, c.want, taskNames(t, d, c.f), name)
		}
	})
}

func TestInstancesAreFiltered(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		a, b, node := dbtest.MakeTask(t, d), dbtest.MakeTask(t, d), dbtest.MakeNode(t, d)
		x := dbtest.MakeInstance(t, d, a, dbtest.Due(t0))
		y := dbtest.MakeInstance(t, d, a, dbtest.Due(later(60)))
		z := running(t, d, b, node, dbtest.Due(later(-60))).Instance
		s := dbtest.MakeInstance(t, d, b, dbtest.Slot(later(120)))
		for name, c := range map[string]struct {
			f    sched.InstanceFilter
			want []string
		}{
			"no filter, newest first": {sched.InstanceFilter{}, []string{s.ID, y.ID, x.ID, z.ID}},
			"a task":                  {sched.InstanceFilter{TaskID: a.ID}, []string{y.ID, x.ID}},
			"a state":                 {sched.InstanceFilter{States: []sched.State{sched.Running}}, []string{z.ID}},
			"a group of states":       {sched.InstanceFilter{States: sched.GroupWaiting.States()}, []string{s.ID, y.ID, x.ID}},
			"a node":                  {sched.InstanceFilter{NodeID: node.ID}, []string{z.ID}},
			"an origin":               {sched.InstanceFilter{Origin: sched.FromSchedule}, []string{s.ID}},
			"since":                   {sched.InstanceFilter{Since: t0}, []string{s.ID, y.ID, x.ID}},
			"until":                   {sched.InstanceFilter{Until: later(60)}, []string{x.ID, z.ID}},
			"since and until":         {sched.InstanceFilter{Since: t0, Until: later(60)}, []string{x.ID}},
		} {
			c.f.Scope = all
			page, err := d.Instances(t.Context(), c.f, sched.PageRequest{})
			require.NoError(t, err)
			var got []string
			for _, in := range page.Items {
				got = append(got, in.ID)
			}
			require.Equal(t, c.want, got, name)
		}
	})
}

func TestLettersAreFiltered(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		lin := newHouse(t, d).person(t, "lin", true)
		task := dbtest.MakeTask(t, d)
		a, _ := dbtest.MakeLetter(t, d, task)
		b, _ := dbtest.MakeLetter(t, d, dbtest.MakeTask(t, d), dbtest.Due(later(60)))
		editLetter(t, d, a.ID, func(l *sched.Letter) { l.Status, l.AssigneeID = sched.LetterTaken, lin.ID })
		for name, c := range map[string]struct {
			f    sched.LetterFilter
			want []int64
		}{
			"no filter":   {sched.LetterFilter{}, []int64{b.ID, a.ID}},
			"a task":      {sched.LetterFilter{TaskID: task.ID}, []int64{a.ID}},
			"a status":    {sched.LetterFilter{Statuses: []sched.LetterStatus{sched.LetterOpen}}, []int64{b.ID}},
			"statuses":    {sched.LetterFilter{Statuses: []sched.LetterStatus{sched.LetterOpen, sched.LetterTaken}}, []int64{b.ID, a.ID}},
			"assignee":    {sched.LetterFilter{Assignee: lin.ID}, []int64{a.ID}},
			"since":       {sched.LetterFilter{Since: later(30)}, []int64{b.ID}},
			"two at odds": {sched.LetterFilter{Since: later(30), Assignee: lin.ID}, nil},
		} {
			c.f.Scope = all
			page, err := d.Letters(t.Context(), c.f, sched.PageRequest{})
			require.NoError(t, err)
			var got []int64
			for _, l := range page.Items {
				got = append(got, l.ID)
				if l.ID == a.ID {
					require.Equal(t, "lin", l.Assignee)
				}
			}
			require.Equal(t, c.want, got, name)
		}
	})
}

func TestManyTasksAreReadByID(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		a, b := dbtest.MakeTask(t, d), dbtest.MakeTask(t, d)
		got, err := d.TasksByID(t.Context(), []int64{b.ID, a.ID, 999})
		require.NoError(t, err)
		require.Equal(t, map[int64]sched.Task{a.ID: a, b.ID: b}, got)
		got, err = d.TasksByID(t.Context(), nil)
		require.NoError(t, err)
		require.Empty(t, got)
	})
}

func TestAnInstanceIsShownWithItsStory(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task := dbtest.MakeTask(t, d, dbtest.Every(time.Minute))
		l, in := dbtest.MakeLetter(t, d, task)
		v := look(t, d, in.ID)
		require.Equal(t, task.Code, v.Task.Code)
		require.Len(t, v.Attempts, 1)
		require.Equal(t, l.ID, v.Letter)
		_, err := d.InstanceView(t.Context(), dbtest.ID())
		require.Error(t, err)
	})
}
