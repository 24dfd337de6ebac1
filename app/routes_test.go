package app_test

import (
	"database/sql"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"ax/app"
	"ax/app/access"
	"ax/app/sched"
	"ax/db"
)

// filled puts something in the place of each parameter, so that the route can
// be asked.
func filled(path string) string {
	parts := strings.Split(path, "/")
	for i, p := range parts {
		if strings.HasPrefix(p, ":") {
			parts[i] = "1"
		}
	}
	return strings.Join(parts, "/")
}

func TestEveryRouteOfTheEngineIsInTheTable(t *testing.T) {
	t.Parallel()
	h := newHouse(t, func(o *app.Options) { o.Dev = true })
	table := map[string]bool{}
	for _, r := range h.app.Rows() {
		require.False(t, table[r.Method+" "+r.Path], "%s %s is there twice", r.Method, r.Path)
		require.NotEmpty(t, r.Verb, "%s %s names no verb", r.Method, r.Path)
		table[r.Method+" "+r.Path] = true
	}
	for _, r := range h.app.Engine().Routes() {
		switch {
		case strings.HasPrefix(r.Path, "/api/"): // the API has a table and a test of its own
		case strings.HasPrefix(r.Path, "/static/"): // files: the same for everybody
		case r.Method == http.MethodHead:
			require.True(t, table["GET "+r.Path], "HEAD %s without GET", r.Path)
		default:
			require.True(t, table[r.Method+" "+r.Path], "%s %s is not in the table", r.Method, r.Path)
		}
	}
}

func TestNoPageIsOpenToGuestsExceptTheEntry(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.found()
	open := map[string]bool{}
	for _, r := range h.app.Rows() {
		if r.Verb == app.Anyone {
			open[r.Method+" "+r.Path] = true
			continue
		}
		got := h.as("").do(r.Method, filled(r.Path), "", nil)
		require.Equal(t, http.StatusSeeOther, got.status, "%s %s", r.Method, r.Path)
		require.Equal(t, "/login", strings.SplitN(got.location(), "?", 2)[0])
		got = h.as("").htmx("/tasks").do(r.Method, filled(r.Path), "", nil)
		require.Equal(t, http.StatusUnauthorized, got.status, "%s %s by htmx", r.Method, r.Path)
		require.Equal(t, "/login?next=%2Ftasks", got.location())
		require.Empty(t, got.body)
	}
	require.Equal(t, map[string]bool{
		"GET /healthz": true, "GET /readyz": true, "GET /login": true, "POST /login": true, "GET /login/oidc": true, "GET " + app.CallbackPath: true, "POST /logout": true,
		"GET /setup": true, "POST /setup": true, "GET /invitation": true, "POST /invitation": true, "GET /language": true, "POST /theme": true,
	}, open)
}

// watched is a house with a task, a run and a dead letter, and a count that
// rises with every write.
type watched struct {
	*house
	t      *testing.T
	writes *sql.DB
	letter sched.Letter
}

func newWatched(t *testing.T) *watched {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ax.db")
	d, err := db.Open(t.Context(), db.Options{Dialect: db.SQLite, DSN: path, MaxConns: 4})
	require.NoError(t, err)
	t.Cleanup(func() { _ = d.Close() })
	require.NoError(t, d.Migrate(t.Context()))
	w := &watched{house: newHouseOn(t, d), t: t}
	w.task("orders.send", func(s *sched.TaskSpec) { s.Name = "Secret name" })
	w.calendar("orders.send")
	w.letter = w.house.letter("orders.send", "secret-biz", "secret error")
	_, _, err = w.opt.Tokens.Create(t.Context(), root, access.NewToken{TeamID: w.team.ID, Name: "Secret name", Role: access.Viewer})
	require.NoError(t, err)
	_, _, err = w.opt.Invitations.Invite(t.Context(), root, w.team, access.Viewer, "Secret name")
	require.NoError(t, err)
	w.writes, err = sql.Open("sqlite", path)
	require.NoError(t, err)
	t.Cleanup(func() { _ = w.writes.Close() })
	w.writes.SetMaxOpenConns(1) // data_version is told per connection
	return w
}

func (w *watched) version() (n int) {
	w.t.Helper()
	require.NoError(w.t, w.writes.QueryRowContext(w.t.Context(), "PRAGMA data_version").Scan(&n))
	return n
}

