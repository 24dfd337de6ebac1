package sched

import (
	"cmp"
	"context"
	"slices"
	"time"

	"ax/app/access"
	"ax/app/calendar"
	"ax/app/fault"
)

// The teams of the use cases' tests.
const (
	shop  = 7
	depot = 8
)

// book is the ledger of the use cases' tests.
type book struct {
	teams     map[string]access.Team
	tasks     map[string]Task
	instances map[string]Instance
	letters   map[int64]Letter
	members   map[string]int64
	versions  map[int]TaskVersion // of the one task
	before    func()              // runs before a change takes its lock
	calendars map[string]*calendar.Calendar
	secrets   []access.Secret // of the shop
	owed      []Message       // what a change makes due

	created  []Instance // triggered or replayed
	changes  []TaskChange
	entries  []access.Entry
	scopes   []access.Scope
	pages    []PageRequest
	reports  []Report
	woken    []int64
	wakes    *Message
	canceled CancelResult
	received Received
	signs    []Sign
	refused  []string
	shelf    logShelf
	fail     map[string]error
	labels   Labels // that instances' messages need
}

// newBook holds one task, one instance and one letter of the shop.
func newBook() *book {
	t := taskOf(cronOf("0 2 * * *", "UTC"))
	in := requestOf(t, noon())
	return &book{
		teams:     map[string]access.Team{"shop": {ID: shop, Code: "shop", Commands: true}, "depot": {ID: depot, Code: "depot", Commands: true}},
		tasks:     map[string]Task{t.Code: t},
		instances: map[string]Instance{in.ID: in},
		letters:   map[int64]Letter{5: {ID: 5, TaskID: t.ID, TeamID: shop, BizID: in.BizID, InstanceID: in.ID, Status: LetterOpen, Version: 2}},
		members:   map[string]int64{"ann": 11, "bob": 12},
		canceled:  CancelResult{State: Canceled, TaskID: t.ID},
		received:  Received{State: Succeeded, TaskID: t.ID},
		fail:      map[string]error{},
	}
}

func (b *book) Secrets(_ context.Context, team int64) ([]access.Secret, error) {
	if team != shop {
		return nil, b.fail["Secrets"]
	}
	return b.secrets, b.fail["Secrets"]
}

// HookChannels: the shop has the channel "phone".
func (b *book) HookChannels(_ context.Context, team int64) ([]HookChannel, error) {
	if team != shop {
		return nil, b.fail["HookChannels"]
	}
	return []HookChannel{{ID: "phone", Name: "Phone", Kind: "webhook"}}, b.fail["HookChannels"]
}

func (b *book) RunsCommands(_ context.Context, team int64) (bool, error) {
	for _, t := range b.teams {
		if t.ID == team {
			return t.Commands, b.fail["RunsCommands"]
		}
	}
	return false, b.fail["RunsCommands"]
}

func (b *book) Team(_ context.Context, code string) (access.Team, error) {
	if err := b.fail["Team"]; err != nil {
		return access.Team{}, err
	}
	t, ok := b.teams[code]
	if !ok {
		return access.Team{}, fault.NotFound("There is no such team")
	}
	return t, nil
}

func (b *book) Teams(_ context.Context, s access.Scope) (out []access.Team, err error) {
	for _, t := range b.teams {
		if slices.Contains(s.Teams, t.ID) {
			out = append(out, t)
		}
	}
	return out, b.fail["Teams"]
}

func (b *book) Task(_ context.Context, code string) (Task, error) {
	if err := b.fail["Task"]; err != nil {
		return Task{}, err
	}
	t, ok := b.tasks[code]
	if !ok {
		return Task{}, fault.NotFound("There is no such object, or it belongs to another team")
	}
	return t, nil
}

