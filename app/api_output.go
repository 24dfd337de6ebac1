package app

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humagin"

	"ax/app/access"
	"ax/app/fault"
	"ax/app/sched"
	"ax/views"
)

// How a log is followed: a request waits for something new, and ends without
// it after a while; how often it looks, and how many may wait in one process.
const (
	followFor   = 20 * time.Second
	followEvery = 200 * time.Millisecond
	mostFollow  = 64
)

// OutputPick says of which log, and what of it. The framework looks into
// embedded types only when they are exported.
type OutputPick struct {
	ID      string            `path:"id" doc:"The instance's id" example:"0193868e-2f40-7c11-9a02-6b1fd2f0c7e1"`
	Attempt int               `query:"attempt" minimum:"1" maximum:"1000000" doc:"Left out: the newest, or that of after"`
	Q       string            `query:"q" maxLength:"200" doc:"Only entries with these words, whatever the case of letters" example:"timeout"`
	Source  []sched.LogSource `query:"source" enum:"stdout,stderr,request,answer,receipt,progress,ax" doc:"Only these, with commas between"`
}

type outputIn struct {
	OutputPick
	After  string `query:"after" maxLength:"100" doc:"after of the answer before; left out: from the beginning"`
	Limit  int    `query:"limit" minimum:"1" maximum:"1000" default:"200" doc:"Most entries of an answer; long ones end it earlier"`
	Follow bool   `query:"follow" doc:"Wait up to 20 s for something new, as long as the attempt goes on"`
	Accept string `header:"Accept" doc:"text/plain gives lines of text"`
}

// outputBody is a part of a log.
type outputBody struct {
	Attempt int         `json:"attempt" example:"1" doc:"0: the instance has none yet"`
	Items   []entryBody `json:"items" nullable:"false"`
	After   string      `json:"after" doc:"Reading goes on from here, also when there is nothing more yet"`
	More    bool        `json:"more" doc:"There is more already"`
	Ended   bool        `json:"ended" doc:"The attempt is over; receipts may still come"`
}

// entryBody is a line that was printed, or a thing that happened.
type entryBody struct {
	At      instant         `json:"at" nullable:"false" doc:"When it was stored or happened; lines to about a second"`
	Source  sched.LogSource `json:"source" enum:"stdout,stderr,request,answer,receipt,progress,ax"`
	Text    string          `json:"text" doc:"Secrets masked"`
	Skipped int64           `json:"skipped_bytes,omitempty" doc:"Bytes before it that are not kept"`
	Dropped int             `json:"skipped_entries,omitempty" doc:"Entries of its source before it that are not kept"`
}

func (s *api) outputOperations() {
	body := s.huma.OpenAPI().Components.Schemas.Schema(typeOf(outputBody{}), true, "")
	text := &huma.Schema{Type: huma.TypeString}
	add(s, operation{
		method: http.MethodGet, path: "/instances/{id}/output", id: "get-instance-output", tag: tagInstances, object: instanceObject, verb: access.Read,
		content: map[string]*huma.MediaType{"application/json": {Schema: body}, "text/plain": {Schema: text}},
		summary: "Read the log of an attempt",
		about: "One stream in the order of time: what the command printed, the request as it was sent, the answer, receipts and progress of the target, and what ax did. " +
			"To follow it, send after of each answer with follow=1. Of much output the first and the last part are kept for thirty days, and the gap is told by skipped_bytes.",
	}, (*api).output)
	add(s, operation{
		method: http.MethodGet, path: "/instances/{id}/output.txt", id: "download-instance-output", tag: tagInstances, object: instanceObject, verb: access.Read,
		media: plainText, summary: "Download the log of an attempt",
		about: "All that is kept. With source=stdout, stderr or both it holds nothing but what was printed.",
	}, (*api).outputFile)
}

// picked finds the instance and the attempt that are asked for.
func (s *api) picked(ctx context.Context, k *call, in OutputPick) (v sched.InstanceView, q sched.LogQuery, err error) {
	if v, err = s.findInstance(ctx, k.actor, in.ID); err != nil {
		return v, q, err
	}
	q = sched.LogQuery{Attempt: in.Attempt, Words: in.Q, Sources: in.Source}
	if q.Attempt == 0 && len(v.Attempts) > 0 {
		q.Attempt = v.Attempts[len(v.Attempts)-1].No
	}
	return v, q, nil
}

