package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"strconv"
	"time"
)

// quietLog is for servers whose callers are meant to break off.
func quietLog() *log.Logger { return log.New(io.Discard, "", 0) }

// read takes from a message what the judges need, and checks its signature as
// docs/channels.md and the vendors' guides have it.
func (x receiver) read(r *http.Request, body []byte) heard {
	m := heard{receiver: x.name, at: time.Now().UnixMilli(), signed: true}
	switch x.kind {
	case "webhook":
		var b struct {
			ID, Type string
			Alert    struct {
				Incident string `json:"incident_id"`
			}
			Object struct{ ID string }
		}
		err := json.Unmarshal(body, &b)
		m.id, m.event, m.object = b.ID, b.Type, choose(b.Object.ID != "", b.Object.ID, b.Alert.Incident)
		sent, _ := strconv.ParseInt(r.Header.Get("Ax-Timestamp"), 10, 64)
		h := hmac.New(sha256.New, []byte(x.key))
		fmt.Fprintf(h, "%d.%s.%s", sent, r.Header.Get("Ax-Event-Id"), body)
		m.signed = err == nil && b.ID == r.Header.Get("Ax-Event-Id") && time.Since(time.Unix(sent, 0)).Abs() < 5*time.Minute &&
			r.Header.Get("Ax-Signature") == "v1="+hex.EncodeToString(h.Sum(nil))
	case "feishu":
		var b struct{ Timestamp, Sign string }
		_ = json.Unmarshal(body, &b) // without a sign it is refused
		m.signed = b.Sign == keyed(b.Timestamp+"\n"+x.key, "")
	case "dingtalk":
		at := r.URL.Query().Get("timestamp")
		m.signed = r.URL.Query().Get("sign") == keyed(x.key, at+"\n"+x.key)
	}
	return m
}

// keyed is an HMAC-SHA256 in base64.
func keyed(key, text string) string {
	h := hmac.New(sha256.New, []byte(key))
	h.Write([]byte(text))
	return base64.StdEncoding.EncodeToString(h.Sum(nil))
}

// answer answers as its kind does, or makes its trouble.
func (x receiver) answer(w http.ResponseWriter, r *http.Request) {
	switch x.trouble {
	case "slow": // longer than ax waits
		wait(r, 12*time.Second)
	case "500":
		w.WriteHeader(http.StatusInternalServerError)
		return
	case "429":
		w.Header().Set("Retry-After", "3")
		w.WriteHeader(http.StatusTooManyRequests)
		return
	case "limit": // Feishu's own code, with 200
		_, _ = io.WriteString(w, `{"code":11232,"msg":"frequency limited"}`)
		return
	case "page":
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<!doctype html><title>Sign in</title>")
		return
	case "close":
		broken(w, r, "reset")
		return
	}
	switch x.kind {
	case "feishu":
		_, _ = io.WriteString(w, `{"code":0,"msg":"success"}`)
	case "dingtalk", "wecom":
		_, _ = io.WriteString(w, `{"errcode":0,"errmsg":"ok"}`)
	case "slack":
		_, _ = io.WriteString(w, "ok")
	case "teams":
		w.WriteHeader(http.StatusAccepted)
	default:
		w.WriteHeader(http.StatusOK)
	}
}
