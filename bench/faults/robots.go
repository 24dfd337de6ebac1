package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"
)

// robots are the receivers of alerts, with a record of their own. Each has a
// name, which is the first part of its path and the name of its channel.
type robots struct {
	plain   string // address; the others speak TLS
	secure  string // with a certificate that the nodes trust
	foreign string // with one that they don't
	roots   string // file of what the nodes trust

	mu        sync.Mutex
	healed    bool
	receivers map[string]receiver
	heard     []heard
}

// receiver is one robot or program.
type receiver struct {
	name, kind string
	trouble    string // until it is healed: what robotAnswers knows; empty: none
	key        string // that messages are signed with; empty: unsigned
}

// heard is a message as a receiver got it.
type heard struct {
	receiver  string
	id        string // of webhooks: the event's
	event     string // of webhooks: its type
	object    string // of webhooks: the object's or the incident's id
	incidents string // ids of all incidents that it links to, by spaces
	at        int64  // epoch ms
	signed    bool   // rightly, where it must be
	taken     bool   // answered so that the sender knows
}

// startRobots opens the three servers; they end with the installation.
func (h *house) startRobots() error {
	r := &robots{receivers: map[string]receiver{}, roots: filepath.Join(h.dir, "roots.pem")}
	trusted, public, err := selfSigned()
	if err != nil {
		return err
	}
	other, _, err := selfSigned()
	if err != nil {
		return err
	}
	if err := os.WriteFile(r.roots, public, 0o600); err != nil {
		return err
	}
	for to, cert := range map[*string]*tls.Certificate{&r.plain: nil, &r.secure: trusted, &r.foreign: other} {
		if *to, err = h.serveRobots(r, cert); err != nil {
			return err
		}
	}
	h.robots = r
	return nil
}

func (h *house) serveRobots(r *robots, cert *tls.Certificate) (string, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	at := "http://" + ln.Addr().String()
	if cert != nil {
		at = "https://" + ln.Addr().String()
		ln = tls.NewListener(ln, &tls.Config{Certificates: []tls.Certificate{*cert}})
	}
	srv := &http.Server{Handler: http.HandlerFunc(r.serve), ReadHeaderTimeout: time.Minute, ErrorLog: quietLog()}
	h.undo = append(h.undo, func() { _ = srv.Close() })
	go func() { _ = srv.Serve(ln) }()
	return at, nil
}

// selfSigned makes a certificate of 127.0.0.1 that is its own root, and what a
// node reads to trust it.
func selfSigned() (*tls.Certificate, []byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	spec := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	raw, err := x509.CreateCertificate(rand.Reader, spec, spec, &key.PublicKey, key)
	if err != nil {
		return nil, nil, err
	}
	return &tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key}, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw}), nil
}

// address of a receiver at one of the servers, with what looks like a token.
func (r *robots) address(server, name string) string {
	return server + "/" + name + "/0123456789abcdef"
}

// heal ends all troubles that are the receivers' own.
func (r *robots) heal() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.healed = true
}

func (r *robots) know(x receiver) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.receivers[x.name] = x
}

// messages are all that were heard until now.
func (r *robots) messages() []heard {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]heard(nil), r.heard...)
}

// incidentLink is how messages lead to an incident.
var incidentLink = regexp.MustCompile(`/alerts/incidents/([0-9a-f-]{36})`)

func (r *robots) serve(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	name, _, _ := strings.Cut(strings.TrimPrefix(req.URL.Path, "/"), "/")
	r.mu.Lock()
	x, known := r.receivers[name]
	if r.healed {
		x.trouble = ""
	}
	if !known || err != nil {
		r.mu.Unlock()
		w.WriteHeader(http.StatusNotFound)
		return
	}
	m := x.read(req, body)
	for _, link := range incidentLink.FindAllStringSubmatch(string(body), -1) {
		m.incidents = strings.TrimSpace(m.incidents + " " + link[1])
	}
	n := len(r.heard)
	r.heard = append(r.heard, m) // before any answer
	r.mu.Unlock()

	x.answer(w, req)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.heard[n].taken = x.trouble == "" && req.Context().Err() == nil
}
