package app

import (
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/require"

	"ax/app/fault"
)

func formOf(t *testing.T, zone string, body string) (*form, error) {
	t.Helper()
	z, err := time.LoadLocation(zone)
	require.NoError(t, err)
	c, _ := gin.CreateTestContext(httptest.NewRecorder())
	c.Request = httptest.NewRequest("POST", "/?n=7&from=query", strings.NewReader(body))
	c.Request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return readForm(c, z)
}

func mustForm(t *testing.T, zone string, fields ...string) *form {
	t.Helper()
	v := url.Values{}
	for i := 0; i+1 < len(fields); i += 2 {
		v.Add(fields[i], fields[i+1])
	}
	f, err := formOf(t, zone, v.Encode())
	require.NoError(t, err)
	return f
}

func TestAFormIsRead(t *testing.T) {
	t.Parallel()
	f := mustForm(t, "UTC", "name", "  a b ", "tags", "a, b,,c ", "queue", "x", "queue", " ", "queue", "y", "n", " 42 ",
		"delays", "10, 30，120\n600", "on", "on", "off", "false", "pass", " p ")
	require.Equal(t, "a b", f.text("name"))
	require.Equal(t, " p ", f.raw("pass"))
	require.Equal(t, []string{"a", "b", "c"}, f.words("tags"))
	require.Equal(t, []string{"x", "y"}, f.all("queue"))
	require.Equal(t, 42, f.number("n"))
	require.Equal(t, []int{10, 30, 120, 600}, f.numbers("delays"))
	require.True(t, f.ticked("on"))
	require.False(t, f.ticked("off"))
	require.False(t, f.ticked("missing"))
	require.Empty(t, f.text("from"), "the address is not the form")
	_, there := f.optional("missing")
	require.False(t, there)
	require.False(t, f.has("missing"))
	require.True(t, f.has("off"))
	require.NoError(t, f.err())
}

func TestWhatCannotBeReadIsSaidAtItsField(t *testing.T) {
	t.Parallel()
	f := mustForm(t, "UTC", "n", "1.5", "m", "99999999999999999999", "delays", "1, x", "at", "tomorrow")
	f.number("n")
	f.number("m")
	f.numbers("delays")
	require.True(t, f.time("at").IsZero())
	var names []string
	for _, e := range fault.Fields(f.err()) {
		names = append(names, e.Name)
	}
	require.Equal(t, []string{"n", "m", "delays", "at"}, names)
	require.Equal(t, fault.KindInvalid, fault.KindOf(f.err()))

	both := f.with(fault.Invalid(fault.Field("n", "At least 1"), fault.Field("name", "A name is needed")))
	require.Len(t, fault.Fields(both), 5, "of n, only that it can’t be read")
	denied := fault.Denied("no")
	require.Equal(t, denied, f.with(denied))
	require.NoError(t, mustForm(t, "UTC").with(nil))
}

func TestTimesAreReadInThePersonsZone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ zone, typed, want string }{
		"Shanghai":                     {"Asia/Shanghai", "2026-12-01T09:30", "2026-12-01T01:30:00Z"},
		"with seconds":                 {"Asia/Shanghai", "2026-12-01T09:30:15", "2026-12-01T01:30:15Z"},
		"with a space":                 {"UTC", "2026-12-01 09:30", "2026-12-01T09:30:00Z"},
		"with an offset":               {"UTC", "2026-12-01T09:30:00+08:00", "2026-12-01T01:30:00Z"},
		"summer":                       {"Europe/Berlin", "2026-07-01T09:30", "2026-07-01T07:30:00Z"},
		"the hour that comes twice":    {"Europe/Berlin", "2026-10-25T02:30", "2026-10-25T00:30:00Z"},
		"the hour that does not exist": {"Europe/Berlin", "2026-03-29T02:30", ""},
		"a day that does not exist":    {"UTC", "2026-02-30T02:30", ""},
		"only a day":                   {"UTC", "2026-02-20", ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := mustForm(t, c.zone, "at", c.typed)
			at := f.time("at")
			if c.want == "" {
				require.True(t, at.IsZero())
				require.Error(t, f.err())
				return
			}
			require.NoError(t, f.err())
			require.Equal(t, c.want, at.Format(time.RFC3339))
		})
	}
	require.True(t, mustForm(t, "UTC").time("at").IsZero())
}

func TestABrokenFormIsMalformed(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"broken escapes": "a=%zz", "broken UTF-8": "a=%ff", "a name in broken UTF-8": "%ff=a", "a NUL": "a=%00", "a NUL in a name": "%00=a",
	} {
		_, err := formOf(t, "UTC", body)
		require.Equal(t, fault.KindMalformed, fault.KindOf(err), name)
	}
}
