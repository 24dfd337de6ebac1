package alert

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// listens tells whether a subscription is told of the incident's messages.
func (s Subscription) listens(i Incident) bool {
	if len(s.Events) > 0 || s.Level == P1 && i.Level != P1 {
		return false
	}
	return s.RuleID != 0 && s.RuleID == i.RuleID || s.RuleID == 0 && s.TeamID == i.TeamID
}

// tell decides what is told of an incident, and to whom.
func (e *Evaluator) tell(t turn, r Rule, was, is Incident) (Incident, []Delivery) {
	var listening []Subscription
	var waits []time.Duration
	for _, s := range t.subs {
		if s.listens(is) {
			listening, waits = append(listening, s), append(waits, s.After)
		}
	}
	is, tellings := is.Due(r, waits, t.now)
	var out []Delivery
	for _, telling := range tellings {
		told := map[string]bool{} // a channel hears of it once, however it listens
		for _, s := range listening {
			if !telling.gets(s.After) || told[s.ChannelID] {
				continue
			}
			told[s.ChannelID] = true
			m := e.message(t, r, is, telling.Kind)
			out = append(out, e.delivery(t, s, is, m, fmt.Sprintf("%s/%s/%d", is.ID, telling.Kind, is.Told)))
		}
	}
	return is, append(out, e.events(t, was, is)...)
}

func (e *Evaluator) delivery(t turn, s Subscription, i Incident, m Message, dedupe string) Delivery {
	m.ID = e.o.NewID()
	return Delivery{
		ID: m.ID, TeamID: s.TeamID, ChannelID: s.ChannelID, IncidentID: i.ID, Object: "incident/" + i.ID, Dedupe: dedupe,
		Kind: m.Kind, Message: m, State: Waiting, CreatedAt: t.now, DueAt: t.now,
	}
}

// message of an incident, as facts.
func (e *Evaluator) message(t turn, r Rule, i Incident, kind MessageKind) Message {
	m := Message{
		Kind: kind, At: t.now, IncidentID: i.ID, Rule: i.RuleName, Metric: i.Metric, Level: i.Level, Team: t.teams[i.TeamID].Name,
		Scope: r.Scope, Value: i.Value, Worst: i.Worst, Threshold: i.Threshold, Host: i.Host, Since: i.Since, EndedAt: i.EndedAt,
		Members: i.Members[:min(len(i.Members), MaxNamed)], Count: len(i.Members), Note: i.Note, Path: "/alerts/incidents/" + i.ID,
	}
	if kind == Closed {
		m.Count = max(i.Everyone, m.Count)
	}
	if r.Mention && kind != Closed {
		for _, member := range i.Members {
			if member.Owner != "" && !slices.Contains(m.Mention, member.Owner) && len(m.Mention) < MaxNamed {
				m.Mention = append(m.Mention, member.Owner)
			}
		}
	}
	return m
}

// IncidentFacts is an incident as webhooks and the API show it.
type IncidentFacts struct {
	ID        string     `json:"id"`
	Rule      string     `json:"rule"`
	Metric    Metric     `json:"metric"`
	Level     Level      `json:"level"`
	State     string     `json:"state"`
	Team      string     `json:"team,omitempty"` // code; empty: the installation
	Value     float64    `json:"value"`
	Worst     float64    `json:"worst"`
	Threshold float64    `json:"threshold"`
	Host      string     `json:"host,omitempty"`
	Since     time.Time  `json:"since"`
	OpenedAt  *time.Time `json:"opened_at,omitempty"`
	EndedAt   *time.Time `json:"ended_at,omitempty"`
	AckedAt   *time.Time `json:"acknowledged_at,omitempty"`
	AckedBy   string     `json:"acknowledged_by,omitempty"`
	Assignee  string     `json:"assignee,omitempty"`
	Note      string     `json:"note,omitempty"`
	Silenced  bool       `json:"silenced"`
	Told      int        `json:"messages"`
	Members   []Member   `json:"members"`
}

// Facts of the incident, with the team's code.
func (i Incident) Facts(team string) IncidentFacts {
	opt := func(t time.Time) *time.Time {
		if t.IsZero() {
			return nil
		}
		return &t
	}
	members := i.Members
	if members == nil {
		members = []Member{}
	}
	return IncidentFacts{
		ID: i.ID, Rule: i.RuleName, Metric: i.Metric, Level: i.Level, State: string(i.State), Team: team,
		Value: i.Value, Worst: i.Worst, Threshold: i.Threshold, Host: i.Host, Since: i.Since, OpenedAt: opt(i.OpenedAt),
		EndedAt: opt(i.EndedAt), AckedAt: opt(i.AckedAt), AckedBy: i.AckedBy, Assignee: i.Assignee, Note: i.Note,
		Silenced: i.Silenced, Told: i.Told, Members: members,
	}
}

// events are what webhooks are told of the incident's begin and end. Silences
// hold back what wakes people, not facts for programs.
func (e *Evaluator) events(t turn, was, is Incident) (out []Delivery) {
	var event EventType
	switch {
	case is.State == Firing && was.State != Firing:
		event = IncidentOpened
	case is.State == Over && was.State == Firing:
		event = IncidentClosed
	default:
		return nil
	}
	object, err := json.Marshal(is.Facts(t.teams[is.TeamID].Code))
	if err != nil {
		e.o.Log.Error("an incident can't be written as JSON", "incident", is.ID, "error", err)
		return nil
	}
	for _, s := range t.subs {
		if s.TeamID == is.TeamID && slices.Contains(s.Events, event) {
			m := Message{Kind: Event, At: t.now, Event: event, Object: object}
			out = append(out, e.delivery(t, s, is, m, string(event)+"/"+is.ID))
		}
	}
	return out
}
