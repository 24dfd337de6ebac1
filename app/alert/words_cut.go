package alert

import "slices"

// cut is how much a text may hold at a step of cutting, in characters and
// numbers of things.
type cut struct{ title, lines, value, items, text, detail, people int }

var cuts = [...]cut{
	{maxTitle, 100, maxValue, MaxMerged, 2 * maxTitle, maxDetail, maxCalled},
	{maxTitle, 100, maxValue, MaxMerged, 2 * maxTitle, 100, maxCalled},
	{maxTitle, 100, maxValue, MaxMerged, maxTitle, 0, maxCalled},
	{maxTitle, 40, 200, 10, 100, 0, maxCalled},
	{maxTitle, 20, 200, 5, 100, 0, 10},
	{150, 12, 120, 3, 80, 0, 10},
	{120, 8, 100, 1, 60, 0, 5},
	{80, 3, 60, 0, 0, 0, 1},
}

// Cuts is how many steps Cut knows.
const Cuts = len(cuts)

// Cut gives the text with less in it: the more the higher step is, 0 (all) to
// Cuts-1. Robots take only so many bytes.
func (t Text) Cut(step int) Text {
	c := cuts[min(max(step, 0), Cuts-1)]
	t.Title = oneLine(t.Title, c.title)
	t.Lines = slices.Clone(t.Lines[:min(len(t.Lines), c.lines)])
	for i := range t.Lines {
		t.Lines[i].Value = oneLine(t.Lines[i].Value, c.value+20) // both a time and how long
	}
	kept := min(len(t.Items), c.items)
	t.rest += len(t.Items) - kept
	t.Items = slices.Clone(t.Items[:kept])
	for i := range t.Items {
		t.Items[i].Text = oneLine(t.Items[i].Text, c.text+50) // and how late
		t.Items[i].Detail = oneLine(t.Items[i].Detail, max(c.detail, 1))
		if c.detail == 0 {
			t.Items[i].Detail = ""
		}
	}
	t.More = more(t.Language, t.rest)
	t.Mentions = t.Mentions[:min(len(t.Mentions), c.people)]
	return t
}
