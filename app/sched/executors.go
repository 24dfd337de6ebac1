package sched

import (
	"context"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"ax/app/access"
	"ax/app/fault"
)

// Bounds of what an executor says of itself.
const (
	// MaxExecutors is how many addresses a team may have registered: each call
	// looks at those of its name.
	MaxExecutors   = 500
	maxTypes       = 50
	maxTypeWords   = 200
	maxAddress     = 300
	maxVersion     = 50
	maxRunningSaid = 1_000_000
)

// ExecutorSpec is an executor as it registers itself.
type ExecutorSpec struct {
	Name      string     `json:"name" doc:"Of the service; one that the token is bound to" example:"billing"`
	Address   string     `json:"address" doc:"Base address that ax calls: http or https, host, and a path if need be" example:"http://10.0.3.17:8080"`
	TaskTypes []TaskType `json:"task_types" doc:"What it does"`
	Weight    int        `json:"weight,omitempty" doc:"1 to 100: its share of the calls; left out: 100"`
	Version   string     `json:"version,omitempty" doc:"Of the service, for people" example:"3.8.0"`
	Cancel    bool       `json:"cancel,omitempty" doc:"It takes POST …/ax/<type>/cancel: the word that work it has is not wanted any more"`
}

// Resolve checks what was said and gives the executor that it describes.
// Faults: Invalid with all broken fields.
func (w ExecutorSpec) Resolve() (ExecutorInfo, error) {
	var bad problems
	e := ExecutorInfo{Name: w.Name, Address: strings.TrimRight(w.Address, "/"), Weight: w.Weight, Version: strings.TrimSpace(w.Version), Cancel: w.Cancel}
	bad.word("name", w.Name)
	bad.base("address", w.Address)
	bad.text("version", e.Version, maxVersion)
	if e.Weight == 0 {
		e.Weight = ExecutorWeight
	}
	if e.Weight < 1 || e.Weight > 100 {
		bad.add("weight", "Between 1 and 100; this is %d", w.Weight)
	}
	if n := len(w.TaskTypes); n == 0 || n > maxTypes {
		bad.add("task_types", "Between 1 and %d types of work; these are %d", maxTypes, n)
	}
	for _, t := range w.TaskTypes {
		bad.word("task_types", t.Type)
		bad.text("task_types", t.Description, maxTypeWords)
		if e.Offers(t.Type) {
			bad.add("task_types", "The type %q stands here twice", t.Type)
		}
		e.Types = append(e.Types, TaskType{t.Type, strings.TrimSpace(t.Description)})
	}
	return e, fault.Invalid(bad...)
}

// base is an address that paths are added to.
func (p *problems) base(name, raw string) {
	p.httpURL(name, raw)
	u, err := url.Parse(raw)
	switch {
	case err != nil:
	case len(raw) > maxAddress:
		p.add(name, "At most %d characters; this has %d", maxAddress, len(raw))
	case u.RawQuery != "" || u.ForceQuery:
		p.add(name, "Paths are added to this address: leave out the part after ?")
	}
}

// executorStore keeps executors. Each method is one transaction.
type executorStore interface {
	// Token gives the names that it may register as well.
	Token(ctx context.Context, id int64) (access.APIToken, error)
	// PutExecutor adds the row, or replaces that of the same team, name and
	// address. Conflict when the team has most of them already.
	PutExecutor(ctx context.Context, e ExecutorInfo, most int, entry access.Entry) error
	// Executor is NotFound when there is none of the id.
	Executor(ctx context.Context, id string) (ExecutorInfo, error)
	// BeatExecutor notes a sign of life; false: it is out by now.
	BeatExecutor(ctx context.Context, id string, running int, now time.Time) (bool, error)
	// CloseExecutor takes it out of the rotation; closed ones stay as they are.
	CloseExecutor(ctx context.Context, id string, now time.Time, entry access.Entry) error
	ExecutorsOf(ctx context.Context, s access.Scope) ([]ExecutorInfo, error)
	ExecutorTasks(ctx context.Context, s access.Scope) ([]ExecutorTask, error)
	Shards(ctx context.Context, instanceID string) ([]ShardRun, error)
}

// ExecutorTask is a task that names an executor.
type ExecutorTask struct {
	ID      int64
	TeamID  int64
	Code    string
	Name    string
	Enabled bool
	// Executor and Type are what its target names.
	Executor string
	Type     string
}

// Executors are the use cases of business services that register themselves.
type Executors struct {
	store   executorStore
	targets targets
	clock   *Clock
	newID   func() string
}

// NewExecutors makes the use cases.
func NewExecutors(store executorStore, to targets, clock *Clock, newID func() string) *Executors {
	return &Executors{store: store, targets: to, clock: clock, newID: newID}
}

// Register takes a service into the rotation, at once. Whoever registers a name
// and address again takes the old row's place: its id is over. Tokens only, and
// for the names that they are bound to. Faults: Denied, Invalid, Conflict.
func (s *Executors) Register(ctx context.Context, by access.Actor, w ExecutorSpec) (ExecutorInfo, error) {
	token, err := s.token(ctx, by)
	if err != nil {
		return ExecutorInfo{}, err
	}
	e, err := w.Resolve()
	if err != nil {
		return ExecutorInfo{}, err
	}
	if !token.MayRegister(e.Name) {
		return ExecutorInfo{}, notBound(e.Name)
	}
	if err := s.reachable(ctx, token.TeamID, e.Address); err != nil {
		return ExecutorInfo{}, err
	}
	now := s.clock.Now()
	e.ID, e.TeamID, e.TokenID, e.Token, e.RegisteredAt, e.BeatAt = s.newID(), token.TeamID, token.ID, token.Name, now, now
	err = s.store.PutExecutor(ctx, e, MaxExecutors, access.Entry{
		At: now, Actor: by, Action: "executor.register", Object: e.Object(), TeamID: e.TeamID,
		Changes: []access.Change{{Field: "task_types", New: e.typeNames()}, {Field: "weight", New: fmt.Sprint(e.Weight)}, {Field: "version", New: e.Version}},
	})
	return e, err
}

