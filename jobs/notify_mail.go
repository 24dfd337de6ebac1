package jobs

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"html"
	"net"
	netmail "net/mail"
	"net/textproto"
	"strconv"
	"strings"

	"github.com/wneessen/go-mail"

	"ax/app/alert"
)

// MailOptions are the operator's mail server. The address rules of calls don't
// apply to it.
type MailOptions struct {
	Addr     string `yaml:"addr"` // host:port; empty: there is none
	Username string `yaml:"username"`
	Password string `yaml:"password" mask:"whole"`
	From     string `yaml:"from"` // an address, with or without a name
	TLS      string `yaml:"tls"`  // "starttls", "tls" (from the first byte) or "none"
}

// Check tells the configuration what is wrong with it.
func (o MailOptions) Check(check func(key string, ok bool, format string, args ...any)) {
	_, _, err := net.SplitHostPort(o.Addr)
	check("mail.addr", o.Addr == "" || err == nil, "host:port such as smtp.example.org:587; this is %q", o.Addr)
	_, err = netmail.ParseAddress(o.From)
	check("mail.from", o.Addr == "" && o.From == "" || err == nil, "an address such as \"ax <ax@example.org>\"; this is %q", o.From)
	check("mail.tls", o.TLS == "starttls" || o.TLS == "tls" || o.TLS == "none", "starttls, tls or none; this is %q", o.TLS)
	check("mail.password", o.Password == "" || o.Username != "", "mail.username is needed with it")
}

// toMail sends a mail to each address, over one connection: a server that
// refuses one of several would take none of them.
func (n *Notifier) toMail(ctx context.Context, to Recipients, messages []alert.Message, t alert.Text) alert.Answer {
	if n.o.Mail.Addr == "" {
		return alert.Answer{Verdict: alert.Again, Code: "no_server", Body: "this installation has no mail server: mail.addr is empty"}
	}
	if len(to.Addresses) == 0 {
		return alert.Answer{Verdict: alert.GiveUp, Code: "no_address", Body: "there is no address to send to"}
	}
	if _, err := netmail.ParseAddress(n.o.Mail.From); err != nil {
		return alert.Answer{Verdict: alert.Again, Code: "config", Body: "the mail server of this installation is set wrong: mail.from is no address"}
	}
	mails := make([]*mail.Msg, len(to.Addresses))
	for i, addr := range to.Addresses {
		m, err := n.mailTo(addr, messages, t)
		if err != nil {
			return alert.Answer{Verdict: alert.GiveUp, Code: "address", Body: oneLine(err.Error())}
		}
		mails[i] = m
	}
	a := n.deliver(ctx, mails)
	a.Body = oneLine(mask(a.Body, masking([]string{n.o.Mail.Password})))
	return a
}

func (n *Notifier) deliver(ctx context.Context, mails []*mail.Msg) alert.Answer {
	client, err := n.mailClient()
	if err != nil {
		return alert.Answer{Verdict: alert.Again, Code: "config", Body: "the mail server of this installation is set wrong: " + err.Error()}
	}
	ctx, cancel := context.WithTimeout(ctx, n.o.Timeout)
	defer cancel()
	if err := client.DialWithContext(ctx); err != nil {
		return n.noServer(ctx, err)
	}
	defer func() { _ = client.Close() }()
	answers := make([]alert.Answer, 0, len(mails))
	for _, m := range mails {
		answers = append(answers, mailAnswer(client.Send(m)))
	}
	return together(answers)
}

func (n *Notifier) mailClient() (*mail.Client, error) {
	o := n.o.Mail
	host, port, err := net.SplitHostPort(o.Addr)
	if err != nil {
		return nil, err
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		return nil, err
	}
	options := []mail.Option{
		mail.WithPort(number), mail.WithTimeout(n.o.Timeout), mail.WithoutNoop(),
		mail.WithTLSConfig(&tls.Config{ServerName: host, MinVersion: tls.VersionTLS12, RootCAs: n.o.RootCAs}),
	}
	switch o.TLS {
	case "tls":
		options = append(options, mail.WithSSL(), mail.WithTLSPolicy(mail.NoTLS))
	case "none":
		options = append(options, mail.WithTLSPolicy(mail.NoTLS))
	default:
		options = append(options, mail.WithTLSPolicy(mail.TLSMandatory))
	}
	if o.Username != "" {
		auth := mail.SMTPAuthAutoDiscover
		if o.TLS == "none" {
			auth = mail.SMTPAuthPlainNoEnc // the operator chose so
		}
		options = append(options, mail.WithSMTPAuth(auth), mail.WithUsername(o.Username), mail.WithPassword(o.Password))
	}
	return mail.NewClient(host, options...)
}

// mailTo writes the mail of one address. Its id is that of the delivery, so
// that a repeat can be told, and those of one incident are one thread.
func (n *Notifier) mailTo(addr string, messages []alert.Message, t alert.Text) (*mail.Msg, error) {
	clean, err := alert.CheckRecipient(addr)
	if err != nil {
		return nil, err
	}
	from, err := netmail.ParseAddress(n.o.Mail.From)
	if err != nil {
		return nil, fmt.Errorf("mail.from: %w", err)
	}
	_, domain, _ := strings.Cut(from.Address, "@")
	m := mail.NewMsg()
	m.FromMailAddress(from)
	if err := m.To(clean); err != nil {
		return nil, fmt.Errorf("address %s: %w", clean, err)
	}
	m.Subject(t.Title)
	m.SetDateWithValue(n.o.Now())
	m.SetMessageIDWithValue(mailID(messages[0].ID) + "@" + domain)
	if incident := mailID(messages[0].IncidentID); len(messages) == 1 && incident != "" {
		m.SetGenHeader(mail.HeaderReferences, "<"+incident+"@"+domain+">")
	}
	m.SetGenHeader("Auto-Submitted", "auto-generated")
	m.SetBodyString(mail.TypeTextPlain, mailPlain(t))
	m.AddAlternativeString(mail.TypeTextHTML, mailHTML(t))
	return m, nil
}

