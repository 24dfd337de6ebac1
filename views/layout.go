package views

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/a-h/templ"

	"ax/views/ui"
)

// theme is what the viewer has chosen.
func (v Viewer) theme() string {
	if v.Theme == "light" || v.Theme == "dark" {
		return v.Theme
	}
	return "auto"
}

// painted is the theme the page is sent in; theme.js turns "auto" to dark
// before the first paint where the system is.
func (v Viewer) painted() string {
	if v.Theme == "dark" {
		return "dark"
	}
	return "light"
}

// teamName is the name of the team chosen, or all.
func (v Viewer) teamName(all string) string {
	for _, team := range v.Teams {
		if team.Code == v.Team {
			return team.Name
		}
	}
	return all
}

// teamURL is the list one is in, for the team of this code; "" is all teams.
func teamURL(here, code string) string {
	if here == "" || strings.HasPrefix(here, "/api") {
		here = "/"
	}
	return here + "?" + url.Values{"team": {code}}.Encode()
}

// languageURL switches to the other language and comes back.
func languageURL(v Viewer) string {
	return "/language?" + url.Values{"to": {v.otherLang()}, "back": {v.back()}}.Encode()
}

func (v Viewer) otherLang() string {
	if v.Lang == Chinese {
		return English
	}
	return Chinese
}

// back is the page's own path, "/" unless it is one of ours.
func (v Viewer) back() string {
	if !strings.HasPrefix(v.Path, "/") || strings.HasPrefix(v.Path, "//") || strings.Contains(v.Path, `\`) {
		return "/"
	}
	return v.Path
}

// currentPage marks the link of the page one is on.
func currentPage(on bool) templ.Attributes {
	if !on {
		return nil
	}
	return templ.Attributes{"aria-current": "page"}
}

// sections are the pages that the viewer may open.
func (v Viewer) sections() []sectionGroup {
	out := make([]sectionGroup, 0, len(sections))
	for _, g := range sections {
		g.sections = slices.DeleteFunc(slices.Clone(g.sections), func(s section) bool { return s.may != nil && !s.may(v.User) })
		out = append(out, g)
	}
	return out
}

func groupID(g sectionGroup) string {
	return "nav-" + strings.TrimPrefix(g.sections[0].path, "/")
}

func groupLabel(g sectionGroup) templ.Attributes {
	if g.word == "" {
		return nil
	}
	return templ.Attributes{"aria-labelledby": groupID(g)}
}

func healthState(ctx context.Context, h Health) ui.State {
	bad := func(word string) ui.State { return ui.State{Icon: "circle-x", Class: "fail", Word: word} }
	switch {
	case !h.Ledger:
		return bad(t(ctx, "No database"))
	case !h.Redis:
		return bad(t(ctx, "No Redis: work is late"))
	}
	return ui.State{Icon: "circle-check", Class: "ok", Word: t(ctx, "Ledger and Redis fine")}
}
