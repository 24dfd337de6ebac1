package views

import (
	"context"
	"strings"

	"ax/app/access"
	"ax/app/fault"
	"ax/views/ui"
)

// AccountPage is what a person sees and changes of the own account.
type AccountPage struct {
	Person     access.Person
	Roles      []TeamRole // by team
	Sessions   []access.OpenSession
	Values     access.Preferences // as they are, or as they were typed
	Zones      []string
	HomeZone   string // of the installation
	Errors     []fault.FieldError
	About      AccountPart // of the page that the errors are about
	SecondStep SecondStepPart
	Reach      Reach
	NoPassword bool   // there is none to change: the provider signs the person in
	Provider   string // the company's; "" is none
}

// AccountPart is a part of the account page with a form of its own.
type AccountPart string

// The parts.
const (
	AboutPassword    AccountPart = "password"
	AboutPreferences AccountPart = "preferences"
	AboutChatIDs     AccountPart = "chat-ids"
	AboutMail        AccountPart = "mail"
)

// TeamRole is what a person is in a team.
type TeamRole struct {
	Team string
	Role access.Role
}

func (p AccountPage) lede() string {
	name := ""
	if p.Person.Name != p.Person.Login {
		name = p.Person.Name
	}
	return joined(" · ", name, p.Person.Login, p.Person.Email)
}

// field of the account; errors of another form on the page aren't its own.
func (p AccountPage) field(ctx context.Context, part AccountPart, name, label string) ui.Field {
	f := ui.Field{Name: name, Label: label}
	if p.About == part {
		f.Error = problem(ctx, p.Errors, name)
	}
	return f
}

func (p AccountPage) password(ctx context.Context, name, label, autocomplete string) ui.Field {
	f := p.field(ctx, AboutPassword, name, label)
	f.Type, f.Autocomplete, f.Required = "password", autocomplete, true
	return f
}

// whole is what is wrong with a form, and with no field of it.
func (p AccountPage) whole(ctx context.Context, part AccountPart, known ...string) string {
	if p.About != part {
		return ""
	}
	return loose(ctx, p.Errors, known...)
}

func (p AccountPage) languageOptions(ctx context.Context) []ui.Option {
	return append(append([]ui.Option{}, languages...), ui.Option{Label: t(ctx, "As the browser says")})
}

func (p AccountPage) zoneOptions(ctx context.Context) []ui.Option {
	named := zonesToChoose(p.Zones, p.Values.Zone)
	return append([]ui.Option{{Label: t(ctx, "As the installation: %s", p.HomeZone)}}, named...)
}

func themeOptions(ctx context.Context) []ui.Option {
	return []ui.Option{
		{Value: "light", Label: t(ctx, "Light")}, {Value: "dark", Label: t(ctx, "Dark")}, {Value: "auto", Label: t(ctx, "As the system")},
	}
}

// theme of the person; none is the system's.
func (p AccountPage) theme() string {
	if p.Values.Theme == "" {
		return "auto"
	}
	return p.Values.Theme
}

// others counts the sessions that aren't the one that looks.
func (p AccountPage) others() int {
	n := 0
	for _, s := range p.Sessions {
		if !s.This {
			n++
		}
	}
	return n
}

// sessionLimits says when a session ends by itself.
func sessionLimits(ctx context.Context) string {
	v := viewer(ctx)
	return t(ctx, "A session ends %s after its last use, and %s after the sign-in at the latest.",
		v.Duration(access.SessionIdle), v.Span(access.SessionAbsolute))
}

// sessionPlace names where a session is.
func sessionPlace(ctx context.Context, s access.OpenSession) string {
	switch {
	case s.This:
		return t(ctx, "This browser")
	case strings.Contains(s.Agent, "Mobile") || strings.Contains(s.Agent, "iPhone"):
		return t(ctx, "Phone")
	}
	return t(ctx, "Other browser")
}

// roleMay says what a role may do, in one line.
func roleMay(ctx context.Context, r access.Role) string {
	switch r {
	case access.Viewer:
		return t(ctx, "sees everything of the team, changes nothing")
	case access.Operator:
		return t(ctx, "also runs, pauses and cancels, replays and solves dead letters")
	case access.Editor:
		return t(ctx, "also makes and changes tasks and calendars")
	case access.Owner:
		return t(ctx, "everything in the team, also members and tokens")
	}
	return ""
}
