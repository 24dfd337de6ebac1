package app

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"ax/app/access"
)

// maxExported is the most entries of one file of the audit.
const maxExported = 50_000

// byteOrderMark makes spreadsheets read the file as UTF-8.
const byteOrderMark = "\ufeff"

var auditColumns = []string{
	"id", "time", "result", "action", "actor_kind", "actor_id", "actor", "address",
	"object_kind", "object_id", "object", "team", "reason", "changes", "request_id",
}

// exportAudit answers with the list as a file: newest first, at most 50,000
// entries, with a last line that says so when there are more. It is sent page
// by page, so that neither memory nor the ledger holds all of it.
func (a *App) exportAudit(c *gin.Context) (reply, error) {
	f, _, err := a.readAuditQuery(c, auditQuery(c))
	if err != nil {
		return reply{}, err
	}
	page, err := a.audit.List(c.Request.Context(), actor(c), f, 0, access.MaxAuditPage)
	if err != nil {
		return reply{}, err
	}
	h := c.Writer.Header()
	h.Set("Content-Type", "text/csv; charset=utf-8")
	h.Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", "audit-"+a.now().In(a.zoneOf(c)).Format("20060102-1504")+".csv"))
	h.Set("Cache-Control", "no-store")
	c.Status(http.StatusOK)
	return reply{}, a.writeAudit(c, f, page)
}

// writeAudit sends the pages. What fails after the first is told in the last
// line: the status is sent already, and half a file must not look whole.
func (a *App) writeAudit(c *gin.Context, f access.AuditFilter, page access.AuditPage) error {
	if _, err := c.Writer.Write([]byte(byteOrderMark)); err != nil {
		return nil //nolint:nilerr // the client has gone: nobody to tell
	}
	w, teams := csv.NewWriter(c.Writer), teamCodes(c)
	w.UseCRLF = true
	_ = w.Write(auditColumns) // told by Error below
	for n := 0; ; {
		for _, e := range page.Entries {
			if n == maxExported {
				_ = w.Write([]string{fmt.Sprintf("cut off after %d entries: ask for a shorter period", maxExported)})
				w.Flush()
				return nil
			}
			n++
			_ = w.Write(auditCells(e, teams))
		}
		if w.Flush(); w.Error() != nil || page.Next == 0 {
			return nil //nolint:nilerr // the client has gone: nobody to tell
		}
		var err error
		if page, err = a.audit.List(c.Request.Context(), actor(c), f, page.Next, access.MaxAuditPage); err != nil {
			_ = w.Write([]string{"broken off after " + strconv.Itoa(n) + " entries: request " + requestID(c)})
			w.Flush()
			return err
		}
	}
}

// auditCells is an entry as a line of the file.
func auditCells(e access.Entry, teams map[int64]string) []string {
	result, changes, team := access.Done, "", teams[e.TeamID]
	if e.Refused() {
		result = access.Refused
	}
	if len(e.Changes) > 0 {
		if raw, err := json.Marshal(e.Changes); err == nil { // texts only: it can't fail
			changes = string(raw)
		}
	}
	if team == "" && e.TeamID != 0 {
		team = strconv.FormatInt(e.TeamID, 10)
	}
	actorID := ""
	if e.Actor.ID != 0 {
		actorID = strconv.FormatInt(e.Actor.ID, 10)
	}
	cells := []string{
		strconv.FormatInt(e.ID, 10), e.At.UTC().Format(time.RFC3339Nano), string(result), e.Action,
		string(e.Actor.Kind), actorID, e.Actor.Name, e.Actor.Address,
		e.Object.Kind, e.Object.ID, e.Object.Name, team, e.Reason, changes, e.Actor.RequestID,
	}
	for i, cell := range cells {
		cells[i] = csvCell(cell)
	}
	return cells
}
