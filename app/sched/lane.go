package sched

import (
	"regexp"
	"slices"
	"strings"
	"time"
)

// Bounds of labels.
const (
	maxTaskLabels = 5
	// MaxNodeLabels is how many labels a node may have.
	MaxNodeLabels = 16
)

var labelForm = regexp.MustCompile(`^[a-z0-9][a-z0-9_.-]{0,31}$`)

// LabelOK tells whether s can be a label of a node: 1 to 32 lower-case letters,
// digits, dots, hyphens and underscores, beginning with a letter or digit.
func LabelOK(s string) bool { return labelForm.MatchString(s) }

// Labels are a set of labels, written as one text: sorted, joined by commas.
// The zero value asks for nothing.
type Labels string

// LabelsOf makes a set of a list.
func LabelsOf(list []string) Labels {
	sorted := slices.Clone(list)
	slices.Sort(sorted)
	return Labels(strings.Join(slices.Compact(sorted), ","))
}

// List is the set as a list, sorted; nil when it is empty.
func (l Labels) List() []string {
	if l == "" {
		return nil
	}
	return strings.Split(string(l), ",")
}

// String is the set as people read it.
func (l Labels) String() string { return strings.Join(l.List(), ", ") }

// In tells whether all labels of the set are in the list.
func (l Labels) In(list []string) bool {
	return !slices.ContainsFunc(l.List(), func(s string) bool { return !slices.Contains(list, s) })
}

// Lane is a way through the carrier: a queue, and what a node must carry to take
// what comes along it. People see the queue; lanes are the carrier's own.
type Lane struct {
	Queue  string
	Labels Labels
}

// String is what people call a lane, such as "default (gpu, cn-north)".
func (l Lane) String() string {
	if l.Labels == "" {
		return l.Queue
	}
	return l.Queue + " (" + l.Labels.String() + ")"
}

// Lane that the messages of an instance of the task take. Work that needs labels
// goes by the task as it stands: what waits follows its queue and its labels.
func (t Task) Lane(in Instance) Lane {
	if len(t.Spec.Labels) == 0 {
		return Lane{Queue: in.Queue}
	}
	return Lane{Queue: t.Queue, Labels: LabelsOf(t.Spec.Labels)}
}

// Message that asks to look at an instance of the task.
func (t Task) Message(in Instance) Message {
	return t.Lane(in).Message(in)
}

// Message that asks along the lane to look at an instance.
func (l Lane) Message(in Instance) Message {
	return Message{InstanceID: in.ID, Dispatch: in.Dispatch, Queue: l.Queue, Labels: l.Labels, DueAt: in.DueAt}
}

// Serves tells whether the node would take work of the lane at now: it lives,
// its last beat is not older than dead, it takes work, and it has the queue and
// all labels.
func (n NodeInfo) Serves(l Lane, now time.Time, dead time.Duration) bool {
	return !n.Gone() && !n.Draining && n.Slots > 0 && now.Sub(n.BeatAt) <= dead && slices.Contains(n.Queues, l.Queue) && l.Labels.In(n.Labels)
}

// Served tells whether any of the nodes would take work of the lane.
func Served(nodes []NodeInfo, l Lane, now time.Time, dead time.Duration) bool {
	return slices.ContainsFunc(nodes, func(n NodeInfo) bool { return n.Serves(l, now, dead) })
}

// WaitsFor is what an instance of the task waits for that none of the nodes
// serves; ok is false when one does, or when it does not wait for a node: it is
// not due, the task is paused, or it has begun or ended.
func (t Task) WaitsFor(in Instance, nodes []NodeInfo, now time.Time, dead time.Duration) (lane Lane, ok bool) {
	if !claimable(in.State) || in.DueAt.After(now) || t.Paused(now) {
		return Lane{}, false
	}
	lane = t.Lane(in)
	return lane, !Served(nodes, lane, now, dead)
}

// labels checks the labels that a task needs and gives them sorted, each once.
func (p *problems) labels(list []string) []string {
	var out []string
	for _, s := range list {
		s = strings.ToLower(strings.TrimSpace(s))
		if s == "" || slices.Contains(out, s) {
			continue
		}
		if !LabelOK(s) {
			p.add("labels", "A label has at most 32 lower-case letters, digits, dots, hyphens and underscores, and begins with a letter or digit: %q", s)
		}
		out = append(out, s)
	}
	if len(out) > maxTaskLabels {
		p.add("labels", "At most %d labels; these are %d", maxTaskLabels, len(out))
	}
	slices.Sort(out)
	return out
}
