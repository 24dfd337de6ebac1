package jobs

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"ax/app/access"
)

// moved tells whether the status names another address to call.
func moved(code int) bool {
	return slices.Contains([]int{http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect}, code)
}

// next is the call that a redirect asks for. The error says why it isn't made.
// The address is judged as every other one when it is dialed.
func (c httpCall) next(resp *http.Response) (httpCall, error) {
	if c.hops >= c.redirects {
		if c.redirects == 0 {
			return c, errors.New("redirects are not followed")
		}
		return c, fmt.Errorf("more than %d redirects", c.redirects)
	}
	if keeps := resp.StatusCode == http.StatusTemporaryRedirect || resp.StatusCode == http.StatusPermanentRedirect; !keeps && c.method != http.MethodGet {
		return c, fmt.Errorf("a %s would become a GET; only 307 and 308 keep it", c.method)
	}
	from, err := url.Parse(c.url)
	if err != nil {
		return c, err
	}
	to, err := from.Parse(resp.Header.Get("Location"))
	switch {
	case err != nil || resp.Header.Get("Location") == "":
		return c, errors.New("its Location can't be read")
	case to.Scheme != "http" && to.Scheme != "https" || to.Hostname() == "" || to.User != nil:
		return c, errors.New("it leads to what can't be called")
	case from.Scheme == "https" && to.Scheme == "http":
		return c, errors.New("it leads from https to http")
	}
	elsewhere := access.DestinationOf(from) != access.DestinationOf(to)
	if elsewhere && c.rules.ClientCert != "" {
		return c, errors.New("it leads to another host, which the certificate isn't for")
	}
	next := c
	next.hops++
	next.url, next.way = to.String(), append(slices.Clone(c.way), to.String())
	if elsewhere {
		next.header, next.strange = c.header.Clone(), true
		for _, name := range append(slices.Clone(c.sealed), "Ax-Receipt-Url", "Ax-Receipt-Token") {
			next.header.Del(name) // secrets are for the host that they were given for
		}
	}
	return next, nil
}

// hops are the addresses that redirects led to, as they are stored.
func (c httpCall) hopLines() string {
	var b strings.Builder
	for _, at := range c.way {
		b.WriteString("\n→ " + readable(at))
	}
	return b.String()
}
