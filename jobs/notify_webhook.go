package jobs

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"ax/app/alert"
)

// webhookBody is what programs get: docs/channels.md describes it.
type webhookBody struct {
	ID     string          `json:"id"`   // of the delivery: the same at each try
	Type   string          `json:"type"` // alert.opened, …, test, digest.daily, run.failure, or an event
	At     string          `json:"at"`   // when it was decided, UTC
	Title  string          `json:"title,omitempty"`
	Text   string          `json:"text,omitempty"`
	Link   string          `json:"link,omitempty"`
	Alert  *webhookAlert   `json:"alert,omitempty"`
	Digest *alert.Summary  `json:"digest,omitempty"`
	Run    *alert.RunFacts `json:"run,omitempty"`    // of the hook of a task
	Object json.RawMessage `json:"object,omitempty"` // of events: as the API shows it
}

type webhookAlert struct {
	Incident  string          `json:"incident_id,omitempty"`
	Rule      string          `json:"rule"`
	Metric    alert.Metric    `json:"metric"`
	Unit      alert.Unit      `json:"unit,omitempty"`
	Level     alert.Level     `json:"level,omitempty"`
	Team      string          `json:"team,omitempty"`
	Scope     alert.Scope     `json:"scope"`
	Value     float64         `json:"value"`
	Worst     float64         `json:"worst"`
	Threshold float64         `json:"threshold"`
	Host      string          `json:"host,omitempty"`
	Since     *time.Time      `json:"since,omitempty"`
	EndedAt   *time.Time      `json:"ended_at,omitempty"`
	Count     int             `json:"count"`
	Members   []webhookMember `json:"members"`
	Owners    []string        `json:"owners"`
	Note      string          `json:"note,omitempty"`
}

type webhookMember struct {
	Kind     alert.SubjectKind `json:"kind"`
	Key      string            `json:"key"`
	Name     string            `json:"name,omitempty"`
	Value    float64           `json:"value"`
	Since    *time.Time        `json:"since,omitempty"`
	Detail   string            `json:"detail,omitempty"`
	Instance string            `json:"instance_id,omitempty"`
	Owner    string            `json:"owner,omitempty"`
	Level    alert.Level       `json:"level,omitempty"`
}

func (n *Notifier) toWebhook(ctx context.Context, ch alert.Channel, secret alert.ChannelSecret, to Recipients, m alert.Message) alert.Answer {
	body := encoded(webhookOf(m, m.Text(ch.Language, n.where(ch, to))))
	timestamp := strconv.FormatInt(n.o.Now().Unix(), 10)
	header := http.Header{}
	header.Set("Ax-Event-Id", m.ID)
	header.Set("Ax-Timestamp", timestamp)
	sign := SignWebhook(secret.Key, timestamp, m.ID, body)
	header.Set("Ax-Signature", sign)
	return n.post(ctx, post{
		team: ch.TeamID, url: secret.URL, header: header, body: body, secrets: []string{secret.Key, sign}, judge: byStatus,
	})
}

// SignWebhook gives the Ax-Signature of a webhook's message: HMAC-SHA256 under
// the key's text over "<epoch seconds>.<id>.<body>" in hex, after "v1=".
func SignWebhook(key, timestamp, id string, body []byte) string {
	h := hmac.New(sha256.New, []byte(key))
	h.Write([]byte(timestamp + "." + id + "."))
	h.Write(body)
	return "v1=" + hex.EncodeToString(h.Sum(nil))
}

func webhookOf(m alert.Message, t alert.Text) webhookBody {
	b := webhookBody{ID: m.ID, Type: webhookType(m), At: m.At.UTC().Format("2006-01-02T15:04:05.000Z"), Link: t.Link}
	if m.Kind == alert.Event {
		b.Object = m.Object
		if !json.Valid(b.Object) {
			b.Object = nil
		}
		return b
	}
	b.Title, b.Digest, b.Run = t.Title, m.Digest, m.Run
	lines := plainLines(t)
	if lines = append(lines, plainItems(t)...); t.More != "" {
		lines = append(lines, t.More)
	}
	b.Text = strings.Join(lines, "\n")
	if m.Rule != "" {
		b.Alert = webhookAlertOf(m)
	}
	return b
}

func webhookAlertOf(m alert.Message) *webhookAlert {
	meter, _ := alert.MeterOf(m.Metric)
	a := &webhookAlert{
		Incident: m.IncidentID, Rule: m.Rule, Metric: m.Metric, Unit: meter.Unit, Level: m.Level, Team: m.Team, Scope: m.Scope,
		Value: finite(m.Value), Worst: finite(m.Worst), Threshold: finite(m.Threshold), Host: m.Host, Since: present(m.Since), EndedAt: present(m.EndedAt),
		Count: max(m.Count, len(m.Members)), Members: []webhookMember{}, Owners: append([]string{}, m.Mention...), Note: m.Note,
	}
	for _, x := range m.Members {
		a.Members = append(a.Members, webhookMember{
			Kind: x.Subject.Kind, Key: x.Subject.Key, Name: x.Subject.Name, Value: finite(x.Value), Since: present(x.Since),
			Detail: firstRunes(x.Detail, maxLine), Instance: x.Instance, Owner: x.Owner, Level: x.Level,
		})
	}
	return a
}

// webhookType is what a program tells messages apart by.
func webhookType(m alert.Message) string {
	switch {
	case m.Kind == alert.Event, m.Kind == alert.Summing && m.Event != "":
		return string(m.Event)
	case m.Kind == alert.Ran && m.Run != nil:
		return "run." + string(m.Run.On)
	case m.Kind == alert.Test, m.Kind == alert.Summing:
		return string(m.Kind)
	}
	return "alert." + string(m.Kind)
}

// finite is a number that JSON has a form for.
func finite(v float64) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return v
}

// present is a time in UTC that is left out when there is none.
func present(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC().Truncate(time.Millisecond)
	return &t
}
