package alert_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"ax/app/alert"
)

func TestACauseIsWhatFailuresHaveInCommon(t *testing.T) {
	t.Parallel()
	const host = "pay.example.com:8443"
	for name, tt := range map[string]struct {
		outcome string
		status  int
		text    string
		want    string
	}{
		"refused":         {"failed", 0, "dial tcp 10.0.0.7:8443: connect: connection refused", "unreachable " + host},
		"no route":        {"failed", 0, "dial tcp 10.0.0.7:8443: connect: no route to host", "unreachable " + host},
		"no such name":    {"failed", 0, "host pay.example.com can't be resolved: no such host", "unreachable " + host},
		"name server out": {"failed", 0, "host pay.example.com can't be resolved: server misbehaving", "unreachable " + host},
		"certificate":     {"failed", 0, "tls: failed to verify certificate: x509: certificate has expired or is not yet valid: current time 2026-12-01T12:00:00Z is after 2026-11-30T00:00:00Z", "unreachable " + host},
		"no tls":          {"failed", 0, "tls: first record does not look like a TLS handshake", "unreachable " + host},
		"reset":           {"failed", 0, "read tcp 10.0.0.2:41234->10.0.0.7:8443: read: connection reset by peer", "unreachable " + host},
		"closed":          {"failed", 0, "the target closed the connection without a whole answer", "unreachable " + host},
		"silent":          {"timed_out", 0, "no answer in time", "unreachable " + host},
		"no connection":   {"timed_out", 0, "no connection in time", "unreachable " + host},
		"no receipt":      {"timed_out", 0, "no receipt came in time", "unreachable " + host},

		"500":                {"failed", 500, "answered 500 Internal Server Error: NullPointerException at Pay.java:17", "5xx " + host},
		"502 without status": {"failed", 0, "answered 502 Bad Gateway", "5xx " + host},
		"503":                {"failed", 503, "answered 503 Service Unavailable", "5xx " + host},
		"500 broke off":      {"failed", 0, "answer 500 Internal Server Error broke off after 12 bytes: unexpected EOF", "5xx " + host},

		"404":               {"failed", 404, "answered 404 Not Found: no order 4711", "404 " + host + " answered # not found: no order #"},
		"404, another":      {"failed", 404, "answered 404 Not Found: no order 4712", "404 " + host + " answered # not found: no order #"},
		"422 with an id":    {"failed", 422, `answered 422 Unprocessable Entity: {"order":"0198a2b4-5c6d-7e8f-9a0b-1c2d3e4f5a6b"}`, "422 " + host + " answered # unprocessable entity: #"},
		"quoted":            {"failed", 0, `report "daily sales of Tuesday" is not ready`, host + " report # is not ready"},
		"quoted otherwise":  {"failed", 0, `report "weekly" is not ready`, host + " report # is not ready"},
		"a date":            {"failed", 0, "no rates for Tue, 01 Dec 2026 yet", host + " no rates for # yet"},
		"an apostrophe":     {"failed", 0, "can't lock the file", host + " can't lock the file"},
		"Chinese":           {"failed", 0, "余额不足 订单 10086", host + " 余额不足 订单 #"},
		"blocked by a rule": {"failed", 0, "169.254.169.254 is not a target that is allowed", host + " # is not a target that is allowed"},
		"died":              {"lost", 0, "its node died three times: it is suspected of killing it", "lost " + host + " its node died three times: it is suspected of killing it"},
		"nothing is said":   {"failed", 0, "", host},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, alert.CauseOf(host, tt.outcome, tt.status, tt.text))
			require.Empty(t, alert.CauseOf("", tt.outcome, tt.status, tt.text), "no host, nothing in common")
		})
	}
}

func TestTheHostOfATargetHasItsPort(t *testing.T) {
	t.Parallel()
	for target, want := range map[string]string{
		"https://Pay.Example.com/settle?x=1": "pay.example.com", "http://10.0.0.7:8080/run": "10.0.0.7:8080",
		"http://[fd00::7]:80/": "[fd00::7]:80", "": "", "://": "", "kafka:topic": "",
	} {
		require.Equal(t, want, alert.HostOf(target), target)
	}
}
