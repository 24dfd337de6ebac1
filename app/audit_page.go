package app

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"ax/app/access"
	"ax/app/fault"
	"ax/views"
)

func (a *App) auditRoutes() []route {
	return []route{
		{http.MethodGet, "/audit", (*App).listAudit, access.ReadAudit, false},
		{http.MethodGet, "/audit.csv", (*App).exportAudit, access.ReadAudit, false},
	}
}

// listedEntries is how many entries a page of the audit has.
const listedEntries = 50

// listAudit shows who did what, narrowed by the address.
func (a *App) listAudit(c *gin.Context) (reply, error) {
	q := auditQuery(c)
	if typed := c.Query("q"); typed != "" {
		return a.typedAudit(c, q, typed)
	}
	page := views.AuditPage{Query: q, Teams: teamCodes(c), Chain: a.chain(c)}
	f, cursor, err := a.readAuditQuery(c, q)
	if err == nil {
		var list access.AuditPage
		if list, err = a.audit.List(c.Request.Context(), actor(c), f, cursor, listedEntries); err != nil {
			return reply{}, err
		}
		page.Rows, page.Older, page.Newer = list.Entries, auditKey(list.Next), auditKey(list.Prev)
		return show(views.Audit(page)), nil
	}
	page.Errors = fault.Fields(err)
	return show(views.Audit(page)), err
}

func auditKey(id int64) string {
	if id == 0 {
		return ""
	}
	return strconv.FormatInt(id, 10)
}

// chain is what the page says of the hash chain; nil when it can't be told:
// the entries matter more.
func (a *App) chain(c *gin.Context) *access.Chain {
	chain, err := a.audit.Chain(c.Request.Context())
	if err != nil {
		a.log.WarnContext(c.Request.Context(), "the audit page can't look at the chain", "error", err)
		return nil
	}
	return &chain
}

// teamCodes are the codes of the teams that the viewer sees, by id.
func teamCodes(c *gin.Context) map[int64]string {
	out := map[int64]string{}
	for _, t := range teamsOf(c) {
		out[t.ID] = t.Code
	}
	return out
}

// typedAudit goes to the list that the words in its box ask for. Words that
// are no filter are looked for in the names of objects.
func (a *App) typedAudit(c *gin.Context, q views.AuditQuery, typed string) (reply, error) {
	q.After, q.Before = "", ""
	team, words := "", []string{}
	for _, word := range strings.Fields(clip(typed, 4*maxFilterText)) {
		key, value, found := strings.Cut(word, ":")
		switch {
		case !found || value == "":
			words = append(words, word)
		case key == "team":
			team = value
		case !typeAudit(&q, key, value):
			words = append(words, word)
		}
	}
	if len(words) > 0 {
		q.Words = strings.Join(words, " ")
	}
	return reply{to: auditPath(q, team)}, nil
}

// typeAudit takes one filter; false: there is none of this name.
func typeAudit(q *views.AuditQuery, key, value string) bool {
	switch key {
	case "who", "actor":
		q.Actor = value
	case "action":
		q.Action = value
	case "object", "kind":
		q.Kind = value
	case "id":
		q.ID = value
	case "named", "name":
		q.Words = value
	case "result":
		q.Result = access.Outcome(value)
	case "period":
		q.Period, q.From, q.To = value, "", ""
	case "from", "since":
		q.From, q.Period = value, ""
	case "to", "until":
		q.To, q.Period = value, ""
	default:
		return false
	}
	return true
}

func auditPath(q views.AuditQuery, team string) string {
	path := q.Path()
	if team == "" {
		return path
	}
	join := "?"
	if strings.Contains(path, "?") {
		join = "&"
	}
	return path + join + "team=" + url.QueryEscape(team)
}

// historyOf is what was done to an object of the team, for its page; that it
// can't be read takes nothing else from the page.
func (a *App) historyOf(c *gin.Context, team int64, kind string, id int64) views.ObjectHistory {
	h := views.ObjectHistory{More: a.auditLink(c, team, kind, id)}
	page, err := a.audit.History(c.Request.Context(), actor(c), team, kind, id)
	if err != nil {
		a.log.WarnContext(c.Request.Context(), "the history of an object can't be read", "kind", kind, "error", err)
		return h
	}
	h.Entries, h.Cut = page.Entries, page.Next != 0
	return h
}

// auditLink is the object in the audit, for those who may read that.
func (a *App) auditLink(c *gin.Context, team int64, kind string, id int64) string {
	if !actor(c).Can(access.ReadAudit, team) {
		return ""
	}
	return views.AuditOf(kind, strconv.FormatInt(id, 10))
}
