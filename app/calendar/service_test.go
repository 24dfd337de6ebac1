package calendar

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

// book is a ledger in memory: one calendar of team 7 and one of the
// installation.
type book struct {
	all       map[string]*Calendar
	entries   []access.Entry
	replanned []string
	down      error
}

func newBook() *book {
	return &book{all: map[string]*Calendar{
		"own": {ID: 1, TeamID: 7, Code: "own", Name: "Own", Week: MondayToFriday, Version: 3, UpdatedBy: "wei", Listed: map[Day]Entry{d("2027-01-01"): {Name: "元旦"}}},
		"cn":  {ID: 2, Code: "cn", Name: "China", Week: MondayToFriday, Version: 1, Listed: map[Day]Entry{}},
	}}
}

func (b *book) Calendars(context.Context, access.Scope) ([]Listing, error) { return nil, b.down }
func (b *book) CalendarsWithDays(context.Context, access.Scope) ([]Overview, error) {
	return nil, b.down
}
func (b *book) CalendarUses(context.Context, string, access.Scope, int) ([]Use, int, error) {
	return nil, 2, b.down
}

func (b *book) Calendar(_ context.Context, code string) (*Calendar, error) {
	c, ok := b.all[code]
	if !ok {
		return nil, access.NoObject()
	}
	return c, b.down
}

func (b *book) CreateCalendar(_ context.Context, c *Calendar, e access.Entry) (*Calendar, error) {
	b.all[c.Code] = c
	b.entries = append(b.entries, e)
	return c, nil
}

func (b *book) ChangeCalendar(_ context.Context, c Change) (*Calendar, error) {
	next := *b.all[c.Code]
	next.Listed = map[Day]Entry{}
	for d, e := range b.all[c.Code].Listed {
		next.Listed[d] = e
	}
	e, err := c.Apply(&next)
	if err != nil {
		return nil, err
	}
	next.Version++
	b.all[c.Code] = &next
	b.entries = append(b.entries, e)
	return &next, nil
}

func (b *book) DeleteCalendar(_ context.Context, code string, check func(*Calendar) (access.Entry, error)) error {
	e, err := check(b.all[code])
	if err == nil {
		delete(b.all, code)
		b.entries = append(b.entries, e)
	}
	return err
}

func (b *book) Team(_ context.Context, code string) (access.Team, error) {
	if code != "payments" {
		return access.Team{}, fault.NotFound("There is no such team")
	}
	return access.Team{ID: 7, Code: code}, b.down
}

func (b *book) Replan(_ context.Context, code string) error {
	b.replanned = append(b.replanned, code)
	return errors.New("the schedulers do it later")
}

func (b *book) service() *Calendars {
	return NewCalendars(b, b, func() time.Time { return d("2026-12-02").Time() })
}

func actorOf(role access.Role) access.Actor {
	return access.Actor{Kind: access.User, ID: 1, Name: "li", Roles: map[int64]access.Role{7: role}}
}

// changes are all use cases that change a calendar.
func changes(s *Calendars) map[string]func(by access.Actor, code string) error {
	ctx := context.Background()
	return map[string]func(access.Actor, string) error{
		"update": func(by access.Actor, code string) error {
			_, err := s.Update(ctx, by, code, Edit{Name: "x", Version: 1})
			return err
		},
		"days": func(by access.Actor, code string) error {
			_, err := s.SetDays(ctx, by, code, Span{Kind: SetOff, Version: 1})
			return err
		},
		"year": func(by access.Actor, code string) error {
			_, err := s.SetYear(ctx, by, code, 2027, nil, 1, "")
			return err
		},
		"import": func(by access.Actor, code string) error {
			_, err := s.Import(ctx, by, code, Import{Text: "2027-01-01,off", Mode: AddDays}, false)
			return err
		},
		"look at an import": func(by access.Actor, code string) error {
			_, err := s.Import(ctx, by, code, Import{Text: "2027-01-01,off", Mode: AddDays}, true)
			return err
		},
		"delete": func(by access.Actor, code string) error { return s.Delete(ctx, by, code, "") },
	}
}

