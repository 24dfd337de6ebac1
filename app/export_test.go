package app

import (
	"ax/app/access"

	"github.com/gin-gonic/gin"
)

// Engine is the router, for tests that look at all routes.
func (a *App) Engine() *gin.Engine { return a.engine }

// Row is a row of the route table.
type Row struct {
	Method, Path string
	Verb         access.Verb
}

// What a row asks of who comes, beside the verbs of access.
const (
	Anyone   = anyone
	SignedIn = signedIn
)

// Rows is the route table.
func (a *App) Rows() []Row {
	var rows []Row
	for _, r := range a.routes() {
		rows = append(rows, Row{r.method, r.path, r.verb})
	}
	return rows
}

// RequestDeadline and MaxBody are the bounds of a request.
const (
	RequestDeadline = requestDeadline
	MaxBody         = maxBody
)
