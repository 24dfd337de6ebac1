package main

import (
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var (
	typeLine   = regexp.MustCompile(`(?m)^# TYPE (ax_\S+) (\S+)$`)
	sampleLine = regexp.MustCompile(`(?m)^(ax_[a-z0-9_]+)(?:\{(.*)\})? `)
	labelName  = regexp.MustCompile(`([a-z_]+)="`)
)

// exposed is what a scrape gave, as the table has it.
func exposed(text string) map[string]metricRow {
	out := map[string]metricRow{}
	for _, m := range typeLine.FindAllStringSubmatch(text, -1) {
		out[m[1]] = metricRow{kind: m[2]}
	}
	for _, m := range sampleLine.FindAllStringSubmatch(text, -1) {
		name := m[1]
		if _, ok := out[name]; !ok {
			name = partOfAHist.ReplaceAllString(name, "")
		}
		var labels []string
		for _, l := range labelName.FindAllStringSubmatch(m[2], -1) {
			if l[1] != "le" {
				labels = append(labels, l[1])
			}
		}
		slices.Sort(labels)
		out[name] = metricRow{out[name].kind, strings.Join(labels, " ")}
	}
	return out
}

// What docs/telemetry.md says of metrics is what a process gives, to the last
// label: neither can change alone.
func TestTheTableOfMetricsIsWhatAProcessGives(t *testing.T) {
	t.Parallel()
	want := metricsTable(t)
	addr := freeAddr(t)
	a := newAx(t, plainAx.build(t), "AX_METRICS_ADDR="+addr)
	s := newSink(t, nil)
	a.prepare()
	a.start()
	a.task("counted", s.URL)
	require.NoError(t, a.trigger("counted", "one", nil))
	var got map[string]metricRow
	scrape := func() bool {
		resp, err := http.Get("http://" + addr + "/metrics")
		if err != nil {
			return false
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusOK {
			return false
		}
		got = exposed(string(text))
		return len(got) >= len(want) // rates of the hour come with the roll-up
	}
	for end := time.Now().Add(45 * time.Second); !scrape() && time.Now().Before(end); {
		time.Sleep(500 * time.Millisecond)
	}
	require.Equal(t, want, got)
}