func TestCalendarsAreSeenAndChangedByWhoMay(t *testing.T) {
	stranger := access.Actor{Kind: access.User, Roles: map[int64]access.Role{8: access.Owner}}
	for name, c := range map[string]struct {
		by      access.Actor
		own, cn fault.Kind
	}{
		"a viewer":    {actorOf(access.Viewer), fault.KindDenied, fault.KindDenied},
		"an operator": {actorOf(access.Operator), fault.KindDenied, fault.KindDenied},
		"an auditor":  {access.Actor{Kind: access.User, Auditor: true}, fault.KindDenied, fault.KindDenied},
		"a stranger":  {stranger, fault.KindNotFound, fault.KindDenied},
		"nobody":      {access.Actor{}, fault.KindNotFound, fault.KindDenied},
		"an owner":    {actorOf(access.Owner), 0, fault.KindDenied},
	} {
		for change := range changes(newBook().service()) {
			for code, want := range map[string]fault.Kind{"own": c.own, "cn": c.cn} {
				if want == 0 {
					continue
				}
				b := newBook()
				err := changes(b.service())[change](c.by, code)
				require.Equal(t, want, fault.KindOf(err), "%s: %s %s: %v", name, change, code, err)
				require.Empty(t, b.entries)
				require.Empty(t, b.replanned)
			}
		}
		_, err := newBook().service().Get(t.Context(), c.by, "cn")
		require.NoError(t, err, "everybody sees those of the installation")
	}
	for change := range changes(newBook().service()) {
		b := newBook()
		err := changes(b.service())[change](access.Actor{Kind: access.User, Admin: true}, "cn")
		require.NoError(t, err, change)
	}
	for _, code := range []string{"", "no", "../x", "A", strings.Repeat("x", 65)} {
		_, err := newBook().service().Get(t.Context(), access.Actor{Admin: true}, code)
		require.Equal(t, fault.KindNotFound, fault.KindOf(err), code)
	}
}

func TestAChangeIsAuditedAndItsTasksArePlannedAnew(t *testing.T) {
	b := newBook()
	got, err := b.service().SetDays(t.Context(), actorOf(access.Editor), "own", Span{From: d("2027-01-01"), To: d("2027-01-03"), Kind: SetOff, Name: " New  Year ", Version: 3, Reason: "notice"})
	require.NoError(t, err)
	require.Equal(t, 4, got.Version)
	require.Equal(t, Entry{Name: "New Year"}, got.Listed[d("2027-01-02")])
	require.Equal(t, []string{"own"}, b.replanned)
	require.Equal(t, []access.Entry{{
		At: d("2026-12-02").Time(), Actor: actorOf(access.Editor), Action: "calendar.days", Object: access.Object{Kind: "calendar", ID: "1", Name: "own"},
		TeamID: 7, Reason: "notice", Changes: []access.Change{
			{Field: "days 2027-01-01", Old: "off 元旦", New: "off New Year"}, {Field: "days 2027-01-02..2027-01-03", New: "off New Year"},
		},
	}}, b.entries)
	_, err = b.service().SetDays(t.Context(), actorOf(access.Editor), "own", Span{From: d("2027-01-01"), To: d("2027-01-03"), Kind: SetOff, Version: 3})
	require.Equal(t, fault.KindConflict, fault.KindOf(err))
	require.ErrorContains(t, err, "wei changed the calendar meanwhile")
}

// A hand-written audit row must not grow with a file of thousands of days.
func TestAnAuditRowIsBounded(t *testing.T) {
	was, is := calendarOf(map[Day]Entry{}), calendarOf(map[Day]Entry{})
	for i := range Day(200) {
		is.Listed[d("2027-01-01")+2*i] = Entry{}
	}
	e := entryOf(access.Actor{}, time.Time{}, "x", "", was, is)
	require.Len(t, e.Changes, maxTold+1)
	require.Equal(t, "and 140 more stretches", e.Changes[maxTold].New)
}

