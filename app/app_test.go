package app_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"ax/app"
)

func TestAnApplicationWithoutAPartDoesNotStart(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for name, c := range map[string]struct {
		change func(*app.Options)
		says   string
	}{
		"no log":               {func(o *app.Options) { o.Log = nil }, "Log is missing"},
		"no sessions":          {func(o *app.Options) { o.Sessions = nil }, "Sessions is missing"},
		"no clock":             {func(o *app.Options) { o.Clock = nil }, "Clock is missing"},
		"a URL without scheme": {func(o *app.Options) { o.ExternalURL = "ax.example.com" }, "external URL"},
		"a URL with a path":    {func(o *app.Options) { o.ExternalURL = "https://example.com/ax" }, "external URL"},
		"a URL with a user":    {func(o *app.Options) { o.ExternalURL = "https://a@example.com" }, "external URL"},
		"a URL of files":       {func(o *app.Options) { o.ExternalURL = "file:///etc/passwd" }, "external URL"},
		"a proxy without mask": {func(o *app.Options) { o.TrustedProxies = []string{"10.0.0.0/99"} }, "trusted proxies"},
	} {
		t.Run(name, func(t *testing.T) {
			o := h.opt
			c.change(&o)
			_, err := app.New(o)
			require.ErrorContains(t, err, c.says)
		})
	}
	o := h.opt
	o.ExternalURL, o.Zone = "https://ax.example.com/", nil
	_, err := app.New(o)
	require.NoError(t, err)
}
