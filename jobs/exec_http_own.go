package jobs

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"

	"ax/app/access"
	"ax/app/sched"
)

// transportOf is the transport of a call. Idempotent work goes by kept
// connections of its team. Other work gets a connection of its own: a target
// may close a kept one just as a call is written, and over HTTP/2 nobody knows
// which bytes were of which call, so whether it was sent would not be sure.
func (h *HTTP) transportOf(ctx context.Context, call sched.Call, to access.Destination) (*http.Transport, error) {
	key := poolKey{once: !call.Idempotent}
	if call.Idempotent {
		key.team = call.TeamID
	}
	var ca string
	var cert []byte
	if r := call.Target.HTTP; r != nil && (r.CA != "" || r.ClientCert != "") {
		var err error
		if cert, err = h.clientCert(ctx, call, to); err != nil {
			return nil, fmt.Errorf("certificate %s: %w", r.ClientCert, err)
		}
		ca = r.CA
		key.own = sha256.Sum256(fmt.Appendf(nil, "%s\n%s", cert, ca))
	}
	return h.pools.of(key, func() (*http.Transport, error) {
		d, err := h.dialer(ca, cert)
		switch {
		case err != nil:
			return nil, err
		case key.once:
			return single(d.transport()), nil
		}
		return d.kept(d.transport()), nil
	})
}

// dialer connects with the certificates of a target, where it has its own.
func (h *HTTP) dialer(ca string, cert []byte) (*dialer, error) {
	roots := h.o.RootCAs
	if ca != "" {
		roots = x509.NewCertPool()
		if !roots.AppendCertsFromPEM([]byte(ca)) {
			return nil, errors.New("the target's own certificates can't be read")
		}
	}
	if len(cert) == 0 {
		return newDialer(h.o.Egress, roots, h.o.Resolve), nil
	}
	own, err := tls.X509KeyPair(cert, cert)
	if err != nil {
		return nil, err
	}
	return newDialer(h.o.Egress, roots, h.o.Resolve, own), nil
}

// clientCert opens the team's secret that holds a certificate and its key, in
// PEM; nil: the call shows none. A secret is a line, so it is in base64.
func (h *HTTP) clientCert(ctx context.Context, call sched.Call, to access.Destination) ([]byte, error) {
	name := call.Target.HTTP.ClientCert
	if name == "" {
		return nil, nil
	}
	if h.o.Secrets == nil {
		return nil, errors.New("this process opens no secrets")
	}
	plain, err := h.o.Secrets.Reveal(ctx, call.TeamID, name, to)
	if err != nil {
		return nil, err
	}
	both, err := base64.StdEncoding.DecodeString(plain)
	if err != nil {
		return nil, errors.New("it must be the certificate and its key in PEM, in base64")
	}
	if _, err := tls.X509KeyPair(both, both); err != nil {
		return nil, errors.New("it must be the certificate and its key in PEM, in base64: they can't be read, or don't belong together")
	}
	return both, nil
}
