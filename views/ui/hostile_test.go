package ui

import (
	"reflect"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/a-h/templ"
	"github.com/stretchr/testify/require"
)

// hostile are texts that try to become markup, an address or an attribute.
var hostile = []string{
	`<script>alert(1)</script>`,
	`"><img src=x onerror=alert(1)>`,
	`' onfocus=alert(1) autofocus x='`,
	`javascript:alert(1)`,
	"java\tscript:alert(1)",
	`data:text/html,<script>alert(1)</script>`,
	`</textarea></title></pre><svg onload=alert(1)>`,
	`{"a":"</pre><script>alert(1)</script>"}`,
	"a\x00b\u2028<b>",
}

// filled gives a value of T with text in every string, also those in slices.
// Icons are names from a fixed table, never from data.
func filled[T any](text string) T {
	var v T
	fill(reflect.ValueOf(&v).Elem(), text)
	return v
}

func fill(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range 2 {
			fill(v.Index(i), text)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			switch v.Type().Field(i).Name {
			case "Icon":
				v.Field(i).SetString("check")
			case "Type", "Sort": // chosen in code
			default:
				fill(v.Field(i), text)
			}
		}
	}
}

func TestHostileTextStaysText(t *testing.T) {
	t.Parallel()
	for _, x := range hostile {
		f := filled[Field](x)
		for name, c := range map[string]templ.Component{
			"input": Input(f), "area": TextArea(f), "check": Check(f), "select": Select(f, filled[[]Option](x)),
			"segments": Segments(f, filled[[]Option](x)), "cards": Cards(f, filled[[]Card](x)),
			"section": FormSection(x, x, x), "form error": FormError(x), "note": Note("check", x),
			"mark": Mark(filled[State](x)), "dot": Dot(filled[State](x)), "pill": Pill(filled[State](x)), "tag": Tag(x), "face": Face(x, x),
			"region": Region(x), "pages": Pages(filled[Pager](x)), "filter": Filter(filled[FilterBox](x)),
			"tabs": Tabs(x, filled[[]Tab](x)), "switch": Switch(x, filled[[]Tab](x)), "top": PageTop(filled[Top](x)), "section top": SectionTop(x, x),
			"figures": Figures(filled[[]Figure](x)), "fact": Fact(x), "empty": Empty(x, x),
			"confirm": ConfirmDialog(filled[Confirm](x)), "dialog link": DialogLink(x, x, "check", x), "toast": ToastBox(filled[Toast](x)),
			"code": CodeBlock(filled[Code](x)), "copy": CopyButton(x, x, x), "step": StepLine(filled[Step](x)),
			"columns": ColumnChart(filled[Columns](x)), "legend": Legend(filled[[]Key](x)), "slots": SlotStrip(filled[Slots](x)),
			"meter": MeterBar(filled[Meter](x)), "lines": LineChart(filled[Lines](x)),
		} {
			require.Empty(t, harm(html(t, c)), "%s with %q", name, x)
		}
	}
}

// harm is what in a document would run or lead to something that runs.
func harm(doc *goquery.Document) []string {
	var found []string
	doc.Find("script, img, iframe, style, object").Each(func(_ int, s *goquery.Selection) {
		found = append(found, goquery.NodeName(s))
	})
	doc.Find("*").Each(func(_ int, s *goquery.Selection) {
		for _, a := range s.Nodes[0].Attr {
			if strings.HasPrefix(a.Key, "on") {
				found = append(found, a.Key)
			}
			if a.Key == "href" || a.Key == "action" {
				scheme, _, ok := strings.Cut(strings.ToLower(a.Val), ":")
				if ok && !strings.ContainsAny(scheme, "/#?") && scheme != "about" {
					found = append(found, a.Key+"="+a.Val)
				}
			}
		}
	})
	return found
}

// The net has to catch what is not escaped, else the test above says nothing.
func TestHarmIsSeen(t *testing.T) {
	t.Parallel()
	for _, x := range []string{hostile[0], hostile[1][2:], `<a href="` + hostile[3] + `">x</a>`, `<a href="` + hostile[4] + `">x</a>`, `<p ` + hostile[2][2:] + `'>`} {
		require.NotEmpty(t, harm(html(t, templ.Raw(x))), x)
	}
}
