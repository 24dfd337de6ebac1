package jobs_test

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	netmail "net/mail"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/alert"
	"ax/jobs"
	"ax/jobs/robottest"
)

const mailPassword = "canary-mail-password"

// mailer sends through a mail server of the options.
func mailer(t *testing.T, o robottest.MailOptions, change ...func(*jobs.NotifierOptions)) (*robottest.MailServer, func(to []string, messages ...alert.Message) alert.Answer) {
	t.Helper()
	s := robottest.NewMail(t, o)
	n := jobs.NotifierOptions{
		Egress: jobs.NewEgress(jobs.EgressPolicy{}), // it isn't asked: the server is the operator's own
		Now:    toldNow, Base: "https://ax.example.org", RootCAs: s.Pool,
		Mail: jobs.MailOptions{Addr: s.Addr, Username: o.Username, Password: o.Password, From: "ax <ax@example.org>", TLS: o.TLS},
	}
	if n.Mail.TLS == "" {
		n.Mail.TLS = "none"
	}
	for _, c := range change {
		c(&n)
	}
	sender := jobs.NewNotifier(n)
	return s, func(to []string, messages ...alert.Message) alert.Answer {
		return sender.Send(t.Context(), alert.Channel{Kind: alert.Email, Language: "en", Mention: alert.MentionOwner}, alert.ChannelSecret{}, jobs.Recipients{Addresses: to}, messages)
	}
}

// parts of a mail by their type.
func parts(t *testing.T, m robottest.Mail) (netmail.Header, map[string]string) {
	t.Helper()
	got, err := netmail.ReadMessage(strings.NewReader(m.Data))
	require.NoError(t, err)
	kind, params, err := mime.ParseMediaType(got.Header.Get("Content-Type"))
	require.NoError(t, err)
	require.Equal(t, "multipart/alternative", kind)
	out := map[string]string{}
	r := multipart.NewReader(got.Body, params["boundary"])
	for {
		p, err := r.NextRawPart()
		if errors.Is(err, io.EOF) {
			return got.Header, out
		}
		require.NoError(t, err)
		text, err := io.ReadAll(quotedprintable.NewReader(p))
		require.NoError(t, err)
		kind, _, _ := strings.Cut(p.Header.Get("Content-Type"), ";")
		out[kind] = strings.ReplaceAll(string(text), "\r\n", "\n")
	}
}

func TestAMailSaysTheSameInPlainAndHTML(t *testing.T) {
	t.Parallel()
	for _, tls := range []string{"starttls", "tls", ""} {
		s, send := mailer(t, robottest.MailOptions{Username: "ax", Password: mailPassword, TLS: tls})
		m := failing(`对账"A"\任务 <b>`, "other")
		a := send([]string{"ana@example.org"}, m)
		require.Equal(t, alert.Accepted, a.Verdict, "%q %+v", tls, a)
		require.Len(t, s.Got(), 1)
		require.Equal(t, "ax@example.org", s.Got()[0].From)
		require.Equal(t, []string{"ana@example.org"}, s.Got()[0].To)
		header, text := parts(t, s.Got()[0])
		subject, err := new(mime.WordDecoder).DecodeHeader(header.Get("Subject"))
		require.NoError(t, err)
		require.Equal(t, "[P1] Failures in a row: 2 tasks fail", subject)
		require.Equal(t, "<0193b1f0-aaaa@example.org>", header.Get("Message-Id"))
		require.Equal(t, "<0193b1f0-bbbb@example.org>", header.Get("References"))
		require.Equal(t, "auto-generated", header.Get("Auto-Submitted"))
		require.Equal(t, toldAt.Format(time.RFC1123Z), header.Get("Date"))
		require.Contains(t, text["text/plain"], "Value: 7, threshold 3\nSince: 2020-09-06 01:47 UTC+00:00 (1 h)\nTeam: payments\nOwner: ana, bo\n\n• 对账\"A\"\\任务 <b>: 7\n   error \"x\"\n")
		require.Contains(t, text["text/plain"], "Open in ax: https://ax.example.org/alerts/incidents/0193b1f0-bbbb")
		require.Contains(t, text["text/html"], `<li>对账&#34;A&#34;\任务 &lt;b&gt;: 7<br>`)
		require.Contains(t, text["text/html"], `<a href="https://ax.example.org/alerts/incidents/0193b1f0-bbbb">Open in ax</a>`)
	}
}

