package app

import (
	"context"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"ax/app/access"
	"ax/views"
)

func (a *App) teamRoutes() []route {
	return []route{
		{http.MethodGet, "/teams", (*App).showTeams, signedIn, false},
		{http.MethodPost, "/teams", (*App).createTeam, access.Administer, false},
		{http.MethodGet, "/teams/:team", (*App).showTeam, access.Read, false},
		{http.MethodPost, "/teams/:team", (*App).renameTeam, access.ManageTeam, false},
		{http.MethodPost, "/teams/:team/members", (*App).setMember, access.ManageTeam, false},
		{http.MethodPost, "/teams/:team/members/remove", (*App).removeMember, access.ManageTeam, false},
		{http.MethodPost, "/teams/:team/invitations", (*App).invite, access.ManageTeam, false},
		{http.MethodPost, "/teams/:team/invitations/:id/withdraw", (*App).withdrawInvitation, access.ManageTeam, false},
		{http.MethodPost, "/teams/:team/tokens", (*App).createToken, access.ManageTeam, false},
		{http.MethodPost, "/teams/:team/tokens/:id/revoke", (*App).revokeToken, access.ManageTeam, false},
		{http.MethodPost, "/teams/:team/allowances", (*App).openRange, access.Administer, false},
		{http.MethodPost, "/teams/:team/allowances/remove", (*App).closeRange, access.Administer, false},
		{http.MethodPost, "/teams/:team/commands", (*App).setCommands, access.Administer, false},
		{http.MethodPost, "/teams/:team/secrets", (*App).addSecret, access.ManageSecrets, false},
		{http.MethodPost, "/teams/:team/secrets/change", (*App).changeSecret, access.ManageSecrets, false},
		{http.MethodPost, "/teams/:team/secrets/remove", (*App).removeSecret, access.ManageSecrets, false},
		{http.MethodPost, "/teams/:team/brokers", (*App).addBroker, access.ManageSecrets, false},
		{http.MethodPost, "/teams/:team/brokers/change", (*App).changeBroker, access.ManageSecrets, false},
		{http.MethodPost, "/teams/:team/brokers/remove", (*App).removeBroker, access.ManageSecrets, false},
		{http.MethodPost, "/teams/:team/brokers/test", (*App).testBroker, access.ManageSecrets, false},
	}
}

// showTeams lists the teams that the person may see.
func (a *App) showTeams(c *gin.Context) (reply, error) {
	return show(views.Teams(a.teamsPage(c))), nil
}

func (a *App) teamsPage(c *gin.Context) views.TeamsPage {
	who := actor(c)
	p := views.TeamsPage{MayMake: who.Can(access.Administer, 0)}
	for _, t := range teamsOf(c) {
		p.Teams = append(p.Teams, views.TeamLine{Team: t, Role: who.Roles[t.ID]})
	}
	return p
}

// createTeam makes a team; its maker is in it only if they add themselves.
func (a *App) createTeam(c *gin.Context) (reply, error) {
	f, err := a.form(c)
	if err != nil {
		return reply{}, err
	}
	in := access.NewTeam{Code: f.text("code"), Name: f.text("name")}
	team, err := a.teams.Create(c.Request.Context(), actor(c), in)
	if err != nil {
		page := a.teamsPage(c)
		page.Making, page.Values, page.Errors = true, views.TeamValues{Code: in.Code, Name: in.Name}, errorsOf(err)
		return show(views.Teams(page)), err
	}
	a.flash(c, "The team %s is made", team.Name)
	return goTo("/teams/%s", team.Code), nil
}

// showTeam shows a team: members, tokens, what the roles may do.
func (a *App) showTeam(c *gin.Context) (reply, error) {
	team, err := a.teamOf(c)
	if err != nil {
		return reply{}, err
	}
	page, err := a.teamPage(c.Request.Context(), actor(c), team)
	return show(views.TeamDetail(page)), err
}

// teamOf is the team of the address.
func (a *App) teamOf(c *gin.Context) (access.Team, error) {
	return a.teams.Get(c.Request.Context(), actor(c), c.Param("team"))
}

// teamFor is the team of the address, if the person has the right in it.
func (a *App) teamFor(c *gin.Context, v access.Verb) (access.Team, error) {
	team, err := a.teamOf(c)
	if err == nil {
		err = actor(c).Check(v, team.ID)
	}
	return team, err
}

func (a *App) teamPage(ctx context.Context, who access.Actor, team access.Team) (views.TeamPage, error) {
	p := views.TeamPage{
		Team: team, MayManage: who.Can(access.ManageTeam, team.ID), MayOpen: who.Can(access.Administer, team.ID),
		MaySeal: who.Can(access.ManageSecrets, team.ID), Networks: a.networks, Newcomers: a.newcomers,
		Values: views.TeamValues{TeamName: team.Name, MemberRole: string(access.Operator), InviteRole: string(access.Operator), TokenRole: string(access.Operator), TokenEnd: "90"},
	}
	var err error
	if p.Members, err = a.teams.Members(ctx, who, team.ID); err != nil {
		return p, err
	}
	if p.Allowances, err = a.allowances.List(ctx, who, team.ID); err != nil {
		return p, err
	}
	if p.Secrets, err = a.secrets.List(ctx, who, team.ID); err != nil {
		return p, err
	}
	if p.Brokers, err = a.brokers.List(ctx, who, team.ID); err != nil {
		return p, err
	}
	if p.Tokens, err = a.tokens.List(ctx, who, team.ID); err != nil || !p.MayManage {
		return p, err
	}
	p.Invitations, err = a.invitations.List(ctx, who, team.ID)
	return p, err
}

// link is an address of this installation, as people reach it.
func (a *App) link(c *gin.Context, path string) string {
	if a.external != nil {
		return strings.TrimRight(a.external.String(), "/") + path
	}
	return "http://" + c.Request.Host + path
}
