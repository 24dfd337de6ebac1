package sched

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/fault"
)

// registry is the ledger of executors in memory.
type registry struct {
	executorStore
	tokens  map[int64]access.APIToken
	rows    map[string]ExecutorInfo
	entries []access.Entry
	scopes  []access.Scope
	full    bool
}

func (r *registry) Token(_ context.Context, id int64) (access.APIToken, error) {
	t, ok := r.tokens[id]
	if !ok {
		return t, access.NoObject()
	}
	return t, nil
}

func (r *registry) PutExecutor(_ context.Context, e ExecutorInfo, _ int, entry access.Entry) error {
	if r.full {
		return fault.Conflict("full")
	}
	r.rows[e.ID], r.entries = e, append(r.entries, entry)
	return nil
}

func (r *registry) Executor(_ context.Context, id string) (ExecutorInfo, error) {
	e, ok := r.rows[id]
	if !ok {
		return e, access.NoObject()
	}
	return e, nil
}

func (r *registry) BeatExecutor(_ context.Context, id string, running int, now time.Time) (bool, error) {
	e, ok := r.rows[id]
	if !ok || !e.Online(now) {
		return false, nil
	}
	e.Running, e.BeatAt = running, now
	r.rows[id] = e
	return true, nil
}

func (r *registry) CloseExecutor(_ context.Context, id string, now time.Time, entry access.Entry) error {
	e := r.rows[id]
	e.ClosedAt = now
	r.rows[id], r.entries = e, append(r.entries, entry)
	return nil
}

func (r *registry) ExecutorsOf(_ context.Context, s access.Scope) ([]ExecutorInfo, error) {
	r.scopes = append(r.scopes, s)
	return nil, nil
}

// service is a token of the shop with a role, bound to names.
func service(r *registry, id int64, team int64, role access.Role, names ...string) access.Actor {
	r.tokens[id] = access.APIToken{ID: id, TeamID: team, Name: "svc", Role: role, Executors: names}
	return access.Actor{Kind: access.Token, ID: id, Name: "svc", Roles: map[int64]access.Role{team: role}}
}

func newRegistry() (*registry, *Executors, *time.Time) {
	r, now := &registry{tokens: map[int64]access.APIToken{}, rows: map[string]ExecutorInfo{}}, noon()
	clock, n := NewClock(func() time.Time { return now }), 0
	return r, NewExecutors(r, rules{newBook()}, clock, func() string { n++; return fmt.Sprintf("e%d", n) }), &now
}

func billing() ExecutorSpec {
	return ExecutorSpec{Name: "billing", Address: "http://10.1.0.7:8080/svc/", TaskTypes: []TaskType{{Type: "close-day", Description: "关账"}}, Version: "3.8.0"}
}

func TestAServiceRegistersForTheNamesOfItsToken(t *testing.T) {
	r, s, _ := newRegistry()
	by := service(r, 1, shop, access.Operator, "billing")
	got, err := s.Register(t.Context(), by, billing())
	require.NoError(t, err)
	require.Equal(t, ExecutorInfo{
		ID: "e1", TeamID: shop, Name: "billing", Address: "http://10.1.0.7:8080/svc", Types: []TaskType{{"close-day", "关账"}}, Weight: 100,
		Version: "3.8.0", TokenID: 1, Token: "svc", RegisteredAt: noon(), BeatAt: noon(),
	}, got)
	require.Equal(t, got, r.rows["e1"])
	require.Equal(t, "http://10.1.0.7:8080/svc/ax/close-day", got.CallURL("close-day"))
	require.Equal(t, "executor.register", r.entries[0].Action)
	require.EqualValues(t, shop, r.entries[0].TeamID)
}

func TestNobodyElseRegisters(t *testing.T) {
	for name, c := range map[string]struct {
		by   func(r *registry) access.Actor
		want fault.Kind
	}{
		"a token of another name": {func(r *registry) access.Actor { return service(r, 1, shop, access.Owner, "mail") }, fault.KindDenied},
		"a token of no name":      {func(r *registry) access.Actor { return service(r, 1, shop, access.Owner) }, fault.KindDenied},
		"a viewer's token":        {func(r *registry) access.Actor { return service(r, 1, shop, access.Viewer, "billing") }, fault.KindDenied},
		"a person":                {func(*registry) access.Actor { return access.Actor{Kind: access.User, ID: 1, Admin: true} }, fault.KindDenied},
	} {
		r, s, _ := newRegistry()
		_, err := s.Register(t.Context(), c.by(r), billing())
		require.Equal(t, c.want, fault.KindOf(err), name)
		require.Empty(t, r.rows, name)
	}
}