// stream is an answer that the operation writes itself.
type stream struct{ Body func(huma.Context) }

func (s *api) output(ctx context.Context, k *call, in *outputIn) (*stream, error) {
	v, q, err := s.picked(ctx, k, in.OutputPick)
	if err != nil {
		return nil, err
	}
	q.Limit = in.Limit
	if in.After != "" {
		after, ok := sched.ParseLogCursor(in.After)
		if !ok || in.Attempt != 0 && in.Attempt != after.Attempt {
			return nil, fault.Invalid(fault.Field("after", "The after of another answer about this attempt is needed"))
		}
		q.Attempt, q.After = after.Attempt, after
	}
	page := sched.LogPage{}
	if q.Attempt != 0 {
		if page, err = s.following(ctx, k, v, q, in.Follow); err != nil {
			return nil, err
		}
	}
	if strings.HasPrefix(in.Accept, "text/plain") {
		return plainStream(page, bare(q.Sources)), nil
	}
	return &stream{func(c huma.Context) {
		c.SetHeader("Content-Type", "application/json")
		_ = json.NewEncoder(c.BodyWriter()).Encode(outputShape(page)) // the client has gone
	}}, nil
}

func outputShape(p sched.LogPage) outputBody {
	out := outputBody{Attempt: p.Attempt, Items: make([]entryBody, len(p.Entries)), After: p.After.String(), More: p.More, Ended: p.Ended}
	if p.Attempt == 0 {
		out.After = ""
	}
	for i, e := range p.Entries {
		out.Items[i] = entryBody{At: instant(e.At), Source: e.Source, Text: e.String(), Skipped: e.Skipped, Dropped: e.Dropped}
	}
	return out
}

func plainStream(p sched.LogPage, bare bool) *stream {
	return &stream{func(c huma.Context) {
		c.SetHeader("Content-Type", plainText)
		c.SetHeader("Ax-After", p.After.String())
		for _, e := range p.Entries {
			if _, err := io.WriteString(c.BodyWriter(), views.Viewer{}.LogText(e, bare)); err != nil {
				return // the client has gone
			}
		}
	}}
}

// following reads on in a log; when there is nothing and the caller follows it,
// it waits for something.
func (s *api) following(ctx context.Context, k *call, v sched.InstanceView, q sched.LogQuery, follow bool) (sched.LogPage, error) {
	mark, err := s.instances.LogMark(ctx, k.actor, v, q.Attempt)
	if err != nil {
		return sched.LogPage{}, err
	}
	page, err := s.instances.Log(ctx, k.actor, v, q)
	if err != nil || !follow || len(page.Entries) > 0 || page.More || v.State.Final() {
		return page, err
	}
	if s.followers.Add(1) > mostFollow {
		s.followers.Add(-1)
		return page, fault.TooMany("Too many follow logs just now: try again in %d s", 5)
	}
	defer s.followers.Add(-1)
	end := time.NewTimer(followFor)
	defer end.Stop()
	look := time.NewTicker(followEvery)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return page, nil
		case <-end.C:
			return page, nil
		case <-look.C:
		}
		now, err := s.instances.LogMark(ctx, k.actor, v, q.Attempt)
		if err != nil {
			return page, err
		}
		if now == mark {
			continue
		}
		mark = now
		if v, err = s.findInstance(ctx, k.actor, v.ID); err != nil {
			return page, err
		}
		q.After = page.After // what the words don't want was read
		if page, err = s.instances.Log(ctx, k.actor, v, q); err != nil || len(page.Entries) > 0 || page.More || v.State.Final() {
			return page, err
		}
	}
}

func (s *api) outputFile(ctx context.Context, k *call, in *OutputPick) (*stream, error) {
	v, q, err := s.picked(ctx, k, *in)
	if err != nil {
		return nil, err
	}
	if q.Attempt == 0 {
		q.Attempt = 1
	}
	if _, ok := v.AttemptNo(q.Attempt); !ok {
		return nil, access.NoObject()
	}
	return &stream{func(c huma.Context) {
		g := humagin.Unwrap(c)
		_ = s.sendLog(g.Request.Context(), k.actor, v, q, views.Viewer{}, g.Writer) // checked above
	}}, nil
}
