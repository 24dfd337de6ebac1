package views

import (
	"context"
	"net/url"
	"strings"
	"time"

	"ax/app/access"
	"ax/app/fault"
	"ax/views/ui"
)

// UsersPage lists all people of the installation.
type UsersPage struct {
	People  []access.Standing
	Teams   []access.Team // to name them
	Words   string        // that a person shown has; "" for all
	MayMake bool
	Making  bool // the form of a new person is open again
	Values  UserValues
	Errors  []fault.FieldError
}

// UserValues are the fields of the form of a new person.
type UserValues struct {
	Login, Name, Email string
	Admin, Auditor     bool
}

// UserPage is one person.
type UserPage struct {
	Standing  access.Standing
	Teams     []access.Team // to name them
	MayChange bool
	Self      bool // the viewer
	Errors    []fault.FieldError
	Link      string    // to a new password, just made: shown this once
	Until     time.Time // it is good
	Provider  string    // the company's, through which people sign in; "" is none
	Subject   string    // who the person is there, as it is or as it was typed
}

// shown are the people that have the words in login, name, address or teams.
func (p UsersPage) shown(ctx context.Context) []access.Standing {
	var out []access.Standing
	for _, s := range p.People {
		all := strings.ToLower(joined(" ", s.Person.Login, s.Person.Name, s.Person.Email, teamRoleWords(ctx, s, p.Teams), personState(ctx, s).Word))
		has := true
		for word := range strings.FieldsSeq(strings.ToLower(p.Words)) {
			has = has && strings.Contains(all, word)
		}
		if has {
			out = append(out, s)
		}
	}
	return out
}

// summary counts people and those who may do everything.
func (p UsersPage) summary(ctx context.Context) string {
	admins, auditors := 0, 0
	for _, s := range p.People {
		if s.Person.Admin && !s.Person.Disabled {
			admins++
		}
		if s.Person.Auditor && !s.Person.Disabled {
			auditors++
		}
	}
	return joined(" · ", tn(ctx, "%d people", len(p.People)), tn(ctx, "%d administrators", admins), tn(ctx, "%d auditors", auditors))
}

// teamRoleWords are a person's teams with the roles there.
func teamRoleWords(ctx context.Context, s access.Standing, teams []access.Team) string {
	var parts []string
	for _, team := range teams {
		if r, ok := s.Roles[team.ID]; ok {
			parts = append(parts, t(ctx, "%s: %s", team.Name, roleWord(ctx, r)))
		}
	}
	if len(parts) == 0 {
		return t(ctx, "in no team")
	}
	return strings.Join(parts, ", ")
}

// rightWords are what a person may do beside the teams.
func rightWords(ctx context.Context, p access.Person) string {
	var parts []string
	if p.Admin {
		parts = append(parts, t(ctx, "Administrator"))
	}
	if p.Auditor {
		parts = append(parts, t(ctx, "Auditor"))
	}
	return joined(", ", parts...)
}

// personState is whether a person can sign in.
func personState(ctx context.Context, s access.Standing) ui.State {
	switch {
	case s.Person.Disabled:
		return ui.State{Icon: "ban", Word: t(ctx, "Disabled")}
	case s.NoPassword && s.Bound.Subject == "":
		return ui.State{Icon: "clock", Class: "await", Word: t(ctx, "No password yet")}
	}
	return ui.State{Icon: "circle-check", Class: "ok", Word: t(ctx, "Active")}
}

func userURL(login string) string { return "/users/" + url.PathEscape(login) }

// stepState is whether a code is asked for after the password.
func stepState(ctx context.Context, s access.Standing) ui.State {
	if s.SecondStep {
		return ui.State{Icon: "circle-check", Class: "ok", Word: t(ctx, "On|second step")}
	}
	return ui.State{Icon: "circle-off", Class: "idle", Word: t(ctx, "Off|second step")}
}
