package views

import (
	"context"
	"net/http"
	"strconv"

	"ax/views/ui"
)

// ErrorPage is a refusal: what, why, what was kept, who can help. Texts come
// translated; those left empty get a sentence by the status.
type ErrorPage struct {
	Status    int
	Title     string // what happened
	What      string // the fault's own text
	Why       string
	Kept      string // what became of a change
	Help      string // who can help
	Back      string // a local path that leads on, "" for the dashboard
	RequestID string // to be named when asking for help
}

// refusal is what is said of a status.
type refusal struct {
	title, why, kept string
}

var refusals = map[int]refusal{
	http.StatusBadRequest:            {msg("That could not be read"), msg("The request is not one that ax understands."), ""},
	http.StatusUnauthorized:          {msg("Sign in first"), msg("Nobody is signed in here, or the session has ended."), ""},
	http.StatusForbidden:             {msg("You may look here, but not do this"), msg("It needs a role that you don’t have in this team."), msg("Nothing was changed. The refusal is in the audit.")},
	http.StatusNotFound:              {msg("There is nothing at this address"), msg("Not found, or not yours to see."), ""},
	http.StatusMethodNotAllowed:      {msg("That can’t be done here"), msg("The address exists, but not for this kind of request."), ""},
	http.StatusConflict:              {msg("It was changed meanwhile"), msg("The state of the object does not allow this any more."), msg("Nothing was changed.")},
	http.StatusRequestEntityTooLarge: {msg("That is too much"), msg("The request is larger than ax takes."), msg("Nothing was changed.")},
	http.StatusUnprocessableEntity:   {msg("Some fields need another value"), msg("They can be read, but break a rule."), msg("Nothing was changed.")},
	http.StatusTooManyRequests:       {msg("That was too often"), msg("Wait a moment, then try again."), msg("Nothing was changed.")},
	http.StatusInternalServerError:   {msg("This page failed on our side"), msg("Scheduled work goes on, it does not need this page."), msg("A change that was under way was taken back whole.")},
	http.StatusServiceUnavailable:    {msg("Something ax needs is away"), msg("The database or Redis does not answer. Work that is due runs when it is back."), msg("A change that was under way was taken back whole.")},
}

// filled puts the sentences of the status where the page has none.
func (p ErrorPage) filled(ctx context.Context) ErrorPage {
	r, ok := refusals[p.Status]
	if !ok {
		r = refusals[http.StatusInternalServerError]
	}
	for at, said := range map[*string]string{&p.Title: r.title, &p.Why: r.why, &p.Kept: r.kept} {
		if *at == "" && said != "" {
			*at = t(ctx, said)
		}
	}
	if p.Help == "" && p.Status == http.StatusForbidden {
		p.Help = t(ctx, "An owner of the team can give you the role.")
	}
	return p
}

// status is the number as a person reads it.
func (p ErrorPage) status() string { return strconv.Itoa(p.Status) }

// back is where the way on leads.
func (p ErrorPage) back() string {
	return Viewer{Path: p.Back}.back()
}

// goneBars are the row of slots above an error: one is missing.
func goneBars() []ui.Bar {
	var bars []ui.Bar
	for i := range 44 {
		if i == 21 || i == 22 || i == 23 {
			continue
		}
		h := 14 + i%5*3
		bars = append(bars, ui.Bar{Class: "f-soft", X: strconv.Itoa(i * 11), Y: strconv.Itoa(44 - h), W: "6", H: strconv.Itoa(h)})
	}
	return bars
}