func TestAnImportReplacesYearsOrAdds(t *testing.T) {
	file := "2027-05-01,off,劳动节\n2028-01-01,off\nbad"
	for mode, want := range map[Mode][]string{
		ReplaceYears: {"2027-05-01", "2028-01-01"},
		AddDays:      {"2027-01-01", "2027-05-01", "2028-01-01"},
	} {
		b := newBook()
		in := Import{Text: file, Mode: mode, Version: 3}
		look, err := b.service().Import(t.Context(), actorOf(access.Editor), "own", in, true)
		require.NoError(t, err)
		require.Empty(t, b.entries)
		require.Equal(t, 3, b.all["own"].Version)
		require.Equal(t, 1, look.BadLines())
		done, err := b.service().Import(t.Context(), actorOf(access.Editor), "own", in, false)
		require.NoError(t, err)
		require.Equal(t, look.Changes, done.Changes)
		var days []string
		for _, day := range Sorted(b.all["own"].Listed) {
			days = append(days, day.String())
		}
		require.Equal(t, want, days, mode)
		_, err = b.service().Import(t.Context(), actorOf(access.Editor), "own", in, true)
		require.Equal(t, fault.KindConflict, fault.KindOf(err), "also before it is stored")
	}
}

func TestACalendarListsAtMostSoManyDays(t *testing.T) {
	b := newBook()
	for i := range Day(MaxDays - 1) {
		b.all["own"].Listed[d("2030-01-01")+i] = Entry{}
	}
	_, err := b.service().SetDays(t.Context(), actorOf(access.Editor), "own", Span{From: d("2028-01-01"), To: d("2028-01-02"), Kind: SetOff, Version: 3})
	require.Equal(t, "days", fault.Fields(err)[0].Name)
	_, err = b.service().Import(t.Context(), actorOf(access.Editor), "own", Import{Text: "2028-01-01,off\n2028-01-02,off", Mode: AddDays}, true)
	require.Equal(t, "days", fault.Fields(err)[0].Name)
	require.Empty(t, b.entries)
}

func TestWhatANewCalendarNeeds(t *testing.T) {
	for name, c := range map[string]struct {
		draft  Draft
		fields []string
	}{
		"a code":              {Draft{Code: "A b", Team: "payments"}, []string{"code"}},
		"no address of ours":  {Draft{Code: "import", Team: "payments"}, []string{"code"}},
		"a short name":        {Draft{Code: "x", Name: strings.Repeat("节", 201), Team: "payments"}, []string{"name"}},
		"a name on one line":  {Draft{Code: "x", Name: "a\x00b", Team: "payments"}, []string{"name"}},
		"a team":              {Draft{Code: "x", Team: "nonesuch"}, []string{"team"}},
		"a week":              {Draft{Code: "x", Team: "payments", Week: 128}, []string{"week"}},
		"a short reason":      {Draft{Code: "x", Team: "payments", Reason: strings.Repeat("x", 501)}, []string{"reason"}},
		"one to copy":         {Draft{Code: "x", Team: "payments", From: "nonesuch"}, []string{"from"}},
		"days in range":       {Draft{Code: "x", Team: "payments", Days: map[Day]Entry{Date(2200, 1, 1): {}}}, []string{"days"}},
		"short names of days": {Draft{Code: "x", Team: "payments", Days: map[Day]Entry{d("2027-01-01"): {Name: strings.Repeat("节", 101)}}}, []string{"days"}},
	} {
		b := newBook()
		_, err := b.service().Create(t.Context(), actorOf(access.Editor), c.draft)
		var fields []string
		for _, f := range fault.Fields(err) {
			fields = append(fields, f.Name)
		}
		require.Equal(t, c.fields, fields, name)
		require.Empty(t, b.entries, name)
	}
	b := newBook()
	got, err := b.service().Create(t.Context(), actorOf(access.Editor), Draft{Code: "copy", Team: "payments", From: "own"})
	require.NoError(t, err)
	require.Equal(t, "copy", got.Name)
	require.Equal(t, b.all["own"].Listed, got.Listed)
	require.Equal(t, "calendar.create", b.entries[0].Action)
	_, err = b.service().Create(t.Context(), actorOf(access.Owner), Draft{Code: "all"})
	require.Equal(t, fault.KindDenied, fault.KindOf(err), "of the installation")
}

func TestADatabaseThatIsAwayIsNoAnswer(t *testing.T) {
	b := newBook()
	b.down = fmt.Errorf("away")
	_, err := b.service().Get(t.Context(), actorOf(access.Editor), "own")
	require.ErrorIs(t, err, b.down)
	_, err = b.service().Create(t.Context(), actorOf(access.Editor), Draft{Code: "x", Team: "payments"})
	require.ErrorIs(t, err, b.down)
}
