package sched

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"ax/app/fault"
)

func TestRulesOfAnHTTPTargetAreRefusedAtTheirFields(t *testing.T) {
	for name, c := range map[string]struct {
		rules HTTPRules
		field string
		says  string
	}{
		"another method":            {HTTPRules{Method: "TRACE"}, "method", "One of POST"},
		"a GET with a body":         {HTTPRules{Method: "get", Body: "{}"}, "body", "A GET has no body"},
		"a name that isn't there":   {HTTPRules{Body: `{"a":"{{order}}"}`}, "body", "{{order}} names nothing"},
		"a secret in the body":      {HTTPRules{Body: `{"a":"{{secret:PAY}}"}`}, "body", "Credentials go into headers"},
		"code":                      {HTTPRules{Body: `{"a":"{{payload.a | upper}}"}`}, "body", "names nothing"},
		"an open brace":             {HTTPRules{Body: `{"a":"{{biz_id"}`}, "body", "never closed"},
		"no JSON":                   {HTTPRules{Body: `a={{biz_id}}`}, "body", "This is not JSON"},
		"a body too long":           {HTTPRules{Body: `"` + strings.Repeat("x", 64<<10) + `"`}, "body", "At most 65536 bytes"},
		"a status of letters":       {HTTPRules{Statuses: "2xx"}, "statuses", "Statuses between 200 and 599"},
		"a range the wrong way":     {HTTPRules{Statuses: "300-200"}, "statuses", "Statuses between"},
		"a status outside":          {HTTPRules{Statuses: "100"}, "statuses", "Statuses between"},
		"a path with a space":       {HTTPRules{Field: "data code", Equals: "0"}, "field", "A path such as"},
		"a value without a field":   {HTTPRules{Equals: "0"}, "field", "Which field must be"},
		"a value of two lines":      {HTTPRules{Field: "a", Equals: "a\nb"}, "equals", "on one line"},
		"too many redirects":        {HTTPRules{Redirects: 4}, "redirects", "Between 0 and 3"},
		"a key among certificates":  {HTTPRules{CA: "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"}, "ca", "Certificates in PEM"},
		"words among certificates":  {HTTPRules{CA: "our own"}, "ca", "Certificates in PEM"},
		"a certificate as it is":    {HTTPRules{ClientCert: "-----BEGIN CERTIFICATE-----"}, "client_cert", "The name of a secret"},
		"connecting takes too long": {HTTPRules{ConnectSeconds: 31}, "connect_seconds", "The whole time limit is 30 s"},
		"encryption takes too long": {HTTPRules{TLSSeconds: 31}, "tls_seconds", "The whole time limit is 30 s"},
		"the answer takes too long": {HTTPRules{FirstByteSeconds: 31}, "first_byte_seconds", "The whole time limit is 30 s"},
		"less than no time":         {HTTPRules{ConnectSeconds: -1}, "connect_seconds", "More than 0"},
	} {
		w := written(KindCron)
		w.Target.HTTP = &c.rules
		w.Policy.TimeoutSeconds = new(30)
		_, err := w.Resolve(Task{}, defaults(), noon())
		require.Len(t, fault.Fields(err), 1, name)
		require.Equal(t, "target.http."+c.field, fault.Fields(err)[0].Name, name)
		require.Contains(t, fault.Fields(err)[0].Text.String(), c.says, name)
	}
}

func TestOnlyIdempotentWorkFollowsRedirects(t *testing.T) {
	w := written(KindCron)
	w.Target.HTTP, w.Policy.Idempotent = &HTTPRules{Redirects: 1}, new(false)
	_, err := w.Resolve(Task{}, defaults(), noon())
	require.Equal(t, "target.http.redirects", fault.Fields(err)[0].Name)
}

