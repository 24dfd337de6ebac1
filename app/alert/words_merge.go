package alert

// Merge words several messages as one: an item with a link for each, at most
// MaxMerged. Of one message it is its Text.
func Merge(lang string, messages []Message, w Where) Text {
	if len(messages) == 1 {
		return messages[0].Text(lang, w)
	}
	t := Text{Language: spoken(lang), Tone: TonePlain, Merged: true, Foot: w.foot(), Link: w.link("/alerts"), LinkWord: wordOpenAll.in(lang)}
	title := wordAlerts
	var logins []string
	for i, m := range messages {
		t.Tone = louder(t.Tone, m.tone())
		if m.Kind == Summing || m.Kind == Test || m.Kind == Ran {
			title = wordMessages
		}
		if m.calls() {
			logins = append(logins, m.Mention...)
			t.All = t.All || w.All && !w.Quiet
		}
		if i < MaxMerged {
			t.Items = append(t.Items, m.item(lang, w))
		}
	}
	if !w.Quiet {
		t.Mentions = w.meant(logins)
	}
	t.Title = title.fill(lang, len(messages))
	t.rest = len(messages) - len(t.Items)
	t.More = more(lang, t.rest)
	return t
}

// item is a message as one of several: by the channel's own text its first
// line.
func (m Message) item(lang string, w Where) Item {
	t := m.Text(lang, w)
	i := Item{Text: t.Title, Link: t.Link}
	switch {
	case m.Digest != nil && len(t.Lines) > 1:
		i.Detail = t.Lines[1].Value
	case m.Run != nil:
		i.Detail = oneLine(m.Run.Error, maxDetail)
	case m.own(w) == "" && m.Rule != "":
		i.Text = oneLine(t.Title+" · "+m.valueLine(lang).Value, 2*maxTitle)
	}
	if t.Late != "" {
		i.Text += " (" + t.Late + ")"
	}
	return i
}

// louder is the louder of two tones; good and plain news together are plain.
func louder(a, b Tone) Tone {
	for _, t := range []Tone{ToneWorse, ToneBad} {
		if a == t || b == t {
			return t
		}
	}
	if a == b {
		return a
	}
	return TonePlain
}
