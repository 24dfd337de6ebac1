package robottest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strconv"
	"testing"
	"time"
)

// Webhook is a program that takes webhooks: it refuses what isn't signed with
// the key, or is older than five minutes.
func Webhook(t testing.TB, o Options) *Robot {
	return start(t, o, "/in/"+Token, lookWebhook)
}

func lookWebhook(o Options, r *http.Request, raw []byte) (Got, Play) {
	var m struct {
		ID    string `json:"id"`
		Type  string `json:"type"`
		At    string `json:"at"`
		Title string `json:"title"`
		Text  string `json:"text"`
		Link  string `json:"link"`
	}
	id, timestamp := r.Header.Get("Ax-Event-Id"), r.Header.Get("Ax-Timestamp")
	h := hmac.New(sha256.New, []byte(o.Key))
	h.Write([]byte(timestamp + "." + id + "." + string(raw)))
	want := "v1=" + hex.EncodeToString(h.Sum(nil))
	s, err := strconv.ParseInt(timestamp, 10, 64)
	switch {
	case r.URL.Path != "/in/"+Token:
		return Got{}, Say(http.StatusNotFound, "no such hook")
	case !hmac.Equal([]byte(want), []byte(r.Header.Get("Ax-Signature"))):
		return Got{}, Say(http.StatusUnauthorized, "bad signature")
	case err != nil || o.Now().Sub(time.Unix(s, 0)).Abs() > 5*time.Minute:
		return Got{}, Say(http.StatusUnauthorized, "old timestamp")
	case !posted(r) || json.Unmarshal(raw, &m) != nil || m.ID != id || m.Type == "" || m.At == "":
		return Got{}, Say(http.StatusBadRequest, "bad body")
	}
	got := Got{ID: m.ID, Type: m.Type, Title: m.Title, Plain: m.Text}
	if m.Link != "" {
		got.Links = []string{m.Link}
	}
	return got, Play{Status: http.StatusNoContent, Heard: true}
}
