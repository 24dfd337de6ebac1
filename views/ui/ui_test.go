package ui

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/a-h/templ"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// html renders a piece around the text "children".
func html(t *testing.T, c templ.Component) *goquery.Document {
	t.Helper()
	inner := templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		_, err := io.WriteString(w, "children")
		return err
	})
	var out bytes.Buffer
	require.NoError(t, c.Render(templ.WithChildren(t.Context(), inner), &out))
	doc, err := goquery.NewDocumentFromReader(&out)
	require.NoError(t, err)
	return doc
}

func TestAFieldTiesItsErrorAndHintToTheInput(t *testing.T) {
	t.Parallel()
	bad := Field{Name: "schedule.cron", Label: "Cron", Hint: "five fields", Error: "minute 61", Value: `61 * "`, Required: true, Attrs: templ.Attributes{"hx-get": "/x"}}
	for name, c := range map[string]templ.Component{
		"input": Input(bad), "textarea": TextArea(bad), "select": Select(bad, []Option{{Value: `61 * "`, Label: "odd"}}),
	} {
		doc := html(t, c)
		in := doc.Find(name)
		require.Equal(t, "f-schedule-cron", in.AttrOr("id", ""), name)
		require.Equal(t, "schedule.cron", in.AttrOr("name", ""))
		require.Equal(t, "true", in.AttrOr("aria-invalid", ""))
		require.Equal(t, "f-schedule-cron-error f-schedule-cron-hint", in.AttrOr("aria-describedby", ""))
		require.Equal(t, "/x", in.AttrOr("hx-get", ""))
		require.True(t, in.Is("[required][autofocus]"), "the bad field takes the focus")
		require.Equal(t, "f-schedule-cron", doc.Find("label").AttrOr("for", ""))
		require.Equal(t, "minute 61", strings.TrimSpace(doc.Find("#f-schedule-cron-error").Text()))
		require.Equal(t, "five fields", doc.Find("#f-schedule-cron-hint").Text())
		require.True(t, doc.Find(".f").HasClass("has-bad"))
	}
	require.Equal(t, `61 * "`, html(t, Input(bad)).Find("input").AttrOr("value", ""))
	require.Equal(t, `61 * "`, html(t, TextArea(bad)).Find("textarea").Text())
	require.Equal(t, 1, html(t, Select(bad, []Option{{Value: `61 * "`}, {Value: "b"}})).Find("option[selected]").Length())
}

func TestAGoodFieldClaimsNothing(t *testing.T) {
	t.Parallel()
	doc := html(t, Input(Field{Name: "name", Label: "Name"}))
	require.Zero(t, doc.Find("[aria-invalid], [aria-describedby], [required], [autofocus], .bad, .hint").Length())
}

func TestAPasswordIsNeverSentBack(t *testing.T) {
	t.Parallel()
	doc := html(t, Input(Field{Name: "password", Type: "password", Value: "hunter2hunter2", Error: "too short"}))
	out, err := doc.Html()
	require.NoError(t, err)
	require.NotContains(t, out, "hunter2")
}

func TestAChoiceHasOneChecked(t *testing.T) {
	t.Parallel()
	f := Field{Name: "overlap", Label: "Overlap", Value: "skip", Error: "one of"}
	for _, doc := range []*goquery.Document{
		html(t, Segments(f, []Option{{Value: "skip", Label: "Skip"}, {Value: "allow", Label: "Allow"}})),
		html(t, Cards(f, []Card{{Value: "skip", Name: "Skip"}, {Value: "allow", Name: "Allow", Art: Icon("check")}})),
	} {
		require.Equal(t, "skip", doc.Find("input[checked]").AttrOr("value", ""))
		require.Equal(t, 2, doc.Find("label input[type=radio][name=overlap]").Length())
		require.Equal(t, "Overlap", doc.Find("fieldset legend").Text())
		require.Equal(t, "f-overlap-error", doc.Find("fieldset").AttrOr("aria-describedby", ""))
	}
	require.Equal(t, 1, html(t, Check(Field{Name: "on", Label: "On", Value: "true"})).Find("label input[checked][value=true]").Length())
}

func TestASortedHeadSaysSoAndTurns(t *testing.T) {
	t.Parallel()
	row := func(h Head) *goquery.Document {
		return html(t, templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
			_, _ = io.WriteString(w, "<table><tr>")
			return TableHead(h).Render(ctx, w)
		}))
	}
	doc := row(Head{Label: "Due", Href: "/instances?sort=due", Sort: "descending", Class: "num"})
	require.Equal(t, "descending", doc.Find("th[scope=col].num").AttrOr("aria-sort", ""))
	require.Equal(t, "/instances?sort=due", doc.Find("th a").AttrOr("href", ""))
	require.Zero(t, row(Head{Label: "Took", Href: "/x"}).Find("[aria-sort]").Length())
	require.Zero(t, row(Head{Label: "Task"}).Find("a").Length())
}

func TestAPagerLinksOnlyToWhatThereIs(t *testing.T) {
	t.Parallel()
	doc := html(t, Pages(Pager{Shown: "50 shown", Older: "/instances?before=x", NewerWord: "Newer", OldWord: "Older"}))
	require.Equal(t, 1, doc.Find("a").Length())
	require.Equal(t, "next", doc.Find("a").AttrOr("rel", ""))
}

