package alert

import (
	"net/mail"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"ax/app/fault"
)

// MaxAddress is the longest address of a channel, in bytes.
const MaxAddress = 2048

// vendorHosts are where the robots of a kind live, unless a company has its own
// installation of it. A name that begins with a dot stands for what ends in it.
var vendorHosts = map[ChannelKind][]string{
	Feishu:   {"open.feishu.cn", "open.larksuite.com"},
	DingTalk: {"oapi.dingtalk.com", "api.dingtalk.com", "oapi.dingtalk.io"},
	WeCom:    {"qyapi.weixin.qq.com"},
	Slack:    {"hooks.slack.com", "hooks.slack-gov.com"},
	Teams:    {".logic.azure.com", ".api.powerplatform.com", ".webhook.office.com", ".logic.azure.us", ".logic.azure.cn"},
}

// CheckAddress makes the address of a robot or a webhook fit to be stored: clean
// is what is called, and hint what of it may be shown: the host and, of a long
// one, the last four characters. The error is a fault of field "url".
func CheckAddress(kind ChannelKind, raw string) (clean, hint string, err error) {
	bad := func(f fault.FieldError) (string, string, error) { return "", "", fault.Invalid(f) }
	clean = strings.TrimFunc(raw, func(r rune) bool { return unicode.IsSpace(r) || unicode.In(r, unicode.Cf, unicode.Cc) })
	switch {
	case kind == Email:
		return bad(fault.Field("url", "a channel of e-mail has no address of a robot"))
	case clean == "":
		return bad(fault.Field("url", "an address is needed"))
	case len(clean) > MaxAddress:
		return bad(fault.Field("url", "at most %d characters", MaxAddress))
	}
	for _, r := range clean {
		switch {
		case unicode.IsSpace(r) || unicode.In(r, unicode.Cf, unicode.Cc):
			return bad(fault.Field("url", "there is a space, a line break or a hidden character within the address"))
		case r >= 0xff01 && r <= 0xff5e || r == '。' || r == '、':
			return bad(fault.Field("url", "the character %q is a full-width one; write it in half width", r))
		}
	}
	u, err := url.Parse(clean)
	switch {
	case err != nil || u.Opaque != "" || u.Hostname() == "":
		return bad(fault.Field("url", "an address such as https://host/path is needed"))
	case u.User != nil:
		return bad(fault.Field("url", "the address must not hold a user and a password"))
	case u.Scheme != "https" && (u.Scheme != "http" || kind != Webhook):
		if kind == Webhook {
			return bad(fault.Field("url", "the address must begin with https:// or http://"))
		}
		return bad(fault.Field("url", "the address must begin with https://"))
	}
	u.Fragment, u.RawFragment = "", ""
	clean = u.String()
	return clean, hintOf(u), nil
}

// hintOf is "open.feishu.cn …3f9a".
func hintOf(u *url.URL) string {
	secret := u.RequestURI()
	if len(secret) < 16 {
		return u.Host
	}
	return u.Host + " …" + secret[len(secret)-4:]
}

// Elsewhere tells whether the channel's robot is at a host that is not its
// vendor's: right for a company's own installation, else a slip or a trap.
func (c Channel) Elsewhere() bool {
	hosts, robots := vendorHosts[c.Kind]
	host, _, _ := strings.Cut(c.Hint, " ")
	host, _, _ = strings.Cut(strings.ToLower(host), ":")
	return robots && host != "" && !slices.ContainsFunc(hosts, func(h string) bool {
		return h == host || strings.HasPrefix(h, ".") && strings.HasSuffix(host, h)
	})
}

// CheckRecipient makes an e-mail address fit to be stored: the bare address,
// without a name. The error is a fault of field "to".
func CheckRecipient(raw string) (string, error) {
	clean := strings.TrimFunc(raw, unicode.IsSpace)
	a, err := mail.ParseAddress(clean)
	if err != nil || a.Name != "" || a.Address != clean || len(clean) > 254 || strings.ContainsFunc(clean, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }) {
		return "", fault.Invalid(fault.Field("to", "an e-mail address such as ana@example.org is needed; this is %q", oneLine(raw, 80)))
	}
	return a.Address, nil
}