// mailID keeps what an id is made of.
func mailID(id string) string {
	return strings.Map(func(r rune) rune {
		if wordy(r) && r < 0x80 || r == '-' || r == '.' {
			return r
		}
		return -1
	}, firstBytes(id, 100))
}

// noServer is the answer when the server can't be talked to, or doesn't take
// the installation's password: the operator's to mend, and worth waiting for.
func (n *Notifier) noServer(ctx context.Context, err error) alert.Answer {
	if said, ok := errors.AsType[*textproto.Error](err); ok {
		a := alert.Answer{Verdict: alert.Again, Status: said.Code, Code: strconv.Itoa(said.Code), Body: "the mail server refuses to talk: " + said.Msg}
		if said.Code == 530 || said.Code == 534 || said.Code == 535 || said.Code == 538 || said.Code == 454 {
			a.Body = "the mail server refuses this installation's user or password: " + said.Msg
		}
		return a
	}
	a := n.unheard(ctx, err)
	a.Verdict = alert.Again
	a.Body = "mail server " + n.o.Mail.Addr + ": " + a.Body
	return a
}

// mailAnswer judges what a server says of one mail.
func mailAnswer(err error) alert.Answer {
	if err == nil {
		return alert.Answer{Verdict: alert.Accepted, Status: 250}
	}
	a := alert.Answer{Verdict: alert.Again, Body: err.Error()}
	if said, ok := errors.AsType[*mail.SendError](err); ok {
		a.Status = said.ErrorCode()
		a.Code = cmp.Or(said.EnhancedStatusCode(), nonZero(a.Status))
		switch {
		case said.Reason == mail.ErrSMTPReset: // after it was taken
			return alert.Answer{Verdict: alert.Accepted, Status: 250}
		case said.Reason == mail.ErrSMTPMailFrom: // the installation's name or address, whatever the message
			a.Body = "the mail server takes no mail from this installation: " + a.Body
		case a.Status >= 500:
			a.Verdict = alert.GiveUp
		case a.Status == 0 && !said.IsTemp() && (said.Reason == mail.ErrNoUnencoded || said.Reason == mail.ErrGetRcpts || said.Reason == mail.ErrGetSender):
			a.Verdict = alert.GiveUp
		}
	}
	return a
}

func nonZero(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// together is the answer of several mails: again if any is to be tried again,
// accepted if any was taken. Who has it gets it twice then, with the same id.
func together(answers []alert.Answer) alert.Answer {
	out := answers[0]
	var refused []string
	taken := 0
	for _, a := range answers {
		switch a.Verdict {
		case alert.Again:
			return a
		case alert.Accepted:
			taken++
		default:
			refused = append(refused, a.Body)
			out = a
		}
	}
	if taken == 0 {
		return out
	}
	out = alert.Answer{Verdict: alert.Accepted, Status: 250, Body: fmt.Sprintf("taken for %d of %d addresses", taken, len(answers))}
	if len(refused) > 0 {
		out.Body += "; refused: " + strings.Join(refused, "; ")
	}
	return out
}

func mailPlain(t alert.Text) string {
	blocks := []string{t.Title}
	add := func(lines []string) {
		if s := strings.Join(lines, "\n"); s != "" {
			blocks = append(blocks, s)
		}
	}
	add(plainLines(t))
	var items []string
	for _, i := range t.Items {
		items = append(items, plainItem(i))
		if i.Link != "" {
			items = append(items, "   "+i.Link)
		}
	}
	if t.More != "" {
		items = append(items, t.More)
	}
	add(items)
	if t.Link != "" {
		add([]string{t.LinkWord + ": " + t.Link})
	}
	return strings.Join(append(blocks, "-- \n"+t.Foot), "\n\n") + "\n"
}

var mailColours = map[alert.Tone]string{alert.ToneWorse: "#b42318", alert.ToneBad: "#b54708", alert.ToneGood: "#067647", alert.TonePlain: "#344054"}

// mailHTML is the same in the little HTML that all mail programs show.
func mailHTML(t alert.Text) string {
	var b strings.Builder
	e := html.EscapeString
	b.WriteString(`<!doctype html><html lang="` + e(t.Language) + `"><head><meta charset="utf-8"></head><body style="font-family:sans-serif">`)
	b.WriteString(`<h2 style="font-size:18px;color:` + mailColours[t.Tone] + `">` + e(t.Title) + "</h2><p>")
	for _, l := range plainLines(t) {
		b.WriteString(e(l) + "<br>")
	}
	b.WriteString("</p>")
	if len(t.Items) > 0 {
		b.WriteString("<ul>")
		for _, i := range t.Items {
			b.WriteString("<li>")
			if i.Link != "" {
				b.WriteString(`<a href="` + e(i.Link) + `">` + e(i.Text) + "</a>")
			} else {
				b.WriteString(e(i.Text))
			}
			if i.Detail != "" {
				b.WriteString(`<br><span style="color:#667085">` + e(i.Detail) + "</span>")
			}
			b.WriteString("</li>")
		}
		b.WriteString("</ul>")
	}
	if t.More != "" {
		b.WriteString("<p>" + e(t.More) + "</p>")
	}
	if t.Link != "" {
		b.WriteString(`<p><a href="` + e(t.Link) + `">` + e(t.LinkWord) + "</a></p>")
	}
	b.WriteString(`<p style="color:#667085;font-size:12px">` + e(t.Foot) + "</p></body></html>\n")
	return b.String()
}
