package robottest

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

type teamsAction struct {
	Type  string `json:"type"`
	Title string `json:"title"`
	URL   string `json:"url"`
}

type teamsRun struct {
	Type   string       `json:"type"`
	Text   string       `json:"text"`
	Weight string       `json:"weight"`
	Size   string       `json:"size"`
	Color  string       `json:"color"`
	Subtle bool         `json:"isSubtle"`
	Select *teamsAction `json:"selectAction"`
}

type teamsMessage struct {
	Type        string `json:"type"`
	Attachments []struct {
		ContentType string `json:"contentType"`
		ContentURL  any    `json:"contentUrl"`
		Content     struct {
			Schema  string `json:"$schema"`
			Type    string `json:"type"`
			Version string `json:"version"`
			Body    []struct {
				Type    string     `json:"type"`
				Inlines []teamsRun `json:"inlines"`
				Text    string     `json:"text"`
				Wrap    bool       `json:"wrap"`
			} `json:"body"`
			Actions []teamsAction `json:"actions"`
			Teams   struct {
				Width    string `json:"width"`
				Entities []struct {
					Type      string `json:"type"`
					Text      string `json:"text"`
					Mentioned struct {
						ID   string `json:"id"`
						Name string `json:"name"`
					} `json:"mentioned"`
				} `json:"entities"`
			} `json:"msteams"`
		} `json:"content"`
	} `json:"attachments"`
}

const teamsPath = "/workflows/5c1f/triggers/manual/paths/invoke"

// Teams is a webhook of a workflow in Microsoft Teams.
func Teams(t testing.TB, o Options) *Robot {
	return start(t, o, teamsPath+"?api-version=2016-06-01&sp=%2Ftriggers%2Fmanual%2Frun&sv=1.0&sig="+Token, lookTeams)
}

func teamsError(status int, code, message string) Play {
	return Say(status, `{"error":{"code":"`+code+`","message":"`+message+`"}}`)
}

func lookTeams(_ Options, r *http.Request, raw []byte) (Got, Play) {
	var m teamsMessage
	q := r.URL.Query()
	switch {
	case r.URL.Path != teamsPath || q.Get("api-version") == "":
		return Got{}, teamsError(http.StatusNotFound, "WorkflowNotFound", "The workflow could not be found.")
	case q.Get("sig") != Token || q.Get("sp") != "/triggers/manual/run":
		return Got{}, teamsError(http.StatusUnauthorized, "DirectApiInvalidAuthorizationScheme", "The provided authorization token is not valid.")
	case len(raw) > 21_000:
		return Got{}, teamsError(http.StatusRequestEntityTooLarge, "RequestEntityTooLarge", "The request is too large.")
	case !posted(r) || strict(raw, &m) != nil || m.Type != "message" || len(m.Attachments) != 1 || m.Attachments[0].ContentType != "application/vnd.microsoft.card.adaptive" ||
		m.Attachments[0].Content.Type != "AdaptiveCard" || len(m.Attachments[0].Content.Body) == 0:
		return Got{}, teamsError(http.StatusBadRequest, "TriggerInputSchemaMismatch", "The input body doesn't match the schema.")
	}
	card := m.Attachments[0].Content
	var lines, marked []string
	got := Got{}
	for _, b := range card.Body {
		line := ""
		for _, run := range b.Inlines {
			line += run.Text
			if run.Select != nil {
				got.Links = append(got.Links, run.Select.URL)
			}
		}
		if b.Type == "TextBlock" {
			marked = append(marked, b.Text)
			continue
		}
		lines = append(lines, line)
	}
	for _, e := range card.Teams.Entities {
		if e.Type != "mention" || e.Text != "<at>"+e.Mentioned.Name+"</at>" || !slices.ContainsFunc(marked, func(s string) bool { return strings.Contains(s, e.Text) }) {
			return Got{}, teamsError(http.StatusBadRequest, "BadRequest", "a mention doesn't match the text")
		}
		got.Called = append(got.Called, e.Mentioned.ID)
	}
	for _, a := range card.Actions {
		got.Links = append(got.Links, a.URL)
	}
	got.Title, got.Plain = lines[0], strings.Join(lines[1:], "\n")
	return got, Play{Status: http.StatusAccepted, Heard: true}
}
