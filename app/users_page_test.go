package app_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"ax/app/access"
)

func TestPeopleAreListedForAdministratorsAndAuditors(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.as("operator")
	page := h.as("admin").get("/users?q=payments+operator")
	require.Equal(t, http.StatusOK, page.status)
	require.Len(t, page.texts("[data-test=user]"), 1)
	require.Contains(t, page.text("[data-test=user]"), "Operator")
	require.Len(t, h.as("admin").get("/users?q=nobody").texts("[data-test=user]"), 0)
	require.Empty(t, h.as("auditor").get("/users").texts("main form:not([role=search])"), "an auditor changes nothing")
	require.Empty(t, h.as("auditor").get("/users/operator").texts("main form"))
	for _, role := range access.Roles() {
		require.Equal(t, http.StatusNotFound, h.as(string(role)).get("/users").status, role)
		require.Equal(t, http.StatusNotFound, h.as(string(role)).get("/users/operator").status, role)
	}
	require.Equal(t, http.StatusNotFound, h.as("admin").get("/users/none").status)
}

func TestANewUserChoosesAPasswordByLink(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	admin := h.as("admin")
	bad := admin.post("/users", "login", "N!", "email", "no")
	require.Equal(t, http.StatusUnprocessableEntity, bad.status)
	require.Equal(t, 2, bad.doc().Find("dialog#new-user[open] [aria-invalid=true]").Length())
	require.Equal(t, http.StatusConflict, admin.post("/users", "login", "admin").status)

	made := admin.post("/users", "login", "Nina", "name", "Nina", "auditor", "true")
	require.Equal(t, http.StatusOK, made.status)
	link := shownLink.FindString(made.body)
	require.NotEmpty(t, link)
	require.Contains(t, made.text("main"), "No password yet")
	require.Contains(t, made.text("main"), "Auditor")
	guest := h.browser()
	require.Contains(t, guest.get(link).text("main"), "For the login nina.")
	got := guest.post("/invitation", "token", tokenOf(link), "password", "a battery of horses")
	require.Equal(t, "/login", got.location())
	require.Contains(t, guest.get("/login").text("body"), "Your password is set, nina.")
	require.Equal(t, "/", guest.post("/login", "login", "nina", "password", "a battery of horses").location())
	require.Equal(t, http.StatusNotFound, h.browser().get(link).status)
}

func TestAPersonIsDisabledEnabledAndGivenRights(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	admin, viewer := h.as("admin"), h.as("viewer")
	require.Equal(t, http.StatusOK, viewer.get("/tasks").status)
	require.Equal(t, "/users/viewer", admin.post("/users/viewer/disable").location())
	require.Equal(t, http.StatusUnauthorized, viewer.htmx("/tasks").get("/tasks").status)
	require.Contains(t, admin.get("/users/viewer").text("main"), "Disabled")
	require.Equal(t, http.StatusConflict, admin.post("/users/viewer/password-link").status)
	require.Equal(t, "/users/viewer", admin.post("/users/viewer/enable").location())
	require.Equal(t, "/users/viewer", admin.post("/users/viewer/rights", "auditor", "true").location())
	require.Equal(t, "Auditor", admin.get("/users/viewer").doc().Find("dd").Eq(2).Text())

	require.Equal(t, http.StatusConflict, admin.post("/users/viewer/second-step/off").status, "there is none")

	got := admin.post("/users/admin/rights")
	require.Equal(t, http.StatusConflict, got.status)
	require.Contains(t, got.text("[role=alert]"), "This is the last administrator")
	require.Equal(t, http.StatusConflict, admin.post("/users/admin/disable").status)
	for _, what := range []string{"rights", "disable", "enable", "password-link", "second-step/off"} {
		require.Equal(t, http.StatusNotFound, admin.post("/users/none/"+what).status, what)
	}
}

func TestAnAdministratorTakesOffALostSecondStep(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	viewer, admin := h.as("viewer"), h.as("admin")
	viewer.secure()
	require.Contains(t, admin.get("/users/viewer").text("main"), "Take off the second step")
	require.Equal(t, http.StatusForbidden, h.as("owner").post("/users/viewer/second-step/off").status)
	require.Equal(t, "/users/viewer", admin.post("/users/viewer/second-step/off").location())
	require.NotContains(t, admin.get("/users/viewer").text("main"), "Take off the second step")
	require.Equal(t, "/", h.browser().post("/login", "login", "viewer", "password", pass).location(), "no code is asked for")
}
