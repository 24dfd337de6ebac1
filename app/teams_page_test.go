package app_test

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app"
	"ax/app/access"
)

// memberRows gives login → role as the page of the viewer says.
func memberRows(a *answer) []string { return a.texts("[data-test=member]") }

func TestATeamShowsItsPeopleTokensAndWhatTheRolesMayDo(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.as("operator")
	_, tok, err := h.opt.Tokens.Create(t.Context(), root, access.NewToken{TeamID: h.team.ID, Name: "ci-deploy", Role: access.Editor})
	require.NoError(t, err)
	page := h.as("viewer").get("/teams/payments")
	require.Equal(t, http.StatusOK, page.status)
	require.Len(t, memberRows(page), 2)
	require.Contains(t, page.text("[data-test=token]"), "ci-deploy")
	require.Contains(t, page.text("[data-test=token]"), tok.Prefix+"…"+tok.Last4)
	require.Contains(t, page.texts(".roles tbody tr")[0], "See everything of the team")
	require.Empty(t, page.texts("main form"), "a viewer changes nothing")
	require.Empty(t, page.texts("dialog#invite"))
	require.NotContains(t, page.body, "/invitations")

	require.Equal(t, http.StatusNotFound, h.as("stranger").get("/teams/payments").status)
	require.Contains(t, h.as("viewer").get("/teams").text("[data-test=team]"), "payments")
}

func TestAnOwnerChangesRolesAndTakesPeopleOut(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	owner := h.as("owner")
	h.as("operator")
	got := owner.post("/teams/payments/members", "login", "operator", "member_role", "editor")
	require.Equal(t, "/teams/payments", got.location())
	require.Equal(t, http.StatusUnauthorized, h.as("operator").htmx("/tasks").get("/tasks").status, "their session ended")
	require.Contains(t, owner.get("/teams/payments").doc().Find(`[data-test=member]:contains("operator") option[selected]`).Text(), "Editor")

	got = owner.post("/teams/payments/members", "login", "nobody-here", "member_role", "editor")
	require.Equal(t, http.StatusUnprocessableEntity, got.status)
	require.Equal(t, "There is nobody with this login", got.text("dialog#add-member[open] #f-login-error"))
	require.Equal(t, "nobody-here", got.doc().Find("#f-login").AttrOr("value", ""))
	got = owner.post("/teams/payments/members", "login", "operator", "member_role", "king")
	require.Equal(t, "The role is viewer, operator, editor or owner", got.text("#f-member_role-error, #f-member-role-error"))

	require.Equal(t, "/teams/payments", owner.post("/teams/payments/members/remove", "login", "operator").location())
	require.Len(t, memberRows(owner.get("/teams/payments")), 1)
	require.Equal(t, "/teams", owner.post("/teams/payments/members/remove", "login", "owner").location())
	require.Contains(t, h.as("admin").get("/teams/payments").body, "Nobody owns this team")
}

func TestATeamIsMadeAndRenamed(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	admin := h.as("admin")
	got := admin.post("/teams", "code", "Data Platform", "name", "Data")
	require.Equal(t, http.StatusUnprocessableEntity, got.status)
	require.NotEmpty(t, got.text("dialog#new-team[open] #f-code-error"))
	require.Equal(t, "/teams/data", admin.post("/teams", "code", "data", "name", "Data").location())
	got = admin.post("/teams", "code", "data", "name", "Again")
	require.Equal(t, http.StatusConflict, got.status)
	require.Equal(t, "There is a team data already", got.text("#f-code-error"))
	require.Equal(t, "/teams/data", admin.post("/teams/data", "team_name", "Data platform").location())
	require.Equal(t, "Team Data platform", admin.get("/teams/data").text("h1"))
	got = admin.post("/teams/data", "team_name", " ")
	require.Equal(t, "A team needs a name", got.text("#f-team_name-error, #f-team-name-error"))
	require.Equal(t, http.StatusForbidden, h.as("owner").post("/teams", "code", "mine").status)
}

var (
	shownLink  = regexp.MustCompile(`/invitation\?token=[\w-]{43}`)
	shownToken = regexp.MustCompile(`ax_[0-9A-Za-z]{27}`)
)

// tokenOf is the secret of a one-time link.
func tokenOf(link string) string { return strings.TrimPrefix(link, "/invitation?token=") }

func TestATokenIsShownOnceAndRefusedOnceRevoked(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	owner := h.as("owner")
	made := owner.post("/teams/payments/tokens", "token_name", "ci-deploy", "token_role", "viewer", "token_end", "30")
	require.Equal(t, http.StatusOK, made.status)
	secret := shownToken.FindString(made.body)
	require.NotEmpty(t, secret)
	require.Equal(t, "no-store", made.header.Get("Cache-Control"))
	again := owner.get("/teams/payments")
	require.NotContains(t, again.body, secret)
	require.Contains(t, again.text("[data-test=token]"), "Until Fri 1 Jan 2027")
	require.NotContains(t, h.log.String(), secret)

	call := func() int {
		return h.bearer(secret).get("/api/v1/tasks").status
	}
	require.Equal(t, http.StatusOK, call())
	list, err := h.opt.Tokens.List(t.Context(), root, h.team.ID)
	require.NoError(t, err)
	id := strconv.FormatInt(list[0].ID, 10)
	require.Equal(t, http.StatusNotFound, h.as("stranger").post("/teams/payments/tokens/"+id+"/revoke").status)
	require.Equal(t, http.StatusNotFound, h.as("stranger").post("/teams/store/tokens/"+id+"/revoke").status, "by the path of one's own team")
	require.Equal(t, http.StatusOK, call())
	require.Equal(t, "/teams/payments", owner.post("/teams/payments/tokens/"+id+"/revoke").location())
	require.Equal(t, http.StatusUnauthorized, call())
	require.Contains(t, owner.get("/teams/payments").text("[data-test=token]"), "Revoked")
}