// object puts the names of what there is into the path; ok is false when the
// path names nothing that belongs to a team.
func (w *watched) object(path string) (filled string, ok bool) {
	for prefix, with := range map[string]*strings.Replacer{
		"/tasks/":        strings.NewReplacer(":code", "orders.send"),
		"/calendars/":    strings.NewReplacer(":code", "orders.send"),
		"/instances/":    strings.NewReplacer(":id", w.letter.InstanceID),
		"/dead-letters/": strings.NewReplacer(":id", strconv.FormatInt(w.letter.ID, 10)),
		"/teams/":        strings.NewReplacer(":team", "payments", ":id", "1"), // a token, an invitation
		"/users/":        strings.NewReplacer(":login", "owner"),
	} {
		if strings.HasPrefix(path, prefix) && with.Replace(path) != path {
			return with.Replace(path), true
		}
	}
	return path, false
}

func TestGETChangesNothing(t *testing.T) {
	t.Parallel()
	w := newWatched(t)
	admin := w.as("admin")
	before := w.version()
	for _, r := range w.app.Rows() {
		if r.Method != http.MethodGet {
			continue
		}
		object, _ := w.object(r.Path)
		for _, c := range []*client{admin, admin.htmx("/"), w.browser()} {
			for _, path := range []string{object, filled(r.Path)} {
				c.get(path)
				require.Equal(t, before, w.version(), "GET %s has written", path)
			}
		}
	}
	admin.post("/logout")
	require.NotEqual(t, before, w.version(), "the test sees writes")
}

func TestAnotherTeamsObjectsAreNotThere(t *testing.T) {
	t.Parallel()
	w := newWatched(t)
	for _, who := range []string{"stranger", "nobody"} {
		c := w.as(who)
		before := w.version()
		for _, r := range w.app.Rows() {
			path, ok := w.object(r.Path)
			if !ok {
				continue
			}
			for _, c := range []*client{c, c.htmx("/tasks")} {
				got := c.do(r.Method, path, "application/x-www-form-urlencoded", strings.NewReader("reason=x&solution=x&status=solved&version=1"))
				require.GreaterOrEqual(t, got.status, 400, "%s %s as %s", r.Method, path, who)
				if r.Method == http.MethodGet {
					require.Equal(t, http.StatusNotFound, got.status, "%s %s as %s", r.Method, path, who)
				}
				for _, secret := range []string{"Secret name", "secret-biz", "secret error", "target.example.com", "Days of orders.send"} {
					require.NotContains(t, got.body, secret, "%s %s as %s", r.Method, path, who)
				}
				require.Equal(t, before, w.version(), "%s %s as %s has written", r.Method, path, who)
			}
		}
	}
}

// Lists, figures, searches and exports have nothing of another team.
func TestListsAndExportsHaveNothingOfAnotherTeam(t *testing.T) {
	t.Parallel()
	w := newWatched(t)
	secrets := []string{"orders.send", "Secret name", "secret-biz", "secret error", "target.example.com"}
	for _, r := range w.app.Rows() {
		_, object := w.object(r.Path)
		if object || r.Method != http.MethodGet || r.Verb == app.Anyone || strings.Contains(r.Path, ":") {
			continue
		}
		for _, query := range []string{"", "?q=orders", "?q=secret", "?team=payments", "?task=1"} {
			got := w.as("stranger").get(r.Path + query)
			require.Less(t, got.status, 500, "%s%s", r.Path, query)
			for _, secret := range secrets {
				require.NotContains(t, got.body, secret, "%s%s", r.Path, query)
			}
		}
	}
	require.Contains(t, w.as("owner").get("/audit.csv").body, "orders.send", "the test sees them")
}

func TestTheServerStandsEveryOddRequest(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	admin := h.as("admin")
	for _, r := range h.app.Rows() {
		for _, query := range []string{"?cursor=%27%22", "?limit=-1", "?limit=99999999999999999999", "?q=%F0%9F%98%80", "?sort=password", "?state=nope&team=%00x", "?since=yesterday"} {
			got := admin.do(r.Method, filled(r.Path)+query, "", nil)
			require.Less(t, got.status, 500, "%s %s%s: %s", r.Method, r.Path, query, got.body)
			if strings.HasPrefix(r.Path, "/logout") {
				delete(h.people, "admin")
				admin = h.as("admin")
			}
		}
	}
}
