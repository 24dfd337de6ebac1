package app

import (
	"context"
	"net/http"

	"ax/app/access"
)

func (s *api) allowanceOperations() {
	add(s, operation{
		method: http.MethodGet, path: "/allowances", id: "list-allowances", tag: tagOperation, verb: access.Read,
		summary: "List the ranges inside the network that the token's team may call",
		about:   "First those that are open to every team. Public addresses are always open, metadata services of clouds never. Administrators open and close ranges on the team's page.",
	}, (*api).listAllowances)
}

type allowanceBody struct {
	Prefix    string   `json:"prefix" example:"10.20.0.0/16"`
	EveryTeam bool     `json:"every_team" doc:"Opened by the configuration, to every team"`
	Reason    string   `json:"reason" doc:"Empty when it is open to every team"`
	CreatedBy string   `json:"created_by" doc:"Empty when it is open to every team"`
	CreatedAt *instant `json:"created_at" doc:"null when it is open to every team"`
}

type allowanceListOut struct {
	Body listOf[allowanceBody]
}

func (s *api) listAllowances(ctx context.Context, k *call, _ *struct{}) (*allowanceListOut, error) {
	var items []allowanceBody
	for _, p := range s.networks {
		items = append(items, allowanceBody{Prefix: p.String(), EveryTeam: true})
	}
	for team := range k.actor.Roles { // of a token: one
		list, err := s.allowances.List(ctx, k.actor, team)
		if err != nil {
			return nil, err
		}
		for _, a := range list {
			at := instant(a.CreatedAt)
			items = append(items, allowanceBody{Prefix: a.Prefix.String(), Reason: a.Reason, CreatedBy: a.CreatedBy, CreatedAt: &at})
		}
	}
	return &allowanceListOut{Body: listPage(items, "")}, nil
}