func TestBadRegistrationsAreRefusedFieldByField(t *testing.T) {
	for name, c := range map[string]struct {
		change func(w *ExecutorSpec)
		field  string
	}{
		"a name with a slash":        {func(w *ExecutorSpec) { w.Name = "a/b" }, "name"},
		"no scheme":                  {func(w *ExecutorSpec) { w.Address = "10.1.0.7:8080" }, "address"},
		"another scheme":             {func(w *ExecutorSpec) { w.Address = "ftp://10.1.0.7" }, "address"},
		"a password":                 {func(w *ExecutorSpec) { w.Address = "http://a:b@10.1.0.7" }, "address"},
		"a query":                    {func(w *ExecutorSpec) { w.Address = "http://10.1.0.7/?a=b" }, "address"},
		"a line end":                 {func(w *ExecutorSpec) { w.Address = "http://10.1.0.7/\r\nX: y" }, "address"},
		"a closed range":             {func(w *ExecutorSpec) { w.Address = "http://10.2.0.7" }, "address"},
		"a long address":             {func(w *ExecutorSpec) { w.Address = "http://10.1.0.7/" + strings.Repeat("a", 300) }, "address"},
		"a weight of 101":            {func(w *ExecutorSpec) { w.Weight = 101 }, "weight"},
		"a weight below nothing":     {func(w *ExecutorSpec) { w.Weight = -1 }, "weight"},
		"no types":                   {func(w *ExecutorSpec) { w.TaskTypes = nil }, "task_types"},
		"a type twice":               {func(w *ExecutorSpec) { w.TaskTypes = append(w.TaskTypes, w.TaskTypes...) }, "task_types"},
		"a type that leads upwards":  {func(w *ExecutorSpec) { w.TaskTypes[0].Type = "../admin" }, "task_types"},
		"51 types":                   {func(w *ExecutorSpec) { w.TaskTypes = make([]TaskType, 51) }, "task_types"},
		"a description of two lines": {func(w *ExecutorSpec) { w.TaskTypes[0].Description = "a\nb" }, "task_types"},
		"a long version":             {func(w *ExecutorSpec) { w.Version = strings.Repeat("9", 51) }, "version"},
	} {
		r, s, _ := newRegistry()
		w := billing()
		c.change(&w)
		_, err := s.Register(t.Context(), service(r, 1, shop, access.Operator, "billing", "a/b"), w)
		require.Equal(t, fault.KindInvalid, fault.KindOf(err), name)
		for _, f := range fault.Fields(err) {
			require.Equal(t, c.field, f.Name, name)
		}
	}
}

func TestABeatTellsWhoIsOutToRegisterAgain(t *testing.T) {
	r, s, now := newRegistry()
	by := service(r, 1, shop, access.Operator, "billing")
	e, err := s.Register(t.Context(), by, billing())
	require.NoError(t, err)
	*now = noon().Add(10 * time.Second)
	require.NoError(t, s.Beat(t.Context(), by, e.ID, 3))
	require.Equal(t, 3, r.rows[e.ID].Running)
	require.Equal(t, fault.KindInvalid, fault.KindOf(s.Beat(t.Context(), by, e.ID, -1)))
	*now = noon().Add(25 * time.Second)
	require.Equal(t, fault.KindGone, fault.KindOf(s.Beat(t.Context(), by, e.ID, 3)))
	require.Equal(t, fault.KindNotFound, fault.KindOf(s.Beat(t.Context(), by, "e9", 3)))
}

func TestOnlyATokenOfTheNameSpeaksForAnExecutor(t *testing.T) {
	r, s, _ := newRegistry()
	by := service(r, 1, shop, access.Operator, "billing")
	e, err := s.Register(t.Context(), by, billing())
	require.NoError(t, err)
	for name, c := range map[string]struct {
		by   access.Actor
		want fault.Kind
	}{
		"another name of the team": {service(r, 2, shop, access.Owner, "mail"), fault.KindDenied},
		"another team":             {service(r, 3, depot, access.Owner, "billing"), fault.KindNotFound},
	} {
		require.Equal(t, c.want, fault.KindOf(s.Beat(t.Context(), c.by, e.ID, 1)), name)
		require.Equal(t, c.want, fault.KindOf(s.Leave(t.Context(), c.by, e.ID)), name)
	}
	require.True(t, r.rows[e.ID].ClosedAt.IsZero())
	require.NoError(t, s.Leave(t.Context(), service(r, 4, shop, access.Operator, "billing"), e.ID), "a new token of the service")
	require.False(t, r.rows[e.ID].Online(noon()))
	require.Equal(t, "executor.leave", r.entries[1].Action)
}

func TestPeopleSeeTheExecutorsOfTheirTeams(t *testing.T) {
	r, s, _ := newRegistry()
	_, err := s.List(t.Context(), as(access.Viewer), access.Scope{Teams: []int64{shop, depot}})
	require.NoError(t, err)
	require.Equal(t, []access.Scope{{Teams: []int64{shop}}}, r.scopes)
	_, err = s.Shards(t.Context(), as(access.Viewer), Instance{TeamID: depot})
	require.Equal(t, fault.KindNotFound, fault.KindOf(err))
}

func TestItIsSaidWhyNobodyCanBeCalled(t *testing.T) {
	now := noon()
	seen := ExecutorInfo{Types: []TaskType{{Type: "close-day"}}, BeatAt: now.Add(-time.Hour)}
	left := ExecutorInfo{Types: seen.Types, BeatAt: now.Add(-time.Minute), ClosedAt: now.Add(-time.Minute)}
	for want, all := range map[string][]ExecutorInfo{
		"no executor of billing is online; none has registered within a day":                                                   nil,
		fmt.Sprintf("no executor of billing is online; last seen %s", now.Add(-time.Minute).Format("2006-01-02 15:04:05 UTC")): {left, seen},
		"no executor of billing that is online offers close-day":                                                               {seen, {BeatAt: now}},
	} {
		require.Equal(t, errors.New(want).Error(), NoneOnline(all, "billing", "close-day", now).Error())
	}
}