func TestABadTokenFormNamesItsFields(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for field, values := range map[string][]string{
		"token_name": {"token_name", " ", "token_role", "viewer", "token_end", "30"},
		"token_role": {"token_name", "x", "token_role", "root", "token_end", "30"},
		"token_end":  {"token_name", "x", "token_role", "viewer", "token_end", "9999"},
	} {
		got := h.as("owner").post("/teams/payments/tokens", values...)
		require.Equal(t, http.StatusUnprocessableEntity, got.status, field)
		require.Equal(t, 1, got.doc().Find("dialog#new-token[open] [name="+field+"][aria-invalid=true]").Length(), field)
	}
	got := h.as("owner").post("/teams/payments/tokens", "token_name", "x", "token_role", "viewer", "token_end", "soon")
	require.Equal(t, http.StatusUnprocessableEntity, got.status)
}

func TestAnInvitationBringsSomebodyIn(t *testing.T) {
	t.Parallel()
	h := newHouse(t, func(o *app.Options) { o.ExternalURL = "https://ax.example.org" })
	owner := h.as("owner")
	made := owner.post("/teams/payments/invitations", "for", "Nina", "invite_role", "editor")
	require.Equal(t, http.StatusOK, made.status)
	link := shownLink.FindString(made.body)
	require.Contains(t, made.body, "https://ax.example.org"+link)
	require.Contains(t, owner.get("/teams/payments").text("[data-test=invitation]"), "Nina")
	require.NotContains(t, owner.get("/teams/payments").body, link)
	require.NotContains(t, h.log.String(), tokenOf(link))

	guest := h.browser()
	page := guest.get(link)
	require.Equal(t, http.StatusOK, page.status)
	require.Contains(t, page.text("h1"), "Join ")
	require.Contains(t, page.text("main"), "owner invites you as Editor.")
	form := func(login, password string) []string {
		return []string{"token", tokenOf(link), "login", login, "name", "Nina", "password", password, "language", "en", "zone", "UTC"}
	}
	got := guest.post("/invitation", form("nina", "short")...)
	require.Equal(t, http.StatusUnprocessableEntity, got.status)
	require.NotEmpty(t, got.text("#f-password-error"))
	require.Equal(t, "nina", got.doc().Find("#f-login").AttrOr("value", ""))
	got = guest.post("/invitation", form("owner", "a battery of horses")...)
	require.Equal(t, http.StatusConflict, got.status)
	require.Equal(t, "The login owner is taken", got.text("#f-login-error"))
	require.Equal(t, "/", guest.post("/invitation", form("nina", "a battery of horses")...).location())
	require.Contains(t, guest.get("/teams/payments").text("body"), "nina", "signed in, and a member")

	require.Equal(t, http.StatusNotFound, h.browser().get(link).status)
	require.Contains(t, h.browser().get(link).text("h1"), "This link is no good any more")
	require.Equal(t, http.StatusNotFound, h.browser().post("/invitation", form("nina2", "a battery of horses")...).status)
}

func TestWhoIsSignedInJoinsAsWhoTheyAre(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	made := h.as("owner").post("/teams/payments/invitations", "invite_role", "viewer")
	link := shownLink.FindString(made.body)
	page := h.as("stranger").get(link)
	require.Contains(t, page.text("main"), "You are signed in as stranger.")
	got := h.as("stranger").post("/invitation", "token", tokenOf(link))
	require.Equal(t, "/teams/payments", got.location())
	require.Equal(t, http.StatusOK, h.as("stranger").get("/teams/payments").status)
}

func TestAnInvitationIsWithdrawn(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	link := shownLink.FindString(h.as("owner").post("/teams/payments/invitations", "invite_role", "viewer").body)
	require.Equal(t, http.StatusForbidden, h.as("editor").post("/teams/payments/invitations/1/withdraw").status)
	require.Equal(t, http.StatusNotFound, h.as("stranger").post("/teams/store/invitations/1/withdraw").status)
	require.Equal(t, http.StatusNotFound, h.as("owner").post("/teams/payments/invitations/x/withdraw").status)
	require.Equal(t, http.StatusOK, h.browser().get(link).status)
	require.Equal(t, "/teams/payments", h.as("owner").post("/teams/payments/invitations/1/withdraw").location())
	require.Equal(t, http.StatusNotFound, h.browser().get(link).status)
	h.forward(time.Hour)
	require.Equal(t, http.StatusConflict, h.as("owner").post("/teams/payments/invitations/1/withdraw").status)
}
