package app_test

import (
	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/sched"
)

// service is the secret of a token that may register the executor billing, if
// its role lets it.
func (h *house) service(team access.Team, name string, role access.Role) string {
	h.t.Helper()
	in := access.NewToken{TeamID: team.ID, Name: name, Role: role, Executors: []string{"billing"}}
	if role == access.Viewer {
		in.Executors = nil
	}
	secret, _, err := h.opt.Tokens.Create(h.t.Context(), root, in)
	require.NoError(h.t, err)
	return secret
}

// executor registers a service of the team payments.
func (h *house) executor(name, address string) sched.ExecutorInfo {
	h.t.Helper()
	_, token, err := h.opt.Tokens.Create(h.t.Context(), root, access.NewToken{TeamID: h.team.ID, Name: name + "-svc", Role: access.Operator, Executors: []string{name}})
	require.NoError(h.t, err)
	by := access.Actor{Kind: access.Token, ID: token.ID, Name: token.Name, Roles: map[int64]access.Role{h.team.ID: access.Operator}}
	e, err := h.opt.Executors.Register(h.t.Context(), by, sched.ExecutorSpec{
		Name: name, Address: address, TaskTypes: []sched.TaskType{{Type: "close-day", Description: "Closes the books"}}, Version: "3.8.0",
	})
	require.NoError(h.t, err)
	return e
}