func TestAMailServersAnswerIsJudged(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		refuse  map[string]string
		verdict alert.Verdict
		status  int
		body    string
	}{
		"greeting closed":    {map[string]string{"EHLO": ""}, alert.Again, 0, "closed the connection"},
		"not now":            {map[string]string{"MAIL": "451 4.3.0 later"}, alert.Again, 451, "later"},
		"mailbox full":       {map[string]string{"RCPT": "452 4.2.2 full"}, alert.Again, 452, "full"},
		"unknown":            {map[string]string{"RCPT": "550 5.1.1 no such user"}, alert.GiveUp, 550, "no such user"},
		"refused text":       {map[string]string{"DATA": "554 5.7.1 spam"}, alert.GiveUp, 554, "spam"},
		"reset after taking": {map[string]string{"RSET": "500 5.5.1 what"}, alert.Accepted, 250, ""},
	} {
		_, send := mailer(t, robottest.MailOptions{Refuse: c.refuse})
		a := send([]string{"ana@example.org"}, failing("a"))
		require.Equal(t, c.verdict, a.Verdict, "%s: %+v", name, a)
		require.Equal(t, c.status, a.Status, "%s: %+v", name, a)
		require.Contains(t, a.Body, c.body, name)
	}
}

// The operator's faults are waited for, and told as such.
func TestAWrongMailServerIsTheInstallationsFault(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		o      robottest.MailOptions
		change func(*jobs.NotifierOptions)
		want   string
	}{
		"password":   {robottest.MailOptions{Username: "ax", Password: mailPassword, TLS: "starttls"}, func(o *jobs.NotifierOptions) { o.Mail.Password = "canary-other" }, "the mail server refuses this installation's user or password"},
		"no account": {robottest.MailOptions{Username: "ax", Password: mailPassword, TLS: "starttls"}, func(o *jobs.NotifierOptions) { o.Mail.Username = "" }, "Authentication required"},
		"no server":  {robottest.MailOptions{}, func(o *jobs.NotifierOptions) { o.Mail.Addr = "" }, "this installation has no mail server: mail.addr is empty"},
		"sender":     {robottest.MailOptions{}, func(o *jobs.NotifierOptions) { o.Mail.From = "ax" }, "mail.from is no address"},
		"no TLS":     {robottest.MailOptions{}, func(o *jobs.NotifierOptions) { o.Mail.TLS = "starttls" }, "STARTTLS"},
		"certificate": {robottest.MailOptions{TLS: "starttls"}, func(o *jobs.NotifierOptions) {
			o.Mail.Addr = strings.Replace(o.Mail.Addr, "127.0.0.1", "localhost", 1)
		}, "the receiver's certificate can't be trusted: it isn't for localhost"},
		"nobody there": {robottest.MailOptions{}, func(o *jobs.NotifierOptions) { o.Mail.Addr = "127.0.0.1:1" }, "refuses connections"},
	} {
		s, send := mailer(t, c.o, c.change)
		a := send([]string{"ana@example.org"}, failing("a"))
		require.Equal(t, alert.Again, a.Verdict, "%s: %+v", name, a)
		require.Contains(t, a.Body, c.want, name)
		require.NotContains(t, fmt.Sprintf("%+v", a), "canary", name)
		require.Empty(t, s.Got(), name)
	}
}

// One address that is refused must not keep the others from being told.
func TestEachAddressGetsItsOwnMail(t *testing.T) {
	t.Parallel()
	s, send := mailer(t, robottest.MailOptions{Refuse: map[string]string{"RCPT TO:<bo@": "550 5.1.1 no such user"}})
	a := send([]string{"ana@example.org", "bo@example.org", "cy@example.org"}, failing("a"))
	require.Equal(t, alert.Accepted, a.Verdict)
	require.Contains(t, a.Body, "taken for 2 of 3 addresses")
	require.Contains(t, a.Body, "bo@example.org")
	require.Len(t, s.Got(), 2)
	require.Equal(t, []string{"cy@example.org"}, s.Got()[1].To)
	require.Equal(t, alert.GiveUp, send([]string{"bo@example.org"}, failing("a")).Verdict)
	require.Equal(t, alert.GiveUp, send(nil, failing("a")).Verdict)
}

func TestNoTextBecomesAHeader(t *testing.T) {
	t.Parallel()
	s, send := mailer(t, robottest.MailOptions{})
	m := failing("a\r\nBcc: evil@example.org\r\n\r\nbody")
	m.Rule, m.ID, m.IncidentID = "x\r\nX-Evil: 1\n.\r\n", "a>\r\nX-Evil: 2", "b\nX-Evil: 3"
	require.Equal(t, alert.Accepted, send([]string{"ana@example.org"}, m).Verdict)
	require.Equal(t, alert.GiveUp, send([]string{"ana@example.org>\r\nRCPT TO:<evil@example.org"}, m).Verdict)
	require.Len(t, s.Got(), 1)
	header, _ := parts(t, s.Got()[0])
	require.Empty(t, header.Get("Bcc"))
	require.Empty(t, header.Get("X-Evil"))
	require.Equal(t, []string{"ana@example.org"}, s.Got()[0].To)
}