func (b *book) CreateTask(_ context.Context, t Task, _ string, e access.Entry) (Task, error) {
	if _, taken := b.tasks[t.Code]; taken {
		return Task{}, fault.Invalid(fault.Field("code", "There is a task with the code %q already", t.Code))
	}
	t.ID = 99
	b.tasks[t.Code], b.entries = t, append(b.entries, e)
	return t, b.fail["CreateTask"]
}

func (b *book) ChangeTask(_ context.Context, c TaskChange) (Task, []Message, error) {
	if b.before != nil {
		b.before()
	}
	old, err := b.tasks[c.Code], b.fail["ChangeTask"]
	if err != nil {
		return Task{}, nil, err
	}
	next, entry, err := c.Apply(old)
	if err != nil {
		return Task{}, nil, err
	}
	next.UpdatedBy = c.By.Name
	if c.Version {
		next.Version = old.Version + 1
	}
	b.tasks[c.Code], b.changes, b.entries = next, append(b.changes, c), append(b.entries, entry)
	return next, b.owed, nil
}

func (b *book) Tasks(_ context.Context, f TaskFilter, p PageRequest) (PageOf[Task], error) {
	b.scopes, b.pages = append(b.scopes, f.Scope), append(b.pages, p)
	return PageOf[Task]{}, nil
}

func (b *book) TaskVersions(_ context.Context, id int64, limit int) ([]TaskVersion, error) {
	return []TaskVersion{{TaskID: id, Version: limit}}, b.fail["TaskVersions"]
}

func (b *book) TaskVersion(_ context.Context, _ int64, version int) (TaskVersion, error) {
	v, ok := b.versions[version]
	if !ok {
		return TaskVersion{}, cmp.Or(b.fail["TaskVersion"], access.NoObject())
	}
	return v, b.fail["TaskVersion"]
}

func (b *book) Trigger(_ context.Context, in Instance, e access.Entry) (Instance, bool, error) {
	if err := b.fail["Trigger"]; err != nil {
		return Instance{}, false, err
	}
	for _, old := range b.instances {
		if old.TaskID == in.TaskID && old.BizID == in.BizID {
			return old, false, nil
		}
	}
	b.instances[in.ID], b.created, b.entries = in, append(b.created, in), append(b.entries, e)
	return in, true, nil
}

func (b *book) Instance(_ context.Context, id string) (Instance, error) {
	in, ok := b.instances[id]
	if !ok {
		return Instance{}, fault.NotFound("There is no such object, or it belongs to another team")
	}
	return in, nil
}

func (b *book) InstanceView(ctx context.Context, id string) (InstanceView, error) {
	in, err := b.Instance(ctx, id)
	return InstanceView{Instance: in}, err
}

func (b *book) Output(ctx context.Context, id string, attempt, limit int) (Output, error) {
	return b.shelf.Output(ctx, id, attempt, limit)
}

func (b *book) Stretches(ctx context.Context, id string, attempt, from, n int) ([]Stretch, error) {
	return b.shelf.Stretches(ctx, id, attempt, from, n)
}

func (b *book) LogParts(ctx context.Context, id string, attempt int, after int64, n int) (LogParts, error) {
	return b.shelf.LogParts(ctx, id, attempt, after, n)
}

func (b *book) LogMark(context.Context, string, int) (string, error) { return "", nil }

func (b *book) NoteRefused(_ context.Context, _ Report, why string, _ time.Time) error {
	b.refused = append(b.refused, why)
	return nil
}

func (b *book) Instances(_ context.Context, f InstanceFilter, p PageRequest) (PageOf[Instance], error) {
	b.scopes, b.pages = append(b.scopes, f.Scope), append(b.pages, p)
	return PageOf[Instance]{}, nil
}

func (b *book) Cancel(_ context.Context, _ string, _ time.Time, e access.Entry) (CancelResult, error) {
	b.entries = append(b.entries, e)
	return b.canceled, b.fail["Cancel"]
}

func (b *book) Progress(context.Context, string) ([]Progress, error) { return nil, b.fail["Progress"] }

