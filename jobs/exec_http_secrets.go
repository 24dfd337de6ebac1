package jobs

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"ax/app/access"
	"ax/app/sched"
)

// secrets open a team's secret for a call to a destination.
type secrets interface {
	Reveal(ctx context.Context, team int64, name string, to access.Destination) (string, error)
}

// fill sets the headers of the target, with the secrets that they name. An
// error means that nothing may be sent.
func (h *HTTP) fill(ctx context.Context, c *httpCall, call sched.Call, u *url.URL) error {
	to := access.DestinationOf(u)
	var err error
	if c.by, err = h.transportOf(ctx, call, to); err != nil {
		return err
	}
	for name, value := range call.Target.Headers {
		filled, err := access.FillSecrets(value, func(secret string) (string, error) {
			if h.o.Secrets == nil {
				return "", errors.New("this process opens no secrets")
			}
			plain, err := h.o.Secrets.Reveal(ctx, call.TeamID, secret, to)
			if err == nil {
				c.secrets = append(c.secrets, shapes(plain)...)
			}
			return plain, err
		})
		if err != nil {
			return fmt.Errorf("header %s: %w", name, err)
		}
		c.header.Set(name, filled)
		if filled != value {
			c.sealed = append(c.sealed, name)
		}
	}
	slices.SortFunc(c.secrets, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	return nil
}

// shapes are the ways in which a target may show a secret that it sends back:
// as it is, escaped in JSON or an address, and the password of basic
// authentication by itself.
func shapes(secret string) []string {
	out := []string{secret}
	if quoted, err := json.Marshal(secret); err == nil {
		out = append(out, strings.Trim(string(quoted), `"`))
	}
	out = append(out, url.QueryEscape(secret), url.PathEscape(secret))
	if plain, err := base64.StdEncoding.DecodeString(secret); err == nil {
		if _, password, ok := strings.Cut(string(plain), ":"); ok && len(password) >= 8 {
			out = append(out, password)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
