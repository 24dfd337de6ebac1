package views

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func rendered(t *testing.T, e Example, lang string) string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, Render(e.For(t.Context(), GalleryViewer(lang, "light")), &out, e.Component))
	return out.String()
}

func parsed(t *testing.T, page string) *goquery.Document {
	t.Helper()
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(page))
	require.NoError(t, err)
	return doc
}

// The golden of an example is what stands in its <main>; the frame around it
// has one of its own, so that a new entry in the sidebar changes one file.
func TestExamplesLookAsBefore(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, e := range Gallery() {
		require.False(t, seen[e.Name], "two examples are called %s", e.Name)
		seen[e.Name] = true
		t.Run(e.Name, func(t *testing.T) {
			t.Parallel()
			page := rendered(t, e, English)
			golden(t, e.Name, inMain(page))
			if e.Name == "help" {
				golden(t, "shell", page)
			}
			if e.Name == "login" {
				golden(t, "shell-entry", page)
			}
		})
	}
}

var (
	hashes   = regexp.MustCompile(`\.[0-9a-f]{12}\.`)
	bars     = regexp.MustCompile(`(?:<rect class="f-art"[^>]*></rect>)+`)
	betweens = regexp.MustCompile(`><(/?)(div|p|ul|ol|li|main|aside|nav|header|footer|form|section|table|t[rdh]|thead|tbody|dl|d[td]|h[1-3]|dialog|svg|button|a|label|fieldset|link|script|meta|title|body|head|template)\b`)
)

func inMain(page string) string {
	from, to := strings.Index(page, "<main"), strings.Index(page, "</main>")
	if from < 0 || to < 0 {
		return page
	}
	return page[from : to+len("</main>")]
}

func golden(t *testing.T, name, page string) {
	t.Helper()
	page = bars.ReplaceAllString(hashes.ReplaceAllString(page, ".hash."), "<!-- quiet slots -->")
	page = betweens.ReplaceAllString(page, ">\n<$1$2") + "\n"
	path := filepath.Join("testdata", "golden", name+".html")
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(page), 0o644))
		return
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "run: go test ./views -update")
	if string(want) != page {
		kept := filepath.Join(t.ArtifactDir(), name+".html")
		require.NoError(t, os.WriteFile(kept, []byte(page), 0o644))
		require.Equal(t, string(want), page, "changed on purpose? go test ./views -update")
	}
}

func TestNoGoldenIsLeftOver(t *testing.T) {
	t.Parallel()
	known := map[string]bool{"shell": true, "shell-entry": true}
	for _, e := range Gallery() {
		known[e.Name] = true
	}
	files, err := filepath.Glob("testdata/golden/*.html")
	require.NoError(t, err)
	for _, f := range files {
		require.True(t, known[strings.TrimSuffix(filepath.Base(f), ".html")], "%s belongs to no example", f)
	}
}

// Every example in both languages keeps the rules that a browser or a screen
// reader would stumble over.
func TestExamplesKeepTheRulesOfEveryPage(t *testing.T) {
	t.Parallel()
	for _, e := range Gallery() {
		for _, lang := range []string{English, Chinese} {
			t.Run(e.Name+" "+lang, func(t *testing.T) {
				t.Parallel()
				page := rendered(t, e, lang)
				require.NotContains(t, page, "%!", "a format got the wrong arguments")
				require.NotContains(t, page, "about:invalid", "an address was refused")
				doc := parsed(t, page)
				require.Equal(t, lang, doc.Find("html").AttrOr("lang", ""))
				require.Equal(t, 1, doc.Find("h1").Length(), "one h1")
				require.Equal(t, 1, doc.Find("main").Length(), "one main")
				keepsThePolicy(t, doc)
				namesItsControls(t, doc)
				pointsAtWhatIsThere(t, doc)
			})
		}
	}
}

// keepsThePolicy: nothing inline, which the content security policy stops.
func keepsThePolicy(t *testing.T, doc *goquery.Document) {
	t.Helper()
	require.Zero(t, doc.Find("[style], style").Length(), "inline style")
	doc.Find("script").Each(func(_ int, s *goquery.Selection) {
		require.NotEmpty(t, s.AttrOr("src", ""), "inline script")
	})
	doc.Find("*").Each(func(_ int, s *goquery.Selection) {
		for _, a := range s.Nodes[0].Attr {
			require.False(t, strings.HasPrefix(a.Key, "on") || strings.HasPrefix(a.Key, "hx-on"), "%s on %s", a.Key, goquery.NodeName(s))
			require.False(t, strings.HasPrefix(a.Key, "hx-trigger") && strings.Contains(a.Val, "["), "a filter in hx-trigger needs eval")
			require.False(t, strings.HasPrefix(strings.TrimSpace(a.Val), "javascript:"), "%s=%s", a.Key, a.Val)
		}
	})
}

// namesItsControls: every input, button and link says what it is.
func namesItsControls(t *testing.T, doc *goquery.Document) {
	t.Helper()
	doc.Find("input:not([type=hidden]), select, textarea").Each(func(_ int, s *goquery.Selection) {
		id := s.AttrOr("id", "")
		named := s.AttrOr("aria-label", "") != "" || s.Closest("label").Length() > 0 || id != "" && doc.Find(`label[for="`+id+`"]`).Length() == 1
		require.True(t, named, "%s %s without label", goquery.NodeName(s), s.AttrOr("name", ""))
	})
	doc.Find("button, a, summary").Each(func(_ int, s *goquery.Selection) {
		html, _ := goquery.OuterHtml(s)
		named := strings.TrimSpace(s.Text()) != "" || s.AttrOr("aria-label", "") != ""
		require.True(t, named, "without a name: %s", html)
	})
	doc.Find("a").Each(func(_ int, s *goquery.Selection) {
		require.NotEmpty(t, s.AttrOr("href", ""), "a link that leads nowhere: %s", s.Text())
	})
	doc.Find("form").Each(func(_ int, s *goquery.Selection) {
		require.True(t, s.AttrOr("action", "") != "" || s.AttrOr("method", "") == "dialog", "a form without address")
	})
}

// pointsAtWhatIsThere: ids are unique, and references meet one.
func pointsAtWhatIsThere(t *testing.T, doc *goquery.Document) {
	t.Helper()
	ids := map[string]bool{}
	doc.Find("[id]").Each(func(_ int, s *goquery.Selection) {
		id := s.AttrOr("id", "")
		require.False(t, ids[id], "two elements have the id %q", id)
		ids[id] = true
	})
	for _, attr := range []string{"aria-labelledby", "aria-describedby", "for", "data-ax-dialog", "data-ax-copy-from"} {
		doc.Find("[" + attr + "]").Each(func(_ int, s *goquery.Selection) {
			for id := range strings.FieldsSeq(s.AttrOr(attr, "")) {
				require.True(t, ids[id], "%s=%q meets nothing", attr, id)
			}
		})
	}
	doc.Find(`a[href^="#"]`).Each(func(_ int, s *goquery.Selection) {
		require.True(t, ids[strings.TrimPrefix(s.AttrOr("href", ""), "#")], "%s meets nothing", s.AttrOr("href", ""))
	})
}
