package views

import (
	"context"
	"net/netip"
	"strconv"
	"time"

	"ax/app/access"
	"ax/app/fault"
	"ax/views/ui"
)

// TeamsPage lists the teams that the viewer may see.
type TeamsPage struct {
	Teams   []TeamLine
	MayMake bool // the viewer may make another
	Making  bool // the form of a new one is open again
	Values  TeamValues
	Errors  []fault.FieldError
}

// TeamLine is a team and the viewer's role in it, "" for none of their own.
type TeamLine struct {
	Team access.Team
	Role access.Role
}

// TeamPage is a team: who is in it, which tokens it has, what the roles are.
type TeamPage struct {
	Team        access.Team
	Members     []access.Member
	Invitations []access.Invitation // open ones, for those who may manage the team
	Tokens      []access.APIToken
	MayManage   bool

	Allowances []access.Allowance // ranges inside the network that are open to it
	Networks   []netip.Prefix     // those that are open to every team
	Newcomers  bool               // they are because nothing else was configured
	MayOpen    bool               // the viewer may open ranges, and close them

	Secrets []access.Secret // without values
	MaySeal bool            // the viewer may set them

	Brokers []access.Broker // without accounts

	Form   string // the form that is open again: one of the ids of team.templ
	Values TeamValues
	Errors []fault.FieldError

	Link   string          // of the invitation just made: shown this once
	Until  time.Time       // it is good
	Secret string          // of the token just made: shown this once
	Made   access.APIToken // its token
}

// TeamValues are the fields of the forms of a team.
type TeamValues struct {
	Code, Name                     string // of a new team
	TeamName                       string // of a team that is there
	Login, MemberRole              string
	For, InviteRole                string
	TokenName, TokenRole, TokenEnd string
	TokenExecutors                 string // names, as typed
	Prefix, OpenReason             string
	Range, CloseReason             string
	CommandsReason                 string
	SecretName, SecretHosts        string
	ChangeSecret, ChangeHosts      string
	RemoveSecret                   string
	Broker, OtherBroker            BrokerValues
	RemoveBroker                   string
}

// The forms of a team page.
const (
	FormMember   = "add-member"
	FormInvite   = "invite"
	FormToken    = "new-token"
	FormRename   = "rename"
	FormOpen     = "open-range"
	FormCommands = "commands"
	FormClose    = "close-range"

	FormSecret       = "set-secret"
	FormChangeSecret = "change-secret"
	FormRemoveSecret = "remove-secret"
)

// roleWord is a role as people read it.
func roleWord(ctx context.Context, r access.Role) string {
	switch r {
	case access.Viewer:
		return t(ctx, "Viewer|role")
	case access.Operator:
		return t(ctx, "Operator|role")
	case access.Editor:
		return t(ctx, "Editor|role")
	case access.Owner:
		return t(ctx, "Owner|role")
	}
	return dash
}

// roleOptions are the roles to choose from, weakest first.
func roleOptions(ctx context.Context) []ui.Option {
	var out []ui.Option
	for _, r := range access.Roles() {
		out = append(out, ui.Option{Value: string(r), Label: roleWord(ctx, r)})
	}
	return out
}

// tokenEnds are how long a token may live, in days; 0 is for ever.
func tokenEnds(ctx context.Context) []ui.Option {
	var out []ui.Option
	for _, days := range []int{30, 90, 365, 5 * 365} {
		out = append(out, ui.Option{Value: strconv.Itoa(days), Label: tn(ctx, "%d days", days)})
	}
	return append(out, ui.Option{Value: "0", Label: t(ctx, "It has no end")})
}

// summary counts what the team has.
func (p TeamPage) summary(ctx context.Context) string {
	live := 0
	for _, tok := range p.Tokens {
		if tok.Live(viewer(ctx).Now) {
			live++
		}
	}
	return joined(" · ", p.Team.Code, tn(ctx, "%d people", len(p.Members)), tn(ctx, "%d live tokens", live))
}

// owners counts those who may manage the team: the last one can't be removed
// without leaving the team to the administrators.
func (p TeamPage) owners() int {
	n := 0
	for _, m := range p.Members {
		if m.Role == access.Owner && !m.Person.Disabled {
			n++
		}
	}
	return n
}

// soon is how long before its end a token is worth a look.
const soon = 14 * 24 * time.Hour

// tokenState is how a token stands: live, ending, ended, revoked.
func tokenState(ctx context.Context, tok access.APIToken) ui.State {
	now := viewer(ctx).Now
	switch {
	case !tok.RevokedAt.IsZero():
		return ui.State{Icon: "ban", Word: t(ctx, "Revoked")}
	case tok.ExpiresAt.IsZero():
		return ui.State{Icon: "circle-check", Class: "ok wrapst", Word: t(ctx, "No end")}
	case !tok.Live(now):
		return ui.State{Icon: "clock-x", Class: "wrapst", Word: t(ctx, "Ended %s", viewer(ctx).Relative(tok.ExpiresAt))}
	case tok.ExpiresAt.Sub(now) < soon:
		return ui.State{Icon: "clock-exclamation", Class: "retry wrapst", Word: t(ctx, "Ends %s", viewer(ctx).Relative(tok.ExpiresAt))}
	}
	return ui.State{Icon: "circle-check", Class: "ok wrapst", Word: t(ctx, "Until %s", viewer(ctx).Day(tok.ExpiresAt))}
}

// dialog opens the form again that was refused.
func (p TeamPage) dialog(c ui.Confirm) ui.Confirm {
	c.Open = p.Form == c.ID
	return c
}

// problem is what is wrong with a field of the form that is open.
func (p TeamPage) problem(ctx context.Context, form, field string) string {
	if p.Form != form {
		return ""
	}
	return problem(ctx, p.Errors, field)
}

// invited names who an invitation is for.
func invited(ctx context.Context, i access.Invitation) string {
	if i.For == "" {
		return t(ctx, "somebody")
	}
	return i.For
}

func orDash(s string) string {
	if s == "" {
		return dash
	}
	return s
}

// ranges are the team's own, to choose one from.
func (p TeamPage) ranges() []ui.Option {
	out := make([]ui.Option, len(p.Allowances))
	for i, a := range p.Allowances {
		out[i] = ui.Option{Value: strconv.FormatInt(a.ID, 10), Label: a.Prefix.String()}
	}
	return out
}
