package db_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"ax/app/sched"
	"ax/db"
	"ax/db/dbtest"
)

// STUCK-05, UNI-01: no text that a target sends may keep a run from ending.
func TestSTUCK05AnyTextIsStoredAndTheRunEnds(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"an emoji":                  "boom 👨‍💻 \U0001F447",
		"a NUL":                     "a\x00b",
		"no UTF-8":                  "\xff\xfe broken \xc3",
		"a lone surrogate":          "\xed\xa0\x80",
		"more than a column holds":  strings.Repeat("长", 30_000) + "end",
		"broken and longer":         strings.Repeat("\xff", 70_000),
		"cut in a character":        strings.Repeat("x", 65_534) + "长",
		"line and paragraph breaks": "a\r\n\u2028b\u0085c",
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, d *db.DB) {
				task, node := dbtest.MakeTask(t, d, dbtest.Retries(0)), dbtest.MakeNode(t, d)
				r := failure()
				r.Error, r.Request, r.Response = text, text, text
				run := running(t, d, task, node)
				settle(t, d, run, r, later(1))
				v := look(t, d, run.Instance.ID)
				require.Equal(t, sched.Failed, v.State)
				require.NotEmpty(t, letter(t, d, run.Instance.ID).Error)
				require.NotEmpty(t, v.Attempts[0].Response)
				require.LessOrEqual(t, len(v.Attempts[0].Response), 65_535)
				require.True(t, settle(t, d, run, sched.Result{Outcome: sched.OutcomeTimedOut, Error: text}, later(2)).Refused)

				run = running(t, d, task, node)
				r.Outcome = sched.OutcomeAccepted
				settle(t, d, run, r, later(1))
				require.Equal(t, sched.Awaiting, read(t, d, run.Instance.ID).State)
				_, err := d.Receive(t.Context(), sched.Report{InstanceID: run.Instance.ID, Attempt: 1, Outcome: sched.OutcomeFailed, Message: text, Address: text}, later(2))
				require.NoError(t, err)

				run = running(t, d, task, node)
				entry := ask("instance.cancel")
				entry.Reason, entry.Actor.Name = text, text
				_, err = d.Cancel(t.Context(), run.Instance.ID, later(1), entry)
				require.NoError(t, err)
				settle(t, d, run, cutOff(), later(2))
				in := dbtest.MakeInstance(t, d, task)
				_, err = d.Cancel(t.Context(), in.ID, later(1), entry)
				require.NoError(t, err)
			})
		})
	}
}