func (b *book) Sign(_ context.Context, g Sign, _ time.Time) (Signed, error) {
	b.signs = append(b.signs, g)
	return Signed{State: Awaiting, Stored: true}, b.fail["Sign"]
}

func (b *book) Receive(_ context.Context, r Report, _ time.Time) (Received, error) {
	b.reports = append(b.reports, r)
	return b.received, b.fail["Receive"]
}

func (b *book) Wake(_ context.Context, taskID int64, _ time.Time) (Message, bool, error) {
	b.woken = append(b.woken, taskID)
	if b.wakes == nil {
		return Message{}, false, b.fail["Wake"]
	}
	return *b.wakes, true, nil
}

func (b *book) Letter(_ context.Context, id int64) (Letter, error) {
	l, ok := b.letters[id]
	if !ok {
		return Letter{}, fault.NotFound("There is no such object, or it belongs to another team")
	}
	return l, nil
}

func (b *book) Letters(_ context.Context, f LetterFilter, p PageRequest) (PageOf[Letter], error) {
	b.scopes, b.pages = append(b.scopes, f.Scope), append(b.pages, p)
	return PageOf[Letter]{}, nil
}

func (b *book) Member(_ context.Context, login string, _ int64) (int64, error) {
	if err := b.fail["Member"]; err != nil {
		return 0, err
	}
	id, ok := b.members[login]
	if !ok {
		return 0, fault.NotFound("There is no such member")
	}
	return id, nil
}

func (b *book) EditLetter(_ context.Context, id int64, apply func(Letter) (Letter, access.Entry, error)) (Letter, error) {
	l, e, err := apply(b.letters[id])
	if err != nil {
		return Letter{}, err
	}
	l.Version++
	b.letters[id], b.entries = l, append(b.entries, e)
	return l, nil
}

func (b *book) Replay(_ context.Context, id int64, newID string, now time.Time, by access.Actor, _ string) (Instance, error) {
	if err := b.fail["Replay"]; err != nil {
		return Instance{}, err
	}
	in := b.instances[b.letters[id].InstanceID].Again(newID, b.letters[id].Replay+1, by.Name, now)
	b.created = append(b.created, in)
	return in, nil
}

func (b *book) Lane(_ context.Context, in Instance) (Lane, error) {
	return Lane{Queue: in.Queue, Labels: b.labels}, b.fail["Lane"]
}

// hands notes what is handed over, and what is hinted.
type hands struct {
	messages []Message
	hints    []string
	err      error
}

func (h *hands) HandOver(_ context.Context, messages []Message) (int, error) {
	h.messages = append(h.messages, messages...)
	return 0, h.err
}

func (h *hands) Send(_ context.Context, messages []Message) []error {
	h.messages = append(h.messages, messages...)
	return make([]error, len(messages))
}

func (h *hands) Hint(_ context.Context, id string) error {
	h.hints = append(h.hints, id)
	return h.err
}

func (b *book) Calendar(_ context.Context, code string) (*calendar.Calendar, error) {
	if c, ok := b.calendars[code]; ok {
		return c, nil
	}
	return nil, access.NoObject()
}

// office is the use cases with their ledger at noon.
type office struct {
	*book
	hands     *hands
	tasks     *Tasks
	instances *Instances
	letters   *Letters
}

func newOffice() *office {
	b, h, clock := newBook(), &hands{}, NewClock(noon)
	return &office{
		book: b, hands: h,
		tasks:     NewTasks(b, h, rules{b}, clock, ids("new"), defaults()),
		instances: NewInstances(b, h, h, clock),
		letters:   NewLetters(b, h, clock, ids("new")),
	}
}

// as is a person with a role in the shop.
func as(role access.Role) access.Actor {
	return access.Actor{Kind: access.User, ID: 1, Name: "ann", Roles: map[int64]access.Role{shop: role}}
}
