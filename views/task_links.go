package views

import (
	"net/url"
	"strconv"

	"github.com/a-h/templ"

	"ax/views/ui"
)

func taskURL(code string) string { return "/tasks/" + url.PathEscape(code) }

// confirmURL is the question before an action on a task; back is where it
// leads afterwards, "" for the task's page.
func confirmURL(code, action, back string) string {
	to := taskURL(code) + "/confirm/" + action
	if back != "" {
		to += "?" + url.Values{"back": {back}}.Encode()
	}
	return to
}

// askHere lets htmx fetch the question behind a link into this page; without
// JavaScript the link leads to a page of its own.
func askHere(to string) templ.Attributes {
	return templ.Attributes{"hx-get": to, "hx-target": "#ask-here", "hx-swap": "innerHTML"}
}

// toTheSecond lets a date and time field hold seconds.
var toTheSecond = templ.Attributes{"step": "1"}

// fieldWith is a field with some more said about it.
func fieldWith(f ui.Field, more func(*ui.Field)) ui.Field {
	more(&f)
	return f
}

// showsDefault is what stands in an empty field: the default that it gets.
func showsDefault(value string) templ.Attributes { return templ.Attributes{"placeholder": value} }

// fromList offers the values of a datalist.
func fromList(id string) templ.Attributes { return templ.Attributes{"list": id} }

// teamShown is the name of a team that the viewer sees, else its code.
func teamShown(v Viewer, code string) string {
	for _, team := range v.Teams {
		if team.Code == code {
			return team.Name
		}
	}
	return code
}

// waitingSlots are the slots of the picture above an empty list.
func waitingSlots() []ui.Bar {
	var bars []ui.Bar
	for i := range 12 {
		class, h := "f-soft", 14+i*5%17
		if i > 6 {
			class, h = "f-line", 6
		}
		if i == 7 {
			continue // the slot to come is drawn dashed
		}
		bars = append(bars, ui.Bar{Class: class, X: strconv.Itoa(i * 19), Y: strconv.Itoa(48 - h), W: "10", H: strconv.Itoa(h)})
	}
	return bars
}
