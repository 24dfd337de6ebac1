package app_test

import (
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// right is a row of the reviewed table of rights: what a route answers to each
// kind of caller.
type right struct {
	method, path string // the path as the router has it
	call         string // with parameters that name another object than usual, as :id=failed
	want         []string
	body         string
}

// rights is a part of the table: its columns are callers of the world.
type rights struct {
	callers []string
	rows    []right
}

// readRights reads testdata/rights.txt: parts that begin with a line
// "callers: …", and rows of route, answers and "| body".
func readRights(t *testing.T) []rights {
	t.Helper()
	text, err := os.ReadFile("testdata/rights.txt")
	require.NoError(t, err)
	var parts []rights
	for line := range strings.Lines(string(text)) {
		line, body, _ := strings.Cut(strings.TrimSpace(line), " | ")
		fields := strings.Fields(line)
		switch {
		case line == "" || line[0] == '#':
		case fields[0] == "callers:":
			parts = append(parts, rights{callers: callersOf(fields[1:])})
		default:
			p := &parts[len(parts)-1]
			require.Len(t, fields, 2+len(p.callers), line)
			p.rows = append(p.rows, right{method: fields[0], path: pattern(fields[1]), call: fields[1], want: fields[2:], body: body})
		}
	}
	return parts
}

// apiRights are the rows of the API.
func (w *world) apiRights(t *testing.T) (rows []right) {
	t.Helper()
	for _, part := range readRights(t) {
		for _, r := range part.rows {
			if strings.HasPrefix(r.path, v1) {
				rows = append(rows, r)
			}
		}
	}
	return rows
}

// callersOf are the columns; "token:" goes before the names that follow it.
func callersOf(words []string) []string {
	var out []string
	prefix := ""
	for _, w := range words {
		if w == "token:" {
			prefix = "token "
			continue
		}
		out = append(out, prefix+w)
	}
	return out
}

// pattern is the path without the names of objects.
func pattern(call string) string {
	parts := strings.Split(call, "/")
	for i, p := range parts {
		parts[i], _, _ = strings.Cut(p, "=")
	}
	path, _, _ := strings.Cut(strings.Join(parts, "/"), "?")
	return path
}

// address puts objects in the place of the parameters.
func (w *world) address(t *testing.T, call string) string {
	t.Helper()
	api := ""
	if rest, ok := strings.CutPrefix(call, v1); ok {
		api, call = v1, rest
	}
	path, query, asked := strings.Cut(call, "?")
	parts := strings.Split(path, "/")
	for i, p := range parts {
		if !strings.HasPrefix(p, ":") {
			continue
		}
		name, object, _ := strings.Cut(p, "=")
		if known, ok := w.names["/"+parts[1]+" "+p]; ok {
			object = known
		}
		require.NotEmpty(t, object, "%s: nothing is known for %s", call, name)
		parts[i] = object
	}
	path = api + strings.Join(parts, "/")
	if asked {
		path += "?" + query
	}
	return path
}

// told is the answer in the words of the table: the status, "login" for the
// way to the sign-in, and a + when something was written.
func (h *copied) told(c *client, r right, path string) string {
	h.t.Helper()
	before := h.version()
	kind := "application/x-www-form-urlencoded"
	if strings.HasPrefix(path, v1) {
		kind = "application/json"
	}
	if r.body == "" {
		kind = ""
	}
	got := c.do(r.method, path, kind, strings.NewReader(r.body))
	word := fmt.Sprint(got.status)
	if got.status == http.StatusSeeOther && strings.HasPrefix(got.location(), "/login") {
		word = "login"
	}
	if h.version() != before {
		word += "+"
	}
	return word
}

func TestEveryRouteStandsInTheTableOfRights(t *testing.T) {
	t.Parallel()
	var have []string
	for _, part := range readRights(t) {
		for _, r := range part.rows {
			require.False(t, r.method == http.MethodGet && strings.Contains(strings.Join(r.want, " "), "+"), "GET %s writes", r.path)
			have = append(have, r.method+" "+r.path)
		}
	}
	var want []string
	for _, r := range newHouse(t).app.Engine().Routes() {
		if r.Method != http.MethodHead && !strings.HasPrefix(r.Path, "/static/") {
			want = append(want, r.Method+" "+r.Path)
		}
	}
	slices.Sort(have)
	slices.Sort(want)
	require.Equal(t, want, slices.Compact(have), "each route has its row in testdata/rights.txt")
}

// everything tells who may read the rows of all teams.
func everything(caller string) bool { return caller == "admin" || caller == "auditor" }

// Every route, called by everybody, on one world: what it answers, and whether
// it writes.
func TestTheTableOfRightsHoldsForEverybody(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, part := range readRights(t) {
		for _, r := range part.rows {
			t.Run(r.method+strings.ReplaceAll(r.call, "/", " "), func(t *testing.T) {
				t.Parallel()
				h := w.copy(t)
				path := w.address(t, r.call)
				r.body = strings.ReplaceAll(r.body, "CHANNEL", w.names["/alerts :id=channel"])
				tables := teamTables(t, h.writes)
				var got []string
				for _, who := range part.callers {
					h.asked.take()
					word := h.told(w.caller(h, who), r, path)
					if !everything(who) {
						require.Empty(t, teamless(tables, h.asked.take()), "as %s: rows of all teams are read", who)
					}
					got = append(got, word)
					if strings.HasSuffix(word, "+") {
						h = w.copy(t)
					}
				}
				row := fmt.Sprintf("%-4s %s %s", r.method, r.call, strings.Join(got, " "))
				require.Equal(t, r.want, got, "callers are %s; the row as it is: %s", strings.Join(part.callers, ", "), row)
			})
		}
	}
}
