package app

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"ax/app/cron"
)

// readyLimit is how long /readyz waits for its checks: a probe gives up soon.
const readyLimit = 3 * time.Second

// showAlive says that the process answers. It asks nobody else, so that a
// lost database doesn't get the process killed.
func (a *App) showAlive(c *gin.Context) (reply, error) {
	writeAlive(c.Writer)
	return reply{}, nil
}

// showReady says whether requests should come here, and if not, what is away.
func (a *App) showReady(c *gin.Context) (reply, error) {
	ctx, cancel := context.WithTimeout(c.Request.Context(), readyLimit)
	defer cancel()
	writeChecks(c.Writer, a.ready(ctx))
	return reply{}, nil
}

func writeAlive(w http.ResponseWriter) {
	writeJSON(w, http.StatusOK, map[string]string{"status": "ok"})
}

// writeChecks is 503 when one of the checks fails.
func writeChecks(w http.ResponseWriter, checks []Check) {
	body, status := readiness{Ready: true, Checks: checks, Zones: cron.ZoneDataInUse()}, http.StatusOK
	for _, k := range checks {
		if !k.OK {
			body.Ready, status = false, http.StatusServiceUnavailable
		}
	}
	writeJSON(w, status, body)
}

type readiness struct {
	Ready  bool          `json:"ready"`
	Checks []Check       `json:"checks"`
	Zones  cron.ZoneData `json:"zones"`
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the client has gone: nobody to tell
}
