package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// rule is what a package may import. A path stands for all packages below it
// too.
type rule struct {
	own   []string // packages of ax
	other []string // packages that are neither ax's nor the standard library's
	tests []string // what its tests may import besides (testify aside)
}

// arrows draws main → app, jobs, db, views → domain → cron, fault. A new
// package needs a line here, and a reason.
func arrows() map[string]rule {
	domain := []string{"ax/app/access", "ax/app/alert", "ax/app/calendar", "ax/app/cron", "ax/app/fault", "ax/app/sched"}
	leaves := []string{"ax/app/cron", "ax/app/fault"}
	fail := "ax/app/fail" // where something is stored or sent
	rapid := "pgregory.net/rapid"
	mysql := "github.com/go-sql-driver/mysql"
	goquery := "github.com/PuerkitoBio/goquery"
	sqlite := "github.com/libtnb/sqlite"
	return map[string]rule{
		// Builds the parts; the only one that knows them all.
		"ax": {
			own:   append([]string{"ax/app", "ax/app/calendar/china", "ax/app/command", "ax/app/demo", "ax/app/oidc", "ax/app/settings", "ax/app/telemetry", "ax/db", "ax/jobs", "ax/jobs/shell"}, domain...),
			other: []string{"github.com/spf13/cobra", "github.com/google/uuid"},
			tests: []string{
				"ax/app/oidc/issuertest", "ax/db/dbtest", "ax/jobs/redistest", "ax/jobs/robottest", "ax/static", "ax/views", "github.com/redis/go-redis/v9",
				"github.com/chromedp", goquery, mysql, sqlite, "ax/app/telemetry/collectortest",
			},
		},

		// The domain: facts and rules. What it needs of the world it declares
		// as small interfaces.
		"ax/app/fault":    {},
		"ax/app/fail":     {},
		"ax/app/cron":     {own: []string{"ax/app/fault"}, tests: []string{rapid, "github.com/robfig/cron/v3"}},
		"ax/app/access":   {own: leaves, tests: []string{rapid}},
		"ax/app/calendar": {own: append([]string{"ax/app/access"}, leaves...), tests: []string{rapid}},
		// The one home of its library, for main to fill a calendar with.
		"ax/app/calendar/china": {own: []string{"ax/app/calendar"}, other: []string{"github.com/6tail/lunar-go/HolidayUtil"}},
		"ax/app/sched":          {own: append([]string{"ax/app/access", "ax/app/calendar", fail}, leaves...), tests: []string{rapid}},
		"ax/app/alert":          {own: append([]string{"ax/app/access", "ax/app/sched", fail}, leaves...), tests: []string{rapid, "ax/app/calendar"}},
		"ax/app/demo":           {own: domain},
		// Commands of the terminal on people.
		"ax/app/command": {own: []string{"ax/app/access", "ax/app/fault"}, other: []string{"github.com/spf13/cobra"}},
		// The one home of its libraries: what a provider says comes out as a
		// value of access.
		"ax/app/oidc": {
			own:   []string{"ax/app/access", "ax/app/fault"},
			other: []string{"github.com/coreos/go-oidc/v3/oidc", "golang.org/x/oauth2"},
			tests: []string{"ax/app/oidc/issuertest", "github.com/go-jose/go-jose/v4"},
		},
		// A provider for tests, which also signs what no provider should.
		"ax/app/oidc/issuertest": {other: []string{"github.com/go-jose/go-jose/v4"}},
		// What a process tells of its work: it wraps the seams of the engine,
		// and only main knows it.
		"ax/app/telemetry": {
			own:   []string{"ax/app/sched"},
			other: []string{"github.com/prometheus/client_golang", "go.opentelemetry.io/otel"},
			tests: []string{"ax/app/telemetry/collectortest"},
		},
		"ax/app/telemetry/collectortest": {other: []string{"go.opentelemetry.io/proto/otlp", "google.golang.org/protobuf"}},
		// How a configuration is read and listed; which one is main's.
		"ax/app/settings": {other: []string{"github.com/goccy/go-yaml"}},

		// The edges, each the only home of its libraries. None imports
		// another; only app's tests bring up a whole house.
		"ax/app": {
			own: append([]string{"ax/views", "ax/static", "ax/app/settings"}, domain...),
			other: []string{
				"github.com/gin-gonic/gin", "github.com/a-h/templ", "github.com/danielgtaylor/huma/v2", "github.com/alexedwards/argon2id",
				"github.com/google/uuid", "github.com/prometheus/client_golang", "golang.org/x/time/rate",
			},
			tests: []string{"ax/app/oidc", "ax/app/oidc/issuertest", "ax/db", "ax/jobs", "ax/jobs/robottest", goquery, rapid, "github.com/goccy/go-yaml", "github.com/chromedp"},
		},
		"ax/views": {
			own:   append([]string{"ax/static", "ax/views/ui", "ax/app/settings"}, domain...),
			other: []string{"github.com/a-h/templ", "golang.org/x/text"},
			tests: []string{goquery, rapid, "github.com/chromedp"},
		},
		"ax/views/ui": {other: []string{"github.com/a-h/templ"}, tests: []string{goquery, rapid}},
		"ax/static":   {},
		"ax/jobs": {
			own: append([]string{fail, "ax/jobs/mq", "ax/jobs/shell"}, domain...),
			other: []string{
				"github.com/hibiken/asynq", "github.com/redis/go-redis/v9", "github.com/alicebob/miniredis/v2", "github.com/robfig/cron/v3",
				"github.com/google/uuid", "code.dny.dev/ssrf", "github.com/wneessen/go-mail",
			},
			tests: []string{"ax/jobs/mq/mqtest", "ax/jobs/redistest", "ax/jobs/robottest", rapid},
		},
		// Messages to brokers; it knows nothing of tasks. The one home of its
		// library beside what starts brokers for tests.
		"ax/jobs/mq": {
			own: []string{fail}, other: []string{"github.com/rabbitmq/amqp091-go", "github.com/redis/go-redis/v9"},
			tests: []string{"ax/jobs/mq/mqtest", "ax/jobs/redistest"},
		},
		"ax/jobs/mq/mqtest": {other: []string{"github.com/rabbitmq/amqp091-go"}},
		// Processes of the machine, which know nothing of ax.
		"ax/jobs/shell": {},
		"ax/db": {
			own: append([]string{fail}, domain...),
			other: []string{
				"github.com/DataDog/sketches-go", // its one home
				"gorm.io", mysql, sqlite, "modernc.org/sqlite", "github.com/pressly/goose/v3", "github.com/google/uuid",
			},
			tests: []string{"ax/db/dbtest", rapid, "golang.org/x/sync/errgroup"},
		},

		// Servers for tests, and measurements of the program from outside.
		"ax/jobs/robottest":  {},
		"ax/jobs/redistest":  {own: []string{"ax/jobs"}},
		"ax/db/dbtest":       {own: append([]string{"ax/db"}, domain...), other: []string{mysql, "github.com/google/uuid", testify}},
		"ax/bench/engine":    {other: []string{mysql, sqlite}},
		"ax/bench/realinput": {other: []string{mysql}},
		// Transactions and rules are timed from inside; servers can't tell them.
		"ax/bench/schedules": {own: []string{"ax/db", "ax/app/cron", "ax/app/sched"}, other: []string{mysql, sqlite}},
		"ax/bench/alerts":    {own: []string{"ax/db", "ax/app/alert"}, other: []string{mysql, sqlite}},
		"ax/bench/mq":        {own: []string{"ax/jobs/mq", "ax/jobs/mq/mqtest"}, other: []string{"github.com/rabbitmq/amqp091-go"}},
		"ax/bench/shots":     {other: []string{"github.com/chromedp"}},
		"ax/bench/followlag": {other: []string{"github.com/chromedp"}},
	}
}