func TestUsualRulesAreNone(t *testing.T) {
	for _, r := range []*HTTPRules{nil, {}, {Method: " post "}} {
		w := written(KindCron)
		w.Target.HTTP = r
		got, err := w.Resolve(Task{}, defaults(), noon())
		require.NoError(t, err)
		require.Nil(t, got.Spec.Target.HTTP)
	}
	w := command()
	w.Target.HTTP = &HTTPRules{Method: "GET"}
	_, err := w.Resolve(Task{}, defaults(), noon())
	require.Equal(t, "target.http", fault.Fields(err)[0].Name)
}

func TestABodyIsFilledWithTheValuesOfTheCall(t *testing.T) {
	call := Call{
		InstanceID: "i-1", TaskCode: "close", BizID: `a"b\c`, Key: "close/a", Attempt: 3, Replay: 1,
		ScheduledAt: time.UnixMilli(1_796_000_000_123), Payload: json.RawMessage(`{"order":{"id":12345678901234567890,"lines":[{"sku":"x<y"}]},"none":null}`),
	}
	for text, want := range map[string]string{
		`{"id":"{{biz_id}}","n":{{attempt}}}`:                 `{"id":"a\"b\\c","n":3}`,
		`{"id":{{payload.order.id}}}`:                         `{"id":12345678901234567890}`,
		`{"id":"order {{payload.order.id}}!"}`:                `{"id":"order 12345678901234567890!"}`,
		`{"sku":"{{ payload.order.lines.0.sku }}"}`:           `{"sku":"x<y"}`,
		`{"all":{{payload.order.lines}}}`:                     `{"all":[{"sku":"x<y"}]}`,
		`{"text":"{{payload.order.lines}}"}`:                  `{"text":"[{\"sku\":\"x<y\"}]"}`,
		`{"gone":{{payload.gone.by}},"t":"{{payload.none}}"}`: `{"gone":null,"t":""}`,
		`{"at":"{{scheduled_at}}","a":{"b":{"c":1}}}`:         `{"at":"2026-11-30T00:53:20.123Z","a":{"b":{"c":1}}}`,
		`{"brace":"\"{{replay}}\""}`:                          `{"brace":"\"1\""}`,
	} {
		got, err := (&HTTPRules{Body: text}).FillBody(call)
		require.NoError(t, err, text)
		require.Equal(t, want, string(got))
	}
}

// Whatever the values hold, the body is JSON, and its text says what they say.
func TestNoValueBreaksABody(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		biz := rapid.String().Draw(r, "biz")
		payload, err := json.Marshal(map[string]string{"a": rapid.String().Draw(r, "a")})
		require.NoError(r, err)
		got, err := (&HTTPRules{Body: `{"b":"<{{biz_id}}>","a":{{payload.a}},"p":{{payload}}}`}).FillBody(Call{BizID: biz, Payload: payload})
		require.NoError(r, err)
		var back struct {
			B string            `json:"b"`
			A string            `json:"a"`
			P map[string]string `json:"p"`
		}
		require.NoError(r, json.Unmarshal(got, &back))
		var want map[string]string
		require.NoError(r, json.Unmarshal(payload, &want))
		require.Equal(r, want["a"], back.A)
		require.Equal(r, want, back.P)
		require.Equal(r, "<"+strings.ToValidUTF8(biz, "\ufffd")+">", back.B)
	})
}

// F30: a retry is never earlier than the policy says, nor than the target
// asks for, and the target may ask for an hour.
func TestF30ARetryWaitsAsLongAsTheTargetAsks(t *testing.T) {
	p := policyOf(true, 3)
	in := running()
	delay := p.Retry.Delay(1, in.ID)
	for wait, want := range map[time.Duration]time.Duration{0: delay, time.Second: delay, 10 * time.Minute: 10 * time.Minute, 9 * time.Hour: time.Hour} {
		e := in.Finish(Result{Outcome: OutcomeFailed, Definite: true, RetryAfter: wait}, p, noon())
		require.Equal(t, Retrying, e.To)
		require.Equal(t, ceilSecond(noon().Add(want)), e.DueAt, wait)
	}
}