func TestAFilterIsAFormThatKeepsTheRest(t *testing.T) {
	t.Parallel()
	doc := html(t, Filter(FilterBox{Action: "/tasks", Name: "q", Label: "Filter tasks", Value: "words",
		Tokens: []Token{{Key: "state", Value: "failed", Remove: "/tasks?q=words", Label: "Remove state"}}, Keep: []Hidden{{"state", "failed"}}}))
	form := doc.Find("form[role=search]")
	require.Equal(t, "/tasks", form.AttrOr("action", ""))
	require.Equal(t, "words", form.Find("input[type=search]").AttrOr("value", ""))
	require.Equal(t, "failed", form.Find("input[type=hidden][name=state]").AttrOr("value", ""))
	require.Equal(t, "Remove state", form.Find(".tok a").AttrOr("aria-label", ""))
}

func TestAConfirmationIsAFormWithoutScript(t *testing.T) {
	t.Parallel()
	doc := html(t, ConfirmDialog(Confirm{ID: "cancel", Title: "Cancel it?", Action: "/instances/1/cancel", Verb: "Cancel it", Keep: "Keep it", Danger: true,
		Effects: []string{"It ends."}, Reason: Field{Name: "reason", Label: "Reason", Required: true}, Hidden: []Hidden{{"version", "3"}}}))
	form := doc.Find("dialog#cancel form[method=post]")
	require.Equal(t, "/instances/1/cancel", form.AttrOr("action", ""))
	require.Equal(t, 1, form.Find("input[name=reason][required]").Length())
	require.Equal(t, "3", form.Find("input[name=version]").AttrOr("value", ""))
	require.Equal(t, "Cancel it", form.Find("button[type=submit].btn-danger").Text())
	require.Equal(t, "cancel-title", doc.Find("dialog").AttrOr("aria-labelledby", ""))
	require.Zero(t, doc.Find("dialog[open]").Length())
	link := html(t, DialogLink("cancel", "btn", "ban", "Cancel…"))
	require.Equal(t, "#cancel", link.Find("a").AttrOr("href", ""))
}

func TestAStateIsIconWordAndColour(t *testing.T) {
	t.Parallel()
	s := State{Icon: "loader-2", Class: "run", Word: "Running"}
	for _, c := range []templ.Component{Mark(s), Dot(s), Pill(s)} {
		doc := html(t, c)
		require.Equal(t, "Running", doc.Find(".st.run .w").Text())
		require.Equal(t, 1, doc.Find("svg.spin[aria-hidden=true] path").Length())
	}
	require.Equal(t, "Running", html(t, Dot(s)).Find(".st").AttrOr("title", ""))
}

func TestAnUnknownIconIsFoundAtOnce(t *testing.T) {
	t.Parallel()
	require.PanicsWithValue(t, "ui: no icon nope", func() { paths("nope") })
}

func TestCodeIsShownAsItIs(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"{\n  \"a\": [1, -2.5e3, true, null],\n  \"b\\\"\": \"x\"\n}", "  plain <b>text</b>\n\tindented\n", ""} {
		require.Equal(t, text, html(t, CodeBlock(Code{ID: "c", Label: "Code", Text: text})).Find("pre").Text())
	}
	doc := html(t, CodeBlock(Code{ID: "c", Label: "Code", Text: `{"a": "s", "n": 1}`, Copy: "Copy", Copied: "Copied"}))
	require.Equal(t, `"a"`, doc.Find("pre .k").First().Text())
	require.Equal(t, `"s"`, doc.Find("pre .s").Text())
	require.Equal(t, "1", doc.Find("pre .n").Text())
	require.Equal(t, "c", doc.Find("button").AttrOr("data-ax-copy-from", ""))
}

func TestColouringLosesNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var v any = rapid.MapOf(rapid.String(), rapid.OneOf(
			rapid.Map(rapid.String(), func(s string) any { return s }),
			rapid.Map(rapid.Float64(), func(f float64) any { return f }),
			rapid.Map(rapid.SliceOf(rapid.Bool()), func(b []bool) any { return b }),
		)).Draw(t, "object")
		raw, err := json.MarshalIndent(v, "", rapid.SampledFrom([]string{"", " ", "\t"}).Draw(t, "indent"))
		require.NoError(t, err)
		var back strings.Builder
		for _, s := range Spans(string(raw)) {
			back.WriteString(s.Text)
		}
		require.Equal(t, string(raw), back.String())
	})
}

func TestFiguresAreLinksToWhatTheyCount(t *testing.T) {
	t.Parallel()
	doc := html(t, Figures([]Figure{{Label: "Running", Value: "46", Href: "/instances?state=running"}, {Label: "Lag", Value: "38", Unit: "ms"}, {Label: "Open", Value: "23", Sub: "29 in 1 h", Alarm: true, Href: "/d"}}))
	require.Equal(t, "/instances?state=running", doc.Find(".strip.four > a").First().AttrOr("href", ""))
	require.Equal(t, 1, doc.Find(".strip > div").Length())
	require.Equal(t, "29 in 1 h", strings.TrimSpace(doc.Find(".st.fail").Text()))
}

func TestChartsHaveASentence(t *testing.T) {
	t.Parallel()
	for _, c := range []templ.Component{
		ColumnChart(Columns{Label: "said", Height: 190}),
		LineChart(Lines{Label: "said", Height: 92}),
		SlotStrip(Slots{Label: "said", Width: "180", Bars: []Bar{{Class: "f-ok", X: "0", Y: "0", W: "2", H: "9"}}}),
		MeterBar(Meter{Label: "said", Done: "5%"}),
	} {
		require.Equal(t, "said", html(t, c).Find("[role=img]").AttrOr("aria-label", ""))
	}
	require.Zero(t, html(t, SlotStrip(Slots{})).Find("svg").Length(), "never ran is no empty picture")
}
