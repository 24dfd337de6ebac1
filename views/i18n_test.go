package views

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	templparser "github.com/a-h/templ/parser/v2"
	"github.com/a-h/templ/parser/v2/visitor"
	"github.com/stretchr/testify/require"

	"ax/app/fault"
)

func TestEveryTextOfThePagesHasItsChinese(t *testing.T) {
	t.Parallel()
	all, odd := texts(t)
	require.Empty(t, odd, "texts that are not literals: the catalogue cannot be checked")
	require.Empty(t, missing(all, func(at string) bool { return strings.HasPrefix(at, "../views/") }))
}

func TestTheCatalogueHoldsNothingElse(t *testing.T) {
	t.Parallel()
	all, _ := texts(t)
	for text := range chinese {
		if _, ok := all[text]; !ok {
			t.Errorf("in locales/zh-CN.json, but nowhere in the source: %q", text)
		}
	}
	for key, p := range plurals {
		require.Contains(t, all, key, "in locales/en.json, but nowhere in the source")
		require.NotEmpty(t, p.One)
		require.NotEmpty(t, p.Other)
	}
}

// missing are the texts without 中文 in locales/zh-CN.json.
func missing(all found, here func(at string) bool) string {
	var lines []string
	for text, at := range all {
		if _, ok := chinese[text]; !ok && here(at) && translatable(text) {
			lines = append(lines, fmt.Sprintf("%s: %q", at, text))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// translatable leaves out formats that only join values.
func translatable(text string) bool {
	return strings.ContainsFunc(verb.ReplaceAllString(text, ""), unicode.IsLetter)
}

func TestChineseTakesTheSameValues(t *testing.T) {
	t.Parallel()
	for en, zh := range chinese {
		require.Equal(t, values(t, withoutContext(en)), values(t, zh), "%q: %q", en, zh)
	}
	for key, p := range plurals {
		require.Equal(t, values(t, withoutContext(key)), values(t, p.Other), "%q", p.Other)
		require.Subset(t, values(t, withoutContext(key)), values(t, p.One), "%q", p.One)
	}
}

var verb = regexp.MustCompile(`%(?:\[(\d+)\])?[-+# 0]*\d*(?:\.\d+)?([a-zA-Z%])`)

// values gives which verb each argument is printed with.
func values(t *testing.T, format string) []string {
	t.Helper()
	var out []string
	next := 1
	for _, m := range verb.FindAllStringSubmatch(format, -1) {
		if m[2] == "%" {
			continue
		}
		if m[1] != "" {
			_, err := fmt.Sscan(m[1], &next)
			require.NoError(t, err)
		}
		out = append(out, fmt.Sprintf("%d%s", next, m[2]))
		next++
	}
	slices.Sort(out)
	return out
}

// House rules of the Chinese texts: design-language.md, Voice.
func TestChineseKeepsTheVoice(t *testing.T) {
	t.Parallel()
	for en, zh := range chinese {
		for _, no := range []string{"您", "！", "哦"} {
			require.NotContains(t, zh, no, en)
		}
		shown := verb.ReplaceAllString(plain.Replace(zh), "0")
		require.NotRegexp(t, `\p{Han}[A-Za-z0-9]|[A-Za-z0-9]\p{Han}`, shown, "%q: a space between 中文 and the rest", en)
	}
}

// plain are values that may be 中文 themselves, so that they need no space.
var plain = strings.NewReplacer("%s", "字", "%[1]s", "字", "%[2]s", "字", "%q", "“”")

// rawAllowed are words in pages that are the same in every language.
var rawAllowed = []string{"ax", "Ctrl K", "English", "中文", "· ax", "ax setup-link"}

func TestNoTextOfAPageBypassesTheCatalogue(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.templ")
	require.NoError(t, err)
	pieces, err := filepath.Glob("ui/*.templ")
	require.NoError(t, err)
	for _, name := range append(files, pieces...) {
		if strings.HasPrefix(name, "gallery_") {
			continue
		}
		src, err := os.ReadFile(name)
		require.NoError(t, err)
		tree, err := templparser.ParseString(string(src))
		require.NoError(t, err, name)
		check := func(text string, line uint32) {
			text = strings.TrimSpace(text)
			if strings.ContainsFunc(text, unicode.IsLetter) && !slices.Contains(rawAllowed, text) {
				t.Errorf("%s:%d: %q is not in the catalogue", name, line+1, text)
			}
		}
		v := visitor.New()
		v.Text = func(n *templparser.Text) error {
			check(n.Value, n.Range.From.Line)
			return nil
		}
		v.ConstantAttribute = func(n *templparser.ConstantAttribute) error {
			switch n.Key.String() {
			case "title", "alt", "placeholder", "aria-label", "aria-description":
				check(n.Value, n.Range.From.Line)
			}
			return nil
		}
		require.NoError(t, tree.Visit(v))
	}
}

func TestTranslateFillsAndCutsTheContext(t *testing.T) {
	t.Parallel()
	require.Equal(t, "Open", Translate(English, "Open|dead letter"))
	require.Equal(t, "待处理", Translate(Chinese, "Open|dead letter"))
	require.Equal(t, "打开", Translate(Chinese, "Open|verb"))
	require.Equal(t, "not in the catalogue 7", Translate(Chinese, "not in the catalogue %d", 7))
	inner := fault.Text{Format: "in %s", Args: []any{fault.Text{Format: "%d s", Args: []any{23}}}}
	require.Equal(t, "in 23 s", TranslateText(English, inner))
	require.Equal(t, "23 秒后", TranslateText(Chinese, inner))
}

func TestCountsHaveASingular(t *testing.T) {
	t.Parallel()
	require.Equal(t, "1 dead letter", TranslateCount(English, "%d dead letters", 1))
	require.Equal(t, "1,234 dead letters", TranslateCount(English, "%d dead letters", 1234))
	require.Equal(t, "1 条死信", TranslateCount(Chinese, "%d dead letters", 1))
	for key, p := range plurals {
		if len(values(t, withoutContext(key))) == 1 {
			require.NotContains(t, TranslateCount(English, key, 1), "%!", p.One)
		}
	}
}

func TestTheLanguageIsTheSettingThenTheCookieThenTheBrowsers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ setting, cookie, accept, want string }{
		"the setting wins":              {"zh-CN", "en", "en-GB,en;q=0.9", Chinese},
		"then the cookie":               {"", "zh-CN", "en", Chinese},
		"then the browser":              {"", "", "zh-Hans-CN,zh;q=0.9,en;q=0.5", Chinese},
		"English set against a browser": {"en", "", "zh-CN", English},
		"a quality decides":             {"", "", "zh;q=0.2, en;q=0.9", English},
		"Taiwan reads Chinese":          {"", "", "zh-TW", Chinese},
		"unknown is English":            {"", "", "fr-FR,fr;q=0.9", English},
		"rubbish is English":            {"", "../../x", ";;;q=,", English},
		"nothing is English":            {"", "", "", English},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, PickLang(c.setting, c.cookie, c.accept))
		})
	}
}

func TestAViewerWithoutZoneSeesUTC(t *testing.T) {
	t.Parallel()
	require.Equal(t, time.UTC, viewer(With(t.Context(), Viewer{})).Zone)
	require.Equal(t, English, viewer(t.Context()).Lang)
}

// One text a line, sorted, so that two people adding texts rarely meet.
func TestTheCatalogueIsSorted(t *testing.T) {
	t.Parallel()
	var want bytes.Buffer
	enc := json.NewEncoder(&want)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	require.NoError(t, enc.Encode(chinese))
	const name = "locales/zh-CN.json"
	if *update {
		require.NoError(t, os.WriteFile(name, want.Bytes(), 0o644))
		return
	}
	got, err := os.ReadFile(name)
	require.NoError(t, err)
	require.True(t, bytes.Equal(want.Bytes(), got), "sort it with: go test ./views -update")
}
