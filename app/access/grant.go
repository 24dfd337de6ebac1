package access

import (
	"fmt"
	"slices"
	"strings"
)

// Grant says what a group of the company's provider gives its people in ax: a
// role in a team, or a right in the whole installation.
type Grant struct {
	Group   string
	Team    string // code; "" with Admin or Auditor
	Role    Role
	Admin   bool
	Auditor bool
}

// ParseGrant reads "GROUP = TEAM:ROLE", "GROUP = admin" or "GROUP = auditor".
// The last "=" parts them: names of directories hold some.
func ParseGrant(text string) (Grant, error) {
	cut := strings.LastIndex(text, "=")
	if cut < 0 {
		return Grant{}, fmt.Errorf("%q is not of the form GROUP = TEAM:ROLE", text)
	}
	g, what := Grant{Group: strings.TrimSpace(text[:cut])}, strings.TrimSpace(text[cut+1:])
	if g.Group == "" {
		return Grant{}, fmt.Errorf("%q names no group", text)
	}
	switch what {
	case "admin":
		g.Admin = true
		return g, nil
	case "auditor":
		g.Auditor = true
		return g, nil
	}
	team, role, _ := strings.Cut(what, ":")
	g.Team, g.Role = strings.TrimSpace(team), Role(strings.TrimSpace(role))
	if !teamCode.MatchString(g.Team) || !g.Role.Valid() {
		return Grant{}, fmt.Errorf("%q gives neither TEAM:ROLE (viewer, operator, editor, owner) nor admin or auditor", text)
	}
	return g, nil
}

// granted is what the groups of a person give.
type granted struct {
	admin, auditor bool
	roles          map[int64]Role // by team
}

// none tells that no group gives anything.
func (g granted) none() bool { return !g.admin && !g.auditor && len(g.roles) == 0 }

// grantedTo joins what the groups give; of two roles in a team the higher one
// counts. A team that isn't there gives nothing.
func grantedTo(groups []string, grants []Grant, teams []Team) granted {
	out := granted{roles: map[int64]Role{}}
	for _, g := range grants {
		if !slices.Contains(groups, g.Group) {
			continue
		}
		out.admin, out.auditor = out.admin || g.Admin, out.auditor || g.Auditor
		for _, t := range teams {
			if t.Code == g.Team && g.Role.rank() > out.roles[t.ID].rank() {
				out.roles[t.ID] = g.Role
			}
		}
	}
	return out
}