const testify = "github.com/stretchr/testify"

// The packages import each other only along the arrows, whatever the build
// tags are; the linter says the same while one types.
func TestPackagesImportOnlyAlongTheArrows(t *testing.T) {
	rules := arrows()
	for pkg, imports := range importsOfAx(t) {
		r, ok := rules[pkg]
		if !ok {
			t.Errorf("package %s has no rule in arrows()", pkg)
			continue
		}
		for path, from := range imports {
			switch {
			case path == pkg || isStandard(path):
			case strings.HasPrefix(path, "ax/") && slices.Contains(r.own, path):
			case !strings.HasPrefix(path, "ax/") && within(path, r.other):
			case from.onlyTests && within(path, append([]string{testify}, r.tests...)):
			default:
				t.Errorf("%s must not import %s (%s)", pkg, path, from.file)
			}
		}
	}
}

// A rule that names what isn't there would let a typing error pass.
func TestEveryArrowStartsAtAPackage(t *testing.T) {
	later := []string{"ax/app/alert"} // comes with the alerts
	have := importsOfAx(t)
	for pkg := range arrows() {
		if !slices.Contains(later, pkg) {
			require.Contains(t, have, pkg)
		}
	}
}

// source is where an import was seen.
type source struct {
	file      string
	onlyTests bool
}

// importsOfAx reads the imports of every file of this module, of all build
// tags, by package.
func importsOfAx(t *testing.T) map[string]map[string]source {
	t.Helper()
	out := map[string]map[string]source{}
	require.NoError(t, filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != "." && isForeign(path):
			return filepath.SkipDir
		case d.IsDir() || filepath.Ext(path) != ".go":
			return nil
		}
		return addImports(out, path)
	}))
	return out
}

// isForeign tells of a folder that go leaves out: hidden ones, test data and
// other modules.
func isForeign(dir string) bool {
	name := filepath.Base(dir)
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil || name == "testdata" || name == "node_modules" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")
}

func addImports(out map[string]map[string]source, path string) error {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
	if err != nil {
		return err
	}
	pkg := strings.TrimSuffix("ax/"+filepath.ToSlash(filepath.Dir(path)), "/.")
	if out[pkg] == nil {
		out[pkg] = map[string]source{}
	}
	for _, spec := range file.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return err
		}
		isTest := strings.HasSuffix(path, "_test.go")
		if seen, ok := out[pkg][name]; !ok || seen.onlyTests && !isTest {
			out[pkg][name] = source{file: path, onlyTests: isTest}
		}
	}
	return nil
}

// isStandard tells of the standard library: its first element has no dot.
func isStandard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return first != "ax" && !strings.Contains(first, ".")
}

func within(path string, of []string) bool {
	return slices.ContainsFunc(of, func(p string) bool { return path == p || strings.HasPrefix(path, p+"/") })
}
