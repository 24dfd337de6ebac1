package jobs

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"time"

	"ax/app/alert"
)

// sendTimeout bounds the sending of one message to a robot or a webhook.
const sendTimeout = 10 * time.Second

// NotifierOptions of the sending side. Egress and Now are required.
type NotifierOptions struct {
	Egress  *Egress
	Now     func() time.Time
	Version string         // of ax, for User-Agent
	Base    string         // address of the console; empty: messages have no links
	Name    string         // of the installation; may be empty
	Mail    MailOptions    // the zero value: no mail server
	RootCAs *x509.CertPool // nil: the system's
	Resolve *net.Resolver  // nil: the system's
	Timeout time.Duration  // 0: ten seconds
}

// Recipients are who a message is for.
type Recipients struct {
	People    []alert.Person // owners whom it may call, by their logins
	Addresses []string       // of e-mail: where it goes
	Zone      *time.Location // of the times in it; nil: UTC
}

// Notifier sends messages to channels. It decides nothing else: what comes back
// is judged into an answer, and the ledger's delivery says what follows.
type Notifier struct {
	o  NotifierOptions
	by *http.Transport
}

// NewNotifier makes the sender of all kinds of channel.
func NewNotifier(o NotifierOptions) *Notifier {
	if o.Timeout == 0 {
		o.Timeout = sendTimeout
	}
	// A connection per message: none is kept that was made for another team.
	return &Notifier{o: o, by: single(newDialer(o.Egress, o.RootCAs, o.Resolve).transport())}
}

// robot is how a kind of chat robot is talked to.
type robot struct {
	// write lays the text out, in at most limit bytes if it can: fit cuts it.
	write func(l letter) any
	limit int
	// size of what the robot bounds; nil: the whole body.
	size func(body any) int
	// sign changes the address or the body as the robot wants it; nil: unsigned.
	sign  func(p *post, body any, key string, now time.Time) error
	judge func(r reply) alert.Answer
}

// letter is a text for a channel.
type letter struct {
	kind alert.ChannelKind
	text alert.Text
}

func robotOf(kind alert.ChannelKind) (robot, bool) {
	switch kind {
	case alert.Feishu:
		return feishu(), true
	case alert.DingTalk:
		return dingTalk(), true
	case alert.WeCom:
		return weCom(), true
	case alert.Slack:
		return slack(), true
	case alert.Teams:
		return teams(), true
	}
	return robot{}, false
}

// Send sends messages as one, in the channel's language; to webhooks, which are
// programs, one after the other. The answer is never an error of Go: it says
// what came back, with every secret masked, and what it means.
func (n *Notifier) Send(ctx context.Context, ch alert.Channel, secret alert.ChannelSecret, to Recipients, messages []alert.Message) alert.Answer {
	if len(messages) == 0 {
		return alert.Answer{Verdict: alert.GiveUp, Body: "there is nothing to send"}
	}
	began := n.o.Now()
	var a alert.Answer
	switch ch.Kind {
	case alert.Webhook:
		for _, m := range messages {
			if a = n.toWebhook(ctx, ch, secret, to, m); a.Verdict != alert.Accepted {
				break
			}
		}
	case alert.Email:
		a = n.toMail(ctx, to, messages, alert.Merge(ch.Language, messages, n.where(ch, to)))
	default:
		a = n.toRobot(ctx, ch, secret, alert.Merge(ch.Language, messages, n.where(ch, to)))
	}
	a.Took = max(n.o.Now().Sub(began), 0)
	return a
}

// Preview is what Send would say.
func (n *Notifier) Preview(ch alert.Channel, to Recipients, messages []alert.Message) alert.Text {
	return alert.Merge(ch.Language, messages, n.where(ch, to))
}

func (n *Notifier) where(ch alert.Channel, to Recipients) alert.Where {
	return alert.Where{
		Base: n.o.Base, Name: n.o.Name, Bad: ch.Bad, Good: ch.Good, Zone: to.Zone, Now: n.o.Now(),
		People: to.People, All: ch.Mention == alert.MentionAll, Quiet: ch.Mention != alert.MentionAll && ch.Mention != alert.MentionOwner,
	}
}

func (n *Notifier) toRobot(ctx context.Context, ch alert.Channel, secret alert.ChannelSecret, text alert.Text) alert.Answer {
	r, ok := robotOf(ch.Kind)
	if !ok {
		return alert.Answer{Verdict: alert.GiveUp, Body: oneLine("this version of ax can't send to channels of kind " + string(ch.Kind))}
	}
	body := r.fit(letter{kind: ch.Kind, text: text})
	p := post{team: ch.TeamID, url: secret.URL, secrets: []string{secret.Key}, judge: r.judge}
	if r.sign != nil && secret.Key != "" {
		if err := r.sign(&p, body, secret.Key, n.o.Now()); err != nil {
			return alert.Answer{Verdict: alert.GiveUp, Body: "the channel's address can't be read"}
		}
	}
	p.body = encoded(body)
	return n.post(ctx, p)
}

// fit lays the text out with as much of it as the robot takes.
func (r robot) fit(l letter) any {
	whole := l.text
	var body any
	for step := range alert.Cuts {
		l.text = whole.Cut(step)
		body = r.write(l)
		if r.sizeOf(body) <= r.limit {
			break
		}
	}
	return body
}

func (r robot) sizeOf(body any) int {
	if r.size != nil {
		return r.size(body)
	}
	return len(encoded(body))
}

// encoded is the body as it is sent. Strings are valid text and types are ours,
// so there is no error.
func encoded(body any) []byte {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(body)
	return []byte(strings.TrimSuffix(b.String(), "\n"))
}
