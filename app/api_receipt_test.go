package app_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/sched"
)

// accepted makes an instance that awaits its receipt.
func (h *house) accepted(code, bizID string) sched.Instance {
	h.t.Helper()
	v := h.run(h.trigger(code, bizID).ID, sched.Result{Outcome: sched.OutcomeAccepted, Definite: true, StatusCode: 202})
	require.Equal(h.t, sched.Awaiting, v.State)
	return v.Instance
}

func receiptPath(id string) string { return v1 + "/instances/" + id + "/receipt" }

func TestAReceiptEndsAcceptedWork(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send")
	target := h.browser()

	first := h.accepted("orders.send", "o-1")
	token := h.signer.ReceiptToken(first.ID, 1)
	got := target.wants(receiptPath(first.ID), `{"token": "`+token+`", "outcome": "succeeded", "message": "1,204 rows settled"}`, 200)
	require.JSONEq(t, `{"state": "succeeded", "already": false}`, got.body)
	require.Equal(t, "succeeded", h.api(access.Viewer).instance(first.ID).State)

	// Sent again, or too late with another word: nothing moves.
	for _, outcome := range []string{"succeeded", "failed"} {
		got = target.wants(receiptPath(first.ID), `{"token": "`+token+`", "outcome": "`+outcome+`"}`, 200)
		require.JSONEq(t, `{"state": "succeeded", "already": true}`, got.body)
	}

	second := h.accepted("orders.send", "o-2")
	header := target.with("Ax-Receipt-Token", h.signer.ReceiptToken(second.ID, 1))
	got = header.wants(receiptPath(second.ID), `{"outcome": "failed", "message": "bank offline"}`, 200)
	require.JSONEq(t, `{"state": "failed", "already": false}`, got.body)
	in := h.api(access.Viewer).instance(second.ID)
	require.NotNil(t, in.DeadLetter)
	require.Equal(t, "192.0.2.1", in.Events[len(in.Events)-1].Actor)
}

func TestAWrongReceiptLooksLikeNoInstance(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send")
	in, other := h.accepted("orders.send", "o-1"), h.accepted("orders.send", "o-2")
	good := h.signer.ReceiptToken(in.ID, 1)
	missing := newID()
	target := h.browser()
	want := target.with("Ax-Receipt-Token", h.signer.ReceiptToken(missing, 1)).wants(receiptPath(missing), `{"outcome": "succeeded"}`, 404).problem()
	for name, row := range map[string]struct{ id, token, rest string }{
		"forged":                          {in.ID, "1.AAAA", ``},
		"of another instance":             {in.ID, h.signer.ReceiptToken(other.ID, 1), ``},
		"of attempt 0":                    {in.ID, strings.Replace(good, "1.", "0.", 1), ``},
		"with more digits":                {in.ID, "0" + good, ``},
		"cut":                             {in.ID, good[:len(good)-1], ``},
		"for an id that is none":          {"nonesuch", good, ``},
		"forged, with a body as it likes": {in.ID, "1.AAAA", `, "outcome": 7, "x": 1`},
		"a bearer token":                  {in.ID, h.token(access.Owner), ``},
	} {
		body := `{"token": "` + row.token + `", "outcome": "succeeded"}`
		if row.rest != "" {
			body = `{"token": "` + row.token + `"` + row.rest + `}`
		}
		got := target.json("POST", receiptPath(row.id), body)
		require.Equal(t, 404, got.status, "%s: %s", name, got.body)
		require.Equal(t, want.Detail, got.problem().Detail, name)
		got = target.with("Ax-Receipt-Token", row.token).json("POST", receiptPath(row.id), `{"outcome": "succeeded"}`)
		require.Equal(t, 404, got.status, "%s in the header: %s", name, got.body)
		require.Equal(t, want.Detail, got.problem().Detail, name)
	}
	for name, body := range map[string]string{"no token": `{"outcome": "succeeded"}`, "nothing": "", "no JSON": "{", "another type": `{"token": 7}`} {
		got := target.json("POST", receiptPath(in.ID), body)
		require.Equal(t, 401, got.status, "%s: %s", name, got.body)
		require.Equal(t, `Receipt realm="ax"`, got.header.Get("WWW-Authenticate"))
	}
	require.Equal(t, "awaiting", h.api(access.Viewer).instance(in.ID).State)
}

