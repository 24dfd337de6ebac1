package views

import (
	"context"
	"slices"
	"time"

	"github.com/a-h/templ"

	"ax/app/alert"
	"ax/app/cron"
	"ax/app/fault"
)

// Example is a page or piece in one of its states, with values that don't
// change from day to day. Each has a golden file, and `make gallery` shows
// them all.
type Example struct {
	Name      string // file name of the golden, such as "login-refused"
	Component templ.Component
	// Guest is for pages of people who aren't signed in.
	Guest bool
}

// Gallery is all examples. To add those of a page, put a function into
// <noun>_gallery.go and name it here.
func Gallery() []Example {
	return slices.Concat(
		entryExamples(),
		errorExamples(),
		pieceExamples(),
		dashboardExamples(),
		opsExamples(),
		auditExamples(),
		settingsExamples(),
		teamExamples(),
		accountExamples(),
		calendarExamples(),
		taskExamples(),
		testCallExamples(),
		instancesExamples(),
		instanceExamples(),
		lettersExamples(),
		letterExamples(),
		alertExamples(),
		apiExamples(),
		ruleExamples(),
		channelExamples(),
		deliveryExamples(),
		executorExamples(),
		executorTaskExamples(),
	)
}

// GalleryViewer is who the examples are rendered for: an ops lead in
// Shanghai, at the time of the sample data.
func GalleryViewer(lang, theme string) Viewer {
	zone, err := cron.LoadZone("Asia/Shanghai")
	if err != nil {
		zone = time.FixedZone("Asia/Shanghai", 8*3600)
	}
	return Viewer{
		Lang: lang, Theme: theme, Zone: zone,
		Now:     time.Date(2026, 12, 2, 6, 32, 7, 0, time.UTC),
		User:    User{ID: 1, Login: "ops-lead", Name: "ops-lead"},
		Teams:   []Team{{"payments", "Payments"}, {"marketplace", "Marketplace"}, {"store", "Store operations 门店运营"}},
		Team:    "payments",
		Path:    "/",
		Env:     "production",
		Version: "1.0.0",
		Counts:  Counts{DeadLetters: 23, Alerts: alert.FiringCount{P1: 3, P2: 2}},
		Health:  &Health{Ledger: true, Redis: true, Nodes: 5, Known: 6},
		Refresh: 5,
	}
}

// For is the context in which the example is rendered.
func (e Example) For(ctx context.Context, v Viewer) context.Context {
	if e.Guest {
		v.User, v.Teams, v.Team, v.Health, v.Refresh = User{}, nil, "", nil, 0
	}
	return With(ctx, v)
}

func entryExamples() []Example {
	zones := []string{"Asia/Shanghai", "Europe/Berlin", "UTC"}
	values := SetupValues{Name: "ops-lead", Login: "ops-lead", TeamName: "Payments", TeamCode: "Payments!", Zone: "Asia/Shanghai", Language: English}
	return []Example{
		{Name: "login", Guest: true, Component: Login(LoginPage{Host: "ax.example.com"})},
		{Name: "login-provider", Guest: true, Component: Login(LoginPage{Host: "ax.example.com", Provider: "Example Corp 示例公司", ProviderURL: "/login/oidc?next=%2F",
			Errors: []fault.FieldError{{Text: fault.Text{Format: "%s did not sign you in", Args: []any{"Example Corp 示例公司"}}}}})},
		{Name: "login-refused", Guest: true, Component: Login(LoginPage{Host: "ax.example.com", Login: "ops-lead", Next: "/tasks", PlainHTTPWarning: true,
			Errors: []fault.FieldError{fault.Field("login", "Login or password is wrong")}})},
		{Name: "setup", Guest: true, Component: Setup(SetupPage{Token: "t", Zones: zones, Left: 52 * time.Minute, Values: SetupValues{TeamName: "Default", TeamCode: "default", Zone: "Asia/Shanghai", Language: English}})},
		{Name: "setup-refused", Guest: true, Component: Setup(SetupPage{Token: "t", Zones: zones, Left: time.Minute, Values: values, Errors: []fault.FieldError{
			fault.Field("password", "A password has %d to %d characters", 12, 128),
			fault.Field("team_code", "A team's code has 2 to 32 letters a–z, digits and -"),
		}})},
		{Name: "setup-finished", Guest: true, Component: Setup(SetupPage{Finished: true})},
		{Name: "help", Component: HelpPage()},
		{Name: "search", Component: Search(SearchPage{Query: "settle", Hits: []Hit{
			{Kind: "task", Title: "Daily settlement run 每日清算", Code: "billing.settle-daily", Href: "/tasks/billing.settle-daily", State: "failed"},
			{Kind: "instance", Title: "Daily settlement run, 1 Dec 15:30", Code: "@2026-12-01T07:30:00Z", Href: "/instances/0193868e-2f40-7c11-9a02-6b1fd2f0c7e1", State: "timed_out"},
			{Kind: "letter", Title: "504 Gateway Timeout", Code: "billing.settle-daily", Href: "/dead-letters/9", State: "open"},
		}})},
		{Name: "search-nothing", Component: Search(SearchPage{Query: "nonesuch"})},
	}
}

func errorExamples() []Example {
	var all []Example
	for _, e := range []struct {
		name string
		page ErrorPage
	}{
		{"error-400", ErrorPage{Status: 400}}, {"error-401", ErrorPage{Status: 401}},
		{"error-403", ErrorPage{Status: 403, Back: "/dead-letters/9", RequestID: "7c41e0b2"}},
		{"error-404", ErrorPage{Status: 404, RequestID: "5b1b02fa"}}, {"error-405", ErrorPage{Status: 405}},
		{"error-409", ErrorPage{Status: 409, What: "Saved by ledger-dev at 14:30:02, version 13", Back: "/tasks/ledger.reconcile-bank"}},
		{"error-413", ErrorPage{Status: 413}}, {"error-422", ErrorPage{Status: 422}}, {"error-429", ErrorPage{Status: 429}},
		{"error-500", ErrorPage{Status: 500, RequestID: "9f02c61d"}}, {"error-503", ErrorPage{Status: 503, RequestID: "9f02c61e"}},
	} {
		all = append(all, Example{Name: e.name, Guest: e.page.Status == 401, Component: Error(e.page)})
	}
	return append(all, Example{Name: "error-404-guest", Guest: true, Component: Error(ErrorPage{Status: 404, RequestID: "5b1b02fa"})})
}
