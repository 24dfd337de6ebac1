package jobs_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/alert"
	"ax/jobs"
	"ax/jobs/robottest"
)

// The signature of a webhook, computed by
// printf '1599360473.d-1.{"id":"d-1"}' | openssl dgst -sha256 -hmac whsec-test -hex
func TestAWebhookIsSignedAsTheDocumentSays(t *testing.T) {
	t.Parallel()
	require.Equal(t, "v1=457156b859c003474b99c7a31665afda2b5a39c6f5cde8515393f8425abaccf1",
		jobs.SignWebhook("whsec-test", "1599360473", "d-1", []byte(`{"id":"d-1"}`)))
	x := tellerOf(t, alert.Webhook)
	require.Equal(t, alert.Accepted, x.send(t.Context(), failing("a")).Verdict)
	h := x.Got()[0].Header
	require.Equal(t, "0193b1f0-aaaa", h.Get("Ax-Event-Id"))
	require.Equal(t, "1599360473", h.Get("Ax-Timestamp"))
	require.Equal(t, "ax/1.2.3", h.Get("User-Agent"))
	require.Equal(t, jobs.SignWebhook(hookKey, "1599360473", "0193b1f0-aaaa", x.Got()[0].Raw), h.Get("Ax-Signature"))
	x.secret.Key = "another"
	a := x.send(t.Context(), failing("a"))
	require.Equal(t, alert.GiveUp, a.Verdict)
	require.Equal(t, "bad signature", a.Body)
}

func TestAWebhookGetsTheFacts(t *testing.T) {
	t.Parallel()
	x := tellerOf(t, alert.Webhook)
	m := failing(`a"b`)
	m.Value = math.NaN()
	require.Equal(t, alert.Accepted, x.send(t.Context(), m).Verdict)
	require.JSONEq(t, `{
		"id": "0193b1f0-aaaa", "type": "alert.opened", "at": "2020-09-06T02:47:53.000Z",
		"title": "[P1] Failures in a row: a\"b fails",
		"text": "Value: –, threshold 3\nSince: 2020-09-06 01:47 UTC+00:00 (1 h)\nTeam: payments\nOwner: ana, bo\n• a\"b: 7\n   error \"x\"",
		"link": "https://ax.example.org/alerts/incidents/0193b1f0-bbbb",
		"alert": {
			"incident_id": "0193b1f0-bbbb", "rule": "Failures in a row", "metric": "failures_in_row", "unit": "count", "level": "p1", "team": "payments",
			"scope": {"kind": "all"}, "value": 0, "worst": 9, "threshold": 3, "since": "2020-09-06T01:47:53Z", "count": 1,
			"members": [{"kind": "task", "key": "a\"b", "value": 7, "detail": "error \"x\""}], "owners": ["ana", "bo"]
		}}`, string(x.Got()[0].Raw))
}

func TestAWebhookTellsMessagesApartByType(t *testing.T) {
	t.Parallel()
	object := json.RawMessage(`{"id":"i-1","state":"failed"}`)
	for want, m := range map[string]alert.Message{
		"alert.closed":      {ID: "1", Kind: alert.Closed, Rule: "r"},
		"alert.repeated":    {ID: "1", Kind: alert.Repeated, Rule: "r"},
		"test":              {ID: "1", Kind: alert.Test},
		"digest.daily":      {ID: "1", Kind: alert.Summing, Event: alert.DigestDaily, Digest: &alert.Summary{Good: 4}},
		"digest.weekly":     {ID: "1", Kind: alert.Summing, Event: alert.DigestWeekly, Digest: &alert.Summary{}},
		"instance.finished": {ID: "1", Kind: alert.Event, Event: alert.InstanceFinished, Object: object},
		"letter.opened":     {ID: "1", Kind: alert.Event, Event: alert.LetterOpened, Object: json.RawMessage(`{broken`)},
	} {
		x := tellerOf(t, alert.Webhook)
		m.At = toldAt
		require.Equal(t, alert.Accepted, x.send(t.Context(), m).Verdict, want)
		got := x.Got()[0]
		require.Equal(t, want, got.Type)
		var body struct{ Object, Digest, Alert json.RawMessage }
		require.NoError(t, json.Unmarshal(got.Raw, &body))
		require.Equal(t, want == "instance.finished", body.Object != nil, want)
		require.Equal(t, strings.HasPrefix(want, "digest"), body.Digest != nil, want)
		require.Equal(t, strings.HasPrefix(want, "alert"), body.Alert != nil, want)
		if body.Object != nil {
			require.JSONEq(t, string(object), string(body.Object))
		}
	}
}

func TestAWebhookGetsSeveralInOrderUntilOneIsNotTaken(t *testing.T) {
	t.Parallel()
	x := tellerOf(t, alert.Webhook)
	var all []alert.Message
	for i := range 4 {
		m := failing("a")
		m.ID = fmt.Sprint("d-", i)
		all = append(all, m)
	}
	x.Play(robottest.Play{Status: 200, Heard: true}, robottest.Play{Status: 503, Header: map[string]string{"Retry-After": "Sun, 06 Sep 2020 02:49:53 GMT"}})
	a := x.send(t.Context(), all...)
	require.Equal(t, alert.Again, a.Verdict)
	require.Equal(t, 2*time.Minute, a.Wait)
	require.Equal(t, 2, x.Seen())
	require.Equal(t, alert.Accepted, x.send(t.Context(), all[1:]...).Verdict)
	var ids []string
	for _, g := range x.Got() {
		ids = append(ids, g.ID)
	}
	require.Equal(t, []string{"d-0", "d-1", "d-2", "d-3"}, ids)
}

func TestOnlyWhatIsTriedAgainWaits(t *testing.T) {
	t.Parallel()
	for after, want := range map[string]time.Duration{"30": 30 * time.Second, "-5": 0, "9999999999999": time.Hour, "soon": 0, "Sun, 06 Sep 2020 02:40:00 GMT": 0} {
		x := tellerOf(t, alert.Webhook)
		x.Play(robottest.Play{Status: 429, Header: map[string]string{"Retry-After": after}}, robottest.Play{Status: 410, Header: map[string]string{"Retry-After": after}})
		require.Equal(t, want, x.send(t.Context(), failing("a")).Wait, after)
		require.Zero(t, x.send(t.Context(), failing("a")).Wait, after)
	}
}