func TestAReceiptIsReadStrictlyOnceItsTokenIsGood(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send")
	in := h.accepted("orders.send", "o-1")
	good := h.signer.ReceiptToken(in.ID, 1)
	for body, fields := range map[string][]string{
		`{"outcome": "lost"}`:                    {"outcome"},
		`{}`:                                     {"outcome"},
		`{"outcome": "succeeded", "state": "x"}`: {"state"},
		`{"outcome": "succeeded", "outcome": "failed"}`: {"outcome"},
		`{"outcome": 7}`: {"outcome"},
		`{"token": "1.AAAA", "outcome": "succeeded"}`:          {"token"},
		`{"Token": "1.AAAA", "outcome": "succeeded"}`:          {"Token"},
		`{"outcome": "succeeded", "message": {"html": "<b>"}}`: {"message"},
	} {
		got := h.browser().with("Ax-Receipt-Token", good).json("POST", receiptPath(in.ID), body)
		require.Equal(t, 422, got.status, body)
		require.Equal(t, fields, got.fields(), body)
	}
	require.Equal(t, 400, h.browser().with("Ax-Receipt-Token", good).json("POST", receiptPath(in.ID), "{").status)
	require.Equal(t, []string{"attempt"}, h.browser().with("Ax-Receipt-Token", good).json("POST", receiptPath(in.ID)+"?attempt=2", `{"outcome": "succeeded"}`).fields())
	require.Equal(t, "awaiting", h.api(access.Viewer).instance(in.ID).State)
	late := h.browser().with("Ax-Receipt-Token", h.signer.ReceiptToken(in.ID, 2))
	require.Equal(t, "Attempt 2 was never made", late.wants(receiptPath(in.ID), `{"outcome": "succeeded"}`, 409).problem().Detail)
}

// endless is a body of 500 MB that counts what is read of it.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	if e.read >= 500<<20 {
		return 0, io.EOF
	}
	for i := range p {
		p[i] = 'x'
	}
	e.read += len(p)
	return len(p), nil
}

// BIG-03: a large body without a token costs nothing.
func TestALargeReceiptIsNotRead(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send")
	in := h.accepted("orders.send", "o-1")
	for name, row := range map[string]struct {
		token          string
		said           int64
		status, atMost int
	}{
		"with its length":                {"", 500 << 20, 413, 0},
		"without":                        {"", -1, 413, 64 << 10},
		"without, forged in the header":  {"1.AAAA", -1, 404, 0},
		"without, but with a good token": {h.signer.ReceiptToken(in.ID, 1), -1, 413, 64 << 10},
	} {
		body := &endless{}
		r := httptest.NewRequest(http.MethodPost, receiptPath(in.ID), body)
		r.ContentLength, r.RemoteAddr = row.said, "192.0.2.1:4711"
		if row.token != "" {
			r.Header.Set("Ax-Receipt-Token", row.token)
		}
		got := h.browser().send(r)
		require.Equal(t, row.status, got.status, "%s: %s", name, got.body)
		require.LessOrEqual(t, body.read, row.atMost, name)
		require.NotEmpty(t, got.problem().Detail)
	}
	r := httptest.NewRequest(http.MethodPost, v1+"/tasks", &endless{})
	r.ContentLength = -1
	require.Equal(t, 401, h.browser().send(r).status, "nothing is read before it is known whose it is")
}

// Guessing receipts is slowed down by address; others go on.
func TestGuessingReceiptsIsLimited(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send")
	in := h.accepted("orders.send", "o-1")
	good := `{"token": "` + h.signer.ReceiptToken(in.ID, 1) + `", "outcome": "succeeded"}`
	statuses := map[int]int{}
	for range 150 {
		statuses[h.browser().json("POST", receiptPath(in.ID), `{"token": "1.AAAA"}`).status]++
	}
	require.Equal(t, map[int]int{404: 100, 429: 50}, statuses)
	require.Equal(t, "1", h.browser().wants(receiptPath(in.ID), good, 429).header.Get("Retry-After"))
	elsewhere := h.browser()
	elsewhere.address = "192.0.2.99:1"
	elsewhere.wants(receiptPath(in.ID), good, 200)
}
