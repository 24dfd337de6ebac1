package robottest

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"net"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// MailOptions of a mail server. The zero value takes mail of everybody, without
// TLS.
type MailOptions struct {
	Username, Password string            // empty: nobody has to sign in
	TLS                string            // "starttls", "tls" or ""
	Refuse             map[string]string // beginning of a command → reply, such as "RCPT TO:<bo@" → "550 5.1.1 unknown"
}

// Mail is a mail that was taken.
type Mail struct {
	From string
	To   []string
	Data string // header and body as they came
}

// MailServer is an SMTP server for tests.
type MailServer struct {
	Addr string
	Pool *x509.CertPool // trusts its certificate
	o    MailOptions
	cert tls.Certificate

	mu  sync.Mutex
	got []Mail
}

// NewMail starts a mail server on loopback.
func NewMail(t testing.TB, o MailOptions) *MailServer {
	t.Helper()
	with := httptest.NewTLSServer(nil) // for its certificate
	s := &MailServer{o: o, cert: with.TLS.Certificates[0], Pool: x509.NewCertPool()}
	s.Pool.AddCert(with.Certificate())
	with.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.Addr = l.Addr().String()
	var open sync.WaitGroup
	t.Cleanup(func() { _ = l.Close(); open.Wait() })
	open.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			open.Go(func() { s.serve(c) })
		}
	})
	return s
}

// Got are the mails that were taken.
func (s *MailServer) Got() []Mail {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Mail(nil), s.got...)
}

// mailTalk is one connection.
type mailTalk struct {
	s      *MailServer
	c      net.Conn
	r      *bufio.Reader
	secure bool
	signed bool
	mail   Mail
}

func (s *MailServer) serve(c net.Conn) {
	if s.o.TLS == "tls" {
		c = tls.Server(c, &tls.Config{Certificates: []tls.Certificate{s.cert}, MinVersion: tls.VersionTLS12})
	}
	talk := &mailTalk{s: s, c: c, r: bufio.NewReader(c), secure: s.o.TLS == "tls"}
	defer func() { _ = talk.c.Close() }()
	talk.say("220 mail.test ESMTP")
	for {
		line, err := talk.r.ReadString('\n')
		if err != nil || !talk.command(strings.TrimRight(line, "\r\n")) {
			return
		}
	}
}

func (m *mailTalk) say(line string) { _, _ = m.c.Write([]byte(line + "\r\n")) }

// command answers one command; false ends the connection.
func (m *mailTalk) command(line string) bool {
	for start, reply := range m.s.o.Refuse {
		if strings.HasPrefix(strings.ToUpper(line), strings.ToUpper(start)) {
			if reply == "" {
				return false
			}
			m.say(reply)
			return true
		}
	}
	verb, rest, _ := strings.Cut(line, " ")
	switch strings.ToUpper(verb) {
	case "EHLO", "HELO":
		m.hello()
	case "STARTTLS":
		m.say("220 go ahead")
		m.c = tls.Server(m.c, &tls.Config{Certificates: []tls.Certificate{m.s.cert}, MinVersion: tls.VersionTLS12})
		m.r, m.secure = bufio.NewReader(m.c), true
	case "AUTH":
		m.auth(rest)
	case "MAIL":
		if m.s.o.Username != "" && !m.signed {
			m.say("530 5.7.0 Authentication required")
			return true
		}
		m.mail = Mail{From: bracketed(rest)}
		m.say("250 2.1.0 ok")
	case "RCPT":
		m.mail.To = append(m.mail.To, bracketed(rest))
		m.say("250 2.1.5 ok")
	case "DATA":
		return m.data()
	case "RSET", "NOOP":
		m.say("250 2.0.0 ok")
	case "QUIT":
		m.say("221 2.0.0 bye")
		return false
	default:
		m.say("502 5.5.2 unknown command")
	}
	return true
}

func (m *mailTalk) hello() {
	lines := []string{"mail.test", "8BITMIME", "ENHANCEDSTATUSCODES"}
	if m.s.o.TLS == "starttls" && !m.secure {
		lines = append(lines, "STARTTLS")
	}
	if m.s.o.Username != "" {
		lines = append(lines, "AUTH PLAIN")
	}
	for i, l := range lines {
		sep := "-"
		if i == len(lines)-1 {
			sep = " "
		}
		m.say("250" + sep + l)
	}
}

func (m *mailTalk) auth(rest string) {
	_, encoded, _ := strings.Cut(rest, " ")
	plain, _ := base64.StdEncoding.DecodeString(encoded)
	if string(plain) != "\x00"+m.s.o.Username+"\x00"+m.s.o.Password {
		m.say("535 5.7.8 Authentication credentials invalid")
		return
	}
	m.signed = true
	m.say("235 2.7.0 ok")
}

func (m *mailTalk) data() bool {
	m.say("354 go ahead")
	var b strings.Builder
	for {
		line, err := m.r.ReadString('\n')
		if err != nil {
			return false
		}
		if line == ".\r\n" {
			break
		}
		b.WriteString(strings.TrimPrefix(line, "."))
	}
	m.mail.Data = b.String()
	m.s.mu.Lock()
	m.s.got = append(m.s.got, m.mail)
	m.s.mu.Unlock()
	m.say("250 2.0.0 queued as " + "4bX")
	return true
}

func bracketed(s string) string {
	_, s, _ = strings.Cut(s, "<")
	s, _, _ = strings.Cut(s, ">")
	return s
}
