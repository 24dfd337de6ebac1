package db_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"ax/app/sched"
	"ax/db"
	"ax/db/dbtest"
)

// DEAD-03: a queue that keeps only its newest ten thousand failures hides the
// others from whoever is to mend them.
func TestAllOfTwelveThousandDeadLettersAreListed(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) { // without Verify: the letters have no instances
		const n = 12_000
		task := dbtest.MakeTask(t, d)
		first, in := dbtest.MakeLetter(t, d, task)
		var rows []string
		for i := 1; i < n; i++ {
			rows = append(rows, fmt.Sprintf("(%d,%d,'b-%d','%s','open','failed',%d)", task.ID, task.TeamID, i, in.ID, t0.UnixMilli()))
			if len(rows) == 1000 || i == n-1 {
				exec(t, d, "INSERT INTO dead_letters (task_id, team_id, biz_id, instance_id, status, outcome, opened_at) VALUES "+strings.Join(rows, ","))
				rows = nil
			}
		}
		list := func(f sched.LetterFilter) map[int64]bool {
			seen := map[int64]bool{}
			p := sched.PageRequest{Limit: 200}
			for {
				page, err := d.Letters(t.Context(), f, p)
				require.NoError(t, err)
				for _, l := range page.Items {
					require.False(t, seen[l.ID], "letter %d comes twice", l.ID)
					seen[l.ID] = true
				}
				if p.After = page.Next; p.After == "" {
					return seen
				}
			}
		}
		f := sched.LetterFilter{Scope: all}
		seen := list(f)
		require.Len(t, seen, n)
		require.True(t, seen[first.ID], "the oldest too")
		f.BizID = "b-11"
		require.Len(t, list(f), 1+10+100+1000, "11, 110–119, 1100–1199, 11000–11999")
	})
}
