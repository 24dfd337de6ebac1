package main

// guardsOfAlerts are those that "told, and once" rests on. Second lines are not
// here: the incident's version (the turn and the key of a message stand behind
// it), and the claim at a settling (a message that is done stays done).
func guardsOfAlerts() []guard {
	return []guard{
		{name: "alert: messages with their incident", purpose: "no incident without its messages, wherever a process dies",
			edits: []edit{{"db/incidents.go", "		return d.insertDeliveries(tx, c.Deliveries)\n",
				"		go func() {\n			time.Sleep(time.Second)\n			_ = d.tx(context.WithoutCancel(ctx), \"messages\", func(tx *gorm.DB) error { return d.insertDeliveries(tx, c.Deliveries) })\n		}()\n		return nil\n"}},
			runs: []string{"F41/kill"}, signs: []string{"A2", "F41/kill"}},
		{name: "alert: one open incident", purpose: "a cause that goes on is one incident",
			edits: []edit{{"db/incidents.go", "	if i.Open() {\n", "	if false {\n"}},
			runs:  []string{"F41"}, signs: []string{"A1"}},
		{name: "alert: claim of a channel", purpose: "one node at a time sends to a channel",
			edits: []edit{
				{"db/deliveries.go", "OR c.claimed_until<=?)", "OR c.claimed_until<=? OR 1=1)"},
				{"db/deliveries.go", "OR claimed_until<=?)", "OR claimed_until<=? OR 1=1)"},
			},
			runs: []string{"F41"}, signs: []string{"A7"}},
		{name: "alert: noted when answered", purpose: "what a receiver did not take is not noted as delivered",
			edits: []edit{{"app/alert/courier.go", "answer := c.o.Send.Send(ctx, s.Channel, []Message{d.Message})",
				"answer := Answer{Verdict: Accepted}\n		c.o.Send.Send(ctx, s.Channel, []Message{d.Message})"}},
			runs: []string{"F41"}, signs: []string{"A4"}},
		{name: "alert: tried again", purpose: "a message that nobody heard is sent again",
			edits: []edit{{"jobs/notify_http.go", `a := alert.Answer{Verdict: alert.Again, Code: "network"}`, `a := alert.Answer{Verdict: alert.GiveUp, Code: "network"}`}},
			runs:  []string{"F41"}, signs: []string{"F41"}},
		{name: "alert: without the carrier", purpose: "Redis is not needed to tell",
			edits: []edit{{"app/alert/courier.go", "if away || now.Sub(ch.Since) > stuckAfter {", "if false && away {"}},
			runs:  []string{"F41/redis"}, signs: []string{"F41/redis"}},
		{name: "alert: one message of one end", purpose: "a program hears of an end under one id, however often it is looked for",
			edits: []edit{{"app/alert/events.go", "Dedupe: h.dedupe,", "Dedupe: m.ID,"}},
			runs:  []string{"F41"}, signs: []string{"A5"}},
		{name: "alert: signed with its id", purpose: "a message can't be passed off as another",
			edits: []edit{{"jobs/notify_webhook.go", `timestamp + "." + id + "."`, `timestamp + "." + "."`}},
			runs:  []string{"F41"}, signs: []string{"A6"}},
	}
}
