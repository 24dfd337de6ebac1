package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"ax/db/dbtest"
)

// metricRow is a row of the table in docs/telemetry.md.
type metricRow struct{ kind, labels string }

// metricsTable reads what docs/telemetry.md says of each metric, by name.
func metricsTable(t *testing.T) map[string]metricRow {
	t.Helper()
	page, err := os.ReadFile("docs/telemetry.md")
	require.NoError(t, err)
	_, table, _ := strings.Cut(string(page), "<!-- metrics -->")
	table, _, _ = strings.Cut(table, "<!-- /metrics -->")
	out := map[string]metricRow{}
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if name := strings.Trim(cells[0], " `"); len(cells) == 5 && strings.HasPrefix(name, "ax_") {
			labels := strings.Fields(strings.ReplaceAll(cells[2], "`", " "))
			slices.Sort(labels)
			require.NotEmpty(t, strings.TrimSpace(cells[4]), name)
			out[name] = metricRow{strings.TrimSpace(cells[1]), strings.Join(labels, " ")}
		}
	}
	require.Greater(t, len(out), 30)
	return out
}

var (
	metricName  = regexp.MustCompile(`\bax_[a-z0-9_]+`)
	partOfAHist = regexp.MustCompile(`_(bucket|count|sum)$`)
)

// askedFor lists the metrics of ax that a text asks for.
func askedFor(text string, known map[string]metricRow) (names, unknown []string) {
	for _, name := range metricName.FindAllString(text, -1) {
		if whole := partOfAHist.ReplaceAllString(name, ""); known[whole].kind == "histogram" {
			name = whole
		}
		if _, ok := known[name]; !ok {
			unknown = append(unknown, name)
		}
		names = append(names, name)
	}
	return names, unknown
}

func TestTheAlertsAskForMetricsThatThereAre(t *testing.T) {
	t.Parallel()
	known := metricsTable(t)
	rules, err := os.ReadFile("deploy/prometheus/ax.rules.yml")
	require.NoError(t, err)
	names, unknown := askedFor(string(rules), known)
	require.Greater(t, len(names), 15)
	require.Empty(t, unknown)

	page, err := os.ReadFile("docs/telemetry.md")
	require.NoError(t, err)
	tests, err := os.ReadFile("deploy/prometheus/ax.rules.test.yml")
	require.NoError(t, err)
	alerts := regexp.MustCompile(`- alert: (\w+)`).FindAllStringSubmatch(string(rules), -1)
	require.Greater(t, len(alerts), 12)
	for _, m := range alerts {
		require.Contains(t, string(page), "`"+m[1]+"`", "an alert that docs/telemetry.md doesn't name")
		require.Contains(t, string(tests), m[1], "an alert that no test makes fire")
	}
}

// panel is what a dashboard holds: panels, and rows of them.
type panel struct {
	ID         int             `json:"id"`
	Title      string          `json:"title"`
	Type       string          `json:"type"`
	Datasource json.RawMessage `json:"datasource"`
	Targets    []struct {
		Expr string `json:"expr"`
	} `json:"targets"`
}

func TestTheDashboardAsksForMetricsThatThereAre(t *testing.T) {
	t.Parallel()
	known := metricsTable(t)
	raw, err := os.ReadFile("deploy/grafana/ax.json")
	require.NoError(t, err)
	var d struct {
		UID           string  `json:"uid"`
		Title         string  `json:"title"`
		SchemaVersion int     `json:"schemaVersion"`
		Panels        []panel `json:"panels"`
		Templating    struct {
			List []struct{ Name, Type string } `json:"list"`
		} `json:"templating"`
	}
	require.NoError(t, json.Unmarshal(raw, &d))
	require.NotEmpty(t, d.UID)
	require.LessOrEqual(t, len(d.UID), 40, "the most that Grafana takes")
	require.NotEmpty(t, d.Title)
	require.GreaterOrEqual(t, d.SchemaVersion, 36, "data sources by uid came with 36")
	require.Equal(t, "datasource", d.Templating.List[0].Type)
	require.Equal(t, "datasource", d.Templating.List[0].Name)
	// Whoever imports it has a Prometheus of another name.
	for _, m := range regexp.MustCompile(`"datasource": *([^\n,]*)(?:\n[^\n]*"type": "prometheus",\n[^\n]*"uid": "([^"]*)")?`).FindAllStringSubmatch(string(raw), -1) {
		require.Equal(t, "{", m[1])
		require.Equal(t, "${datasource}", m[2])
	}
	ids, seen := map[int]bool{}, map[string]bool{}
	for _, p := range d.Panels {
		require.False(t, ids[p.ID], "two panels are %d", p.ID)
		ids[p.ID] = true
		require.NotEmpty(t, p.Title)
		require.Equal(t, p.Type != "row", len(p.Targets) > 0, p.Title)
		for _, q := range p.Targets {
			names, unknown := askedFor(q.Expr, known)
			require.Empty(t, unknown, p.Title)
			for _, n := range names {
				seen[n] = true
			}
			require.Equal(t, strings.Count(q.Expr, "("), strings.Count(q.Expr, ")"), q.Expr)
		}
	}
	require.Greater(t, len(seen), 20)
}

// Prometheus itself reads what the dashboard asks, the rules, their tests and
// the example.
func TestPrometheusReadsWhatIsDeployed(t *testing.T) {
	t.Parallel()
	tool := promtool(t)
	raw, err := os.ReadFile("deploy/grafana/ax.json")
	require.NoError(t, err)
	var d struct {
		Panels []panel `json:"panels"`
	}
	require.NoError(t, json.Unmarshal(raw, &d))
	var rules strings.Builder
	rules.WriteString("groups:\n  - name: dashboard\n    rules:\n")
	for i, p := range d.Panels {
		for j, q := range p.Targets {
			expr := strings.NewReplacer("$__rate_interval", "5m", "$job", "ax").Replace(q.Expr)
			fmt.Fprintf(&rules, "      - record: ax:panel_%d_%d\n        expr: %q\n", i, j, expr)
		}
	}
	asked := filepath.Join(t.TempDir(), "dashboard.yml")
	require.NoError(t, os.WriteFile(asked, []byte(rules.String()), 0o600))
	for _, args := range [][]string{
		{"check", "rules", asked}, {"check", "config", "prometheus.yml"}, {"check", "rules", "ax.rules.yml"}, {"test", "rules", "ax.rules.test.yml"},
	} {
		cmd := exec.Command(tool, args...)
		cmd.Dir = "deploy/prometheus"
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "promtool %v: %s", args, out)
	}
}

// promtool gives Prometheus's own tool, or skips the test.
func promtool(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("promtool")
	if err != nil && dbtest.Require() {
		t.Fatal("promtool is required and not installed (Debian: prometheus)")
	}
	if err != nil {
		t.Skip("promtool is not installed")
	}
	return path
}
