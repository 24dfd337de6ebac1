package app

import (
	"context"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"ax/app/access"
	"ax/app/sched"
)

// letterIn names a dead letter.
type letterIn struct {
	ID string `path:"id" doc:"The dead letter's number" example:"17"`
}

// letterBody is a dead letter.
type letterBody struct {
	ID          int64              `json:"id" example:"17"`
	Task        string             `json:"task" doc:"The task's code" example:"order.close-unpaid"`
	BizID       string             `json:"biz_id" example:"SO-20261202-778431"`
	Key         string             `json:"key" doc:"Idempotency-Key that the target got and will get"`
	InstanceID  string             `json:"instance_id" doc:"The latest instance that ended badly"`
	Replay      int                `json:"replay" doc:"Highest replay number used"`
	Replaying   string             `json:"replaying" doc:"The replay that is open now; empty: none"`
	Status      sched.LetterStatus `json:"status" enum:"open,taken,solved,wont_fix"`
	Outcome     sched.Outcome      `json:"outcome" enum:"failed,timed_out,lost"`
	Error       string             `json:"error"`
	Fingerprint string             `json:"fingerprint" doc:"The same for errors of the same kind"`
	Cause       string             `json:"cause"`
	Solution    string             `json:"solution"`
	Assignee    string             `json:"assignee" doc:"Login of who works on it; empty: nobody"`
	Opens       int                `json:"opens" doc:"How often it was opened"`
	OpenedAt    instant            `json:"opened_at" nullable:"false"`
	ClosedAt    instant            `json:"closed_at"`
	ClosedBy    string             `json:"closed_by"`
	Version     int                `json:"version" doc:"Raised by every change"`
}

func letterShape(l sched.Letter, code string) letterBody {
	return letterBody{
		ID: l.ID, Task: code, BizID: l.BizID, Key: sched.Instance{BizID: l.BizID}.Key(code), InstanceID: l.InstanceID,
		Replay: l.Replay, Replaying: l.Replaying, Status: l.Status, Outcome: l.Outcome, Error: l.Error,
		Fingerprint: l.Fingerprint, Cause: l.Cause, Solution: l.Solution, Assignee: l.Assignee, Opens: l.Opens,
		OpenedAt: instant(l.OpenedAt), ClosedAt: instant(l.ClosedAt), ClosedBy: l.ClosedBy, Version: l.Version,
	}
}

// letterObject finds the dead letter of the path.
func letterObject(ctx context.Context, s *api, by access.Actor, c *gin.Context) error {
	_, err := s.findLetter(ctx, by, c.Param("id"))
	return err
}

func (s *api) findLetter(ctx context.Context, by access.Actor, id string) (sched.Letter, error) {
	n, err := rowNumber(id)
	if err != nil {
		return sched.Letter{}, err
	}
	return s.letters.Get(ctx, by, n)
}

func (s *api) letterOperations() {
	add(s, operation{
		method: http.MethodGet, path: "/dead-letters", id: "list-dead-letters", tag: tagLetters, verb: access.Read,
		summary: "List dead letters", about: "Newest first, closed ones too.",
	}, (*api).listLetters)
	add(s, operation{
		method: http.MethodGet, path: "/dead-letters/{id}", id: "get-dead-letter", tag: tagLetters, verb: access.Read, object: letterObject,
		summary: "Get a dead letter",
	}, (*api).getLetter)
	add(s, operation{
		method: http.MethodPatch, path: "/dead-letters/{id}", id: "edit-dead-letter", tag: tagLetters, verb: access.Solve, object: letterObject,
		conflicts: true, body: sched.LetterEdit{}, example: exampleEdit,
		summary: "Change the work on a dead letter", about: "Fields left out stay as they are. With a version, a change made meanwhile is 409.",
	}, (*api).editLetter)
	add(s, operation{
		method: http.MethodPost, path: "/dead-letters/{id}/replay", id: "replay-dead-letter", tag: tagLetters, verb: access.Replay,
		object: letterObject, status: http.StatusAccepted, conflicts: true, body: reasonBody{}, optional: true, example: exampleReason,
		summary: "Replay a dead letter",
		about: "Makes a new instance with the same biz_id and key; when it succeeds, the letter is closed. " +
			"409 when the letter is closed, or a replay is under way.",
	}, (*api).replayLetter)
}

type letterListIn struct {
	ListIn
	Task   string               `query:"task" maxLength:"64" doc:"A task's code"`
	Status []sched.LetterStatus `query:"status" enum:"open,taken,solved,wont_fix" doc:"One or more, with commas between"`
	BizID  string               `query:"biz_id" maxLength:"64" doc:"A biz_id, or its beginning"`
	Since  time.Time            `query:"since" doc:"Opened at or after"`
}

type letterListOut struct {
	Body listOf[letterBody]
}

func (s *api) listLetters(ctx context.Context, k *call, in *letterListIn) (*letterListOut, error) {
	f := sched.LetterFilter{Statuses: in.Status, BizID: in.BizID, Since: in.Since}
	if err := together(checkCursor(in.Cursor, isNumber), between(in.Since, time.Time{}), checkBizID(in.BizID)); err != nil {
		return nil, err
	}
	task, known, err := s.filterTask(ctx, k.actor, in.Task)
	if err != nil || !known {
		return &letterListOut{Body: listPage[letterBody](nil, "")}, err
	}
	f.TaskID = task
	page, err := s.letters.List(ctx, k.actor, f, in.page())
	if err != nil {
		return nil, err
	}
	ids := make([]int64, len(page.Items))
	for i, l := range page.Items {
		ids[i] = l.TaskID
	}
	tasks, err := s.reports.TasksByID(ctx, ids)
	if err != nil {
		return nil, err
	}
	var items []letterBody
	for _, l := range page.Items {
		items = append(items, letterShape(l, tasks[l.TaskID].Code))
	}
	return &letterListOut{Body: listPage(items, page.Next)}, nil
}

type letterOut struct {
	Body letterBody
}

func (s *api) getLetter(ctx context.Context, k *call, in *letterIn) (*letterOut, error) {
	l, err := s.findLetter(ctx, k.actor, in.ID)
	if err != nil {
		return nil, err
	}
	return s.letterOut(ctx, l)
}

// letterOut shows a letter that the actor may see.
func (s *api) letterOut(ctx context.Context, l sched.Letter) (*letterOut, error) {
	tasks, err := s.reports.TasksByID(ctx, []int64{l.TaskID})
	return &letterOut{Body: letterShape(l, tasks[l.TaskID].Code)}, err
}

func (s *api) editLetter(ctx context.Context, k *call, in *letterIn) (*letterOut, error) {
	n, err := rowNumber(in.ID)
	if err != nil {
		return nil, err
	}
	var edit sched.LetterEdit
	if err := decode(k.body, &edit); err != nil {
		return nil, err
	}
	l, err := s.letters.Edit(ctx, k.actor, n, edit)
	if err != nil {
		return nil, err
	}
	return s.letterOut(ctx, l)
}

func (s *api) replayLetter(ctx context.Context, k *call, in *letterIn) (*replayOut, error) {
	reason, err := k.reason()
	if err != nil {
		return nil, err
	}
	l, err := s.findLetter(ctx, k.actor, in.ID)
	if err != nil {
		return nil, err
	}
	tasks, err := s.reports.TasksByID(ctx, []int64{l.TaskID})
	if err != nil {
		return nil, err
	}
	return s.replay(ctx, k, l.ID, reason, tasks[l.TaskID].Code)
}
