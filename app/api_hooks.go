package app

import "ax/app/sched"

// hookBody is how far the questions of an instance are.
type hookBody struct {
	URL      string           `json:"url" doc:"That was asked last"`
	Asked    int              `json:"asked" example:"4"`
	FirstAt  instant          `json:"first_at" nullable:"false"`
	NextAt   instant          `json:"next_at" doc:"Of the next question; null: none is to come"`
	GiveUpAt instant          `json:"give_up_at" doc:"Of the last one; null: it doesn't wait"`
	ReadyAt  instant          `json:"ready_at" doc:"When it said ready; null: it didn't"`
	Answers  []hookAnswerBody `json:"answers" nullable:"false" doc:"The last five, the latest last"`
}

// hookAnswerBody is one answer, secrets masked.
type hookAnswerBody struct {
	At     instant `json:"at" nullable:"false"`
	Status int     `json:"status" doc:"HTTP status; 0: none came" example:"503"`
	Said   string  `json:"said" doc:"Why it isn't ready, on one line; empty: it is" example:"answered 503 Service Unavailable"`
	TookMs int64   `json:"took_ms"`
}

func hookShape(p *sched.Probing) *hookBody {
	if p == nil {
		return nil
	}
	out := &hookBody{
		URL: p.Address, Asked: p.Asked, FirstAt: instant(p.FirstAt), NextAt: instant(p.NextAt), GiveUpAt: instant(p.GiveUpAt), ReadyAt: instant(p.ReadyAt),
		Answers: make([]hookAnswerBody, len(p.Answers)),
	}
	for i, a := range p.Answers {
		out.Answers[i] = hookAnswerBody{At: instant(a.At), Status: a.Status, Said: a.Said, TookMs: a.Took.Milliseconds()}
	}
	return out
}
