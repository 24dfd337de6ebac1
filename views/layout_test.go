package views

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/a-h/templ"
	"github.com/stretchr/testify/require"
)

func shown(t *testing.T, v Viewer, c templ.Component) *goquery.Document {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, Render(With(t.Context(), v), &out, c))
	return parsed(t, out.String())
}

func TestTheShellMarksWhereOneIs(t *testing.T) {
	t.Parallel()
	v := GalleryViewer(English, "dark")
	doc := shown(t, v, layout(shell{title: "Tasks", section: "/tasks", live: true}))
	require.Equal(t, "Tasks · ax", doc.Find("title").Text())
	require.Equal(t, "/tasks", doc.Find(`nav [aria-current="page"]`).AttrOr("href", ""))
	require.Equal(t, "dark", doc.Find("html").AttrOr("data-bs-theme", ""))
	require.Equal(t, "23 open", doc.Find(`[href="/dead-letters"] .count`).Text())
	require.Equal(t, "/tasks?team=store", doc.Find(".team li:last-child a").AttrOr("href", ""))
	require.Equal(t, 1, doc.Find("[data-ax-live='5']").Length())
	require.Equal(t, 1, doc.Find(`form[method=post][action="/logout"] button`).Length(), "signing out is no link")
	require.Equal(t, "#main", doc.Find("body > a.skip").AttrOr("href", ""))
}

func TestTheShellShowsOnlyWhatThereIs(t *testing.T) {
	t.Parallel()
	doc := shown(t, Viewer{Lang: English, User: User{ID: 1, Name: "x", Login: "x"}}, layout(shell{title: "x", live: true}))
	require.Zero(t, doc.Find(".team, .env, [data-ax-live], .count, [data-ax-toast]:not(template *)").Length())
	require.Zero(t, doc.Find(".side-foot .st").Length())
	require.Equal(t, "auto", doc.Find("html").AttrOr("data-ax-theme", ""))
	require.Equal(t, "light", doc.Find("html").AttrOr("data-bs-theme", ""))
}

func TestTroubleIsSaidAtTheFoot(t *testing.T) {
	t.Parallel()
	v := GalleryViewer(English, "")
	for want, h := range map[string]Health{"No database": {Redis: true}, "No Redis: work is late": {Ledger: true}} {
		v.Health = &h
		require.Contains(t, shown(t, v, HelpPage()).Find(".side-foot .fail").Text(), want)
	}
	v.SetupWarning = true
	require.Contains(t, shown(t, v, HelpPage()).Find(".side-foot .retry").Text(), "Not encrypted")
}

func TestAFlashIsSaidOnce(t *testing.T) {
	t.Parallel()
	v := GalleryViewer(English, "")
	v.Flash = &Flash{Text: "Saved <b>", Detail: "Next run 15:30", Bad: true}
	doc := shown(t, v, HelpPage())
	toast := doc.Find("#ax-toasts[role=status] [data-ax-toast=bad]")
	require.Equal(t, "Saved <b>", toast.Find("[data-text]").Text())
	require.Equal(t, "Next run 15:30", toast.Find("[data-detail]").Text())
}

func TestTheOtherLanguageComesBackToThisPage(t *testing.T) {
	t.Parallel()
	v := GalleryViewer(English, "")
	for path, want := range map[string]string{
		"/tasks?state=failed&q=a:b": "/language?back=%2Ftasks%3Fstate%3Dfailed%26q%3Da%3Ab&to=zh-CN",
		"//evil.example":            "/language?back=%2F&to=zh-CN",
		"https://evil.example":      "/language?back=%2F&to=zh-CN",
		`/\evil.example`:            "/language?back=%2F&to=zh-CN",
		"":                          "/language?back=%2F&to=zh-CN",
	} {
		v.Path = path
		link := shown(t, v, HelpPage()).Find(".bar > a[hreflang]")
		require.Equal(t, want, link.AttrOr("href", ""), path)
		require.Equal(t, "zh-CN", link.AttrOr("lang", ""))
	}
	v.Lang = Chinese
	require.Equal(t, "English", shown(t, v, HelpPage()).Find(".bar > a[hreflang]").Text())
}

func TestErrorsStandInTheShellOnlyForPeopleSignedIn(t *testing.T) {
	t.Parallel()
	page := Error(ErrorPage{Status: 404, RequestID: "5b1b02fa"})
	require.Equal(t, 1, shown(t, GalleryViewer(English, ""), page).Find("#nav").Length())
	guest := shown(t, Viewer{Lang: English, Path: "/tasks/x"}, page)
	require.Zero(t, guest.Find("#nav").Length())
	require.Equal(t, "/login", guest.Find("main .btn-primary").AttrOr("href", ""))
	require.Contains(t, guest.Find("dl").Text(), "5b1b02fa")
	require.Contains(t, guest.Find("dl").Text(), "/tasks/x")
}

func TestAnUnknownStatusIsOurFault(t *testing.T) {
	t.Parallel()
	doc := shown(t, GalleryViewer(English, ""), Error(ErrorPage{Status: 599}))
	require.Equal(t, "This page failed on our side", doc.Find("h1").Text())
	doc = shown(t, GalleryViewer(English, ""), Error(ErrorPage{Status: 409, Title: "Busy", What: "It runs", Why: "One at a time.", Kept: "Kept.", Help: "Wait."}))
	require.Equal(t, "Busy", doc.Find("h1").Text())
	require.Contains(t, doc.Find("main").Text(), "One at a time. Kept. Wait.")
	require.NotContains(t, doc.Find("main").Text(), "It was changed meanwhile")
}

func TestAFailedPageWritesNothing(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	err := Render(t.Context(), &out, templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		_, _ = io.WriteString(w, "half a page")
		return errors.New("broken")
	}))
	require.ErrorContains(t, err, "render page: broken")
	require.Empty(t, out.String())
}

func TestEveryStateHasALook(t *testing.T) {
	t.Parallel()
	ctx := With(t.Context(), Viewer{Lang: Chinese})
	require.Equal(t, "超时", state(ctx, "timed_out").Word)
	require.Equal(t, "处理中", letterState(ctx, "taken").Word)
	require.Equal(t, "nonesuch", state(ctx, "nonesuch").Word, "an unknown state doesn't break a page")
}