func (e ExecutorInfo) typeNames() string {
	names := make([]string, len(e.Types))
	for i, t := range e.Types {
		names[i] = t.Type
	}
	return strings.Join(names, ", ")
}

// notBound is said of a name that the token may not register: so one service
// can't pose as another.
func notBound(name string) error {
	return fault.Denied("This token is not bound to the executor %s. An owner makes one that is on the team\u2019s page.", name)
}

// token is the caller's, with the names that it is bound to.
func (s *Executors) token(ctx context.Context, by access.Actor) (access.APIToken, error) {
	if by.Kind != access.Token {
		return access.APIToken{}, fault.Denied("Executors register with a token of theirs")
	}
	t, err := s.store.Token(ctx, by.ID)
	if err != nil {
		return access.APIToken{}, err
	}
	return t, by.Check(access.Register, t.TeamID)
}

// reachable refuses an address that the team may not call. A name is judged
// when it is called, by where it leads then.
func (s *Executors) reachable(ctx context.Context, team int64, address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return nil // Resolve has said it
	}
	addr, err := netip.ParseAddr(u.Hostname())
	if err != nil {
		return nil
	}
	ok, err := s.targets.MayCall(ctx, team, addr)
	if err == nil && !ok {
		err = fault.Invalid(fault.Field("address", "This team may not call %s, which is inside the network. An administrator can open it on the team's page.", addr.String()))
	}
	return err
}

// Beat is a sign of life of a registered executor, with how much it runs.
// Faults: NotFound and Gone (it must register again), Denied, Invalid.
func (s *Executors) Beat(ctx context.Context, by access.Actor, id string, running int) error {
	if _, err := s.own(ctx, by, id); err != nil {
		return err
	}
	if running < 0 || running > maxRunningSaid {
		return fault.Invalid(fault.Field("running", "Between 0 and %d; this is %d", maxRunningSaid, running))
	}
	ok, err := s.store.BeatExecutor(ctx, id, running, s.clock.Now())
	if err == nil && !ok {
		err = fault.Gone("This registration is over: register again")
	}
	return err
}

// Leave takes an executor out of the rotation at once. One that is out already
// stays so. Faults: NotFound, Denied.
func (s *Executors) Leave(ctx context.Context, by access.Actor, id string) error {
	e, err := s.own(ctx, by, id)
	if err != nil {
		return err
	}
	now := s.clock.Now()
	return s.store.CloseExecutor(ctx, id, now, access.Entry{At: now, Actor: by, Action: "executor.leave", Object: e.Object(), TeamID: e.TeamID})
}

// Seen tells whether the actor may know of an executor. Faults: NotFound.
func (s *Executors) Seen(ctx context.Context, by access.Actor, id string) error {
	e, err := s.store.Executor(ctx, id)
	if err != nil {
		return err
	}
	return by.Check(access.Read, e.TeamID)
}

// own reads an executor that the caller's token may speak for.
func (s *Executors) own(ctx context.Context, by access.Actor, id string) (ExecutorInfo, error) {
	token, err := s.token(ctx, by)
	if err != nil {
		return ExecutorInfo{}, err
	}
	e, err := s.store.Executor(ctx, id)
	switch {
	case err != nil:
		return ExecutorInfo{}, err
	case e.TeamID != token.TeamID:
		return ExecutorInfo{}, access.NoObject()
	case !token.MayRegister(e.Name):
		return ExecutorInfo{}, notBound(e.Name)
	}
	return e, nil
}

// List gives the executors that the actor may see, within the scope asked for,
// by team, name and address, also those that are out since less than a day.
func (s *Executors) List(ctx context.Context, by access.Actor, asked access.Scope) ([]ExecutorInfo, error) {
	return s.store.ExecutorsOf(ctx, by.Scope().Narrow(asked))
}

// Tasks gives the tasks that name an executor, as far as the actor may see
// them, by code.
func (s *Executors) Tasks(ctx context.Context, by access.Actor, asked access.Scope) ([]ExecutorTask, error) {
	return s.store.ExecutorTasks(ctx, by.Scope().Narrow(asked))
}

// Shards gives what became of the parts of a broadcast, by attempt and shard.
// Faults: NotFound.
func (s *Executors) Shards(ctx context.Context, by access.Actor, in Instance) ([]ShardRun, error) {
	if err := by.Check(access.Read, in.TeamID); err != nil {
		return nil, err
	}
	return s.store.Shards(ctx, in.ID)
}

// NoneOnline says why a call of the type can't be made: nobody who offers it is
// online. all are the executors of the name.
func NoneOnline(all []ExecutorInfo, name, kind string, now time.Time) error {
	if len(all) == 0 {
		return fmt.Errorf("no executor of %s is online; none has registered within a day", name)
	}
	latest := slices.MaxFunc(all, func(a, b ExecutorInfo) int { return a.LastSign().Compare(b.LastSign()) })
	if slices.ContainsFunc(all, func(e ExecutorInfo) bool { return e.Online(now) }) {
		return fmt.Errorf("no executor of %s that is online offers %s", name, kind)
	}
	return fmt.Errorf("no executor of %s is online; last seen %s", name, latest.LastSign().UTC().Format("2006-01-02 15:04:05 UTC"))
}
