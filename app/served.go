package app

import (
	"time"

	"github.com/gin-gonic/gin"

	"ax/app/sched"
)

// Served is a request that was answered, for whoever counts and traces them.
type Served struct {
	Method      string
	Route       string // its pattern; "" when there is none
	Status      int
	From, To    time.Time
	TraceParent string           // as it came; "" for none
	Made        []sched.Instance // accepted by it
	Reported    string           // the instance of which it was a receipt; "": none
}

const (
	madeKey     = "ax.made"
	reportedKey = "ax.reported"
)

// made notes an instance that the request brought about.
func made(c *gin.Context, in sched.Instance) {
	all, _ := c.Value(madeKey).([]sched.Instance)
	c.Set(madeKey, append(all, in))
}

// reported notes the instance of which the request was a receipt.
func reported(c *gin.Context, id string) { c.Set(reportedKey, id) }

// tell passes the request on once it was answered.
func (a *App) tell(c *gin.Context, from, to time.Time) {
	if a.served == nil {
		return
	}
	all, _ := c.Value(madeKey).([]sched.Instance)
	a.served(Served{
		Method: c.Request.Method, Route: c.FullPath(), Status: c.Writer.Status(), From: from, To: to,
		TraceParent: c.GetHeader("Traceparent"), Made: all, Reported: c.GetString(reportedKey),
	})
}
