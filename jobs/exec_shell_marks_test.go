package jobs_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/sched"
	"ax/jobs"
)

// sources are what was kept, by source.
func (s *shelf) sources() (out, errs string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var seqs []int
	for seq := range s.rows {
		seqs = append(seqs, seq)
	}
	slices.Sort(seqs)
	for _, seq := range seqs {
		to := &out
		for i := range len(s.rows[seq].Text) {
			switch c := s.rows[seq].Text[i]; c {
			case sched.OutMark:
				to = &out
			case sched.ErrMark:
				to = &errs
			default:
				*to += string([]byte{c})
			}
		}
	}
	return out, errs
}

func TestOutputTellsItsSourceAndKeepsTheOrderOfEach(t *testing.T) {
	s, store, folder := shellOf(t)
	r := s.Execute(t.Context(), shellCall(putScript(t, folder,
		`echo one; sleep 0.05; echo bad >&2; echo worse >&2; sleep 0.05; printf 'two\016\017 halves'; sleep 0.05; echo "third bad" >&2; sleep 0.05; echo " of it"; exit 3`)))
	out, errs := store.sources()
	require.Equal(t, "one\ntwo halves of it\n", out)
	require.Equal(t, "bad\nworse\nthird bad\n", errs)
	require.Equal(t, "one\n\x0ebad\nworse\nthird bad\n\x0ftwo halves of it\n", strings.ReplaceAll(store.all(), "worse\n\x0e", "worse\n"), "a line is not cut by the other source")
	require.Equal(t, "exit code 3: third bad", r.Error, "of standard error, whoever spoke last")
	require.NotContains(t, r.Response, "\x0e")
}

// Both sources print more than is kept, at once: what is kept of each is in
// its order, and each line belongs to one.
func TestMuchOutputOfBothSourcesIsToldApart(t *testing.T) {
	s, store, folder := shellOf(t, func(o *jobs.ShellExecOptions) { o.Shell.Output = "64KB"; o.Secrets = teamWords{"hunter2-of-the-team"} })
	r := s.Execute(t.Context(), shellCall(putScript(t, folder,
		`seq -f 'out %.0f hunter2-of-the-team' 1 40000 & seq -f 'err %.0f hunter2-of-the-team' 1 40000 >&2; wait`)))
	require.Equal(t, sched.OutcomeSucceeded, r.Outcome, r.Error)
	out, errs := store.sources()
	for name, text := range map[string]string{"out": out, "err": errs} {
		last := 0
		lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		for i, line := range lines {
			var n int
			_, err := fmt.Sscanf(line, name+" %d ***", &n)
			if err != nil && strings.Count(text, "\n") > 10 && !strings.HasPrefix(line, name) && i > 0 {
				continue // where the middle was cut
			}
			require.NoError(t, err, "%q of %s", line, name)
			require.Greater(t, n, last)
			last = n
		}
	}
	require.NotContains(t, out+errs, "hunter2")
	require.Contains(t, out+errs, "40000 ***\n")
}

// A line of a command that is at rest is stored long before a second is over.
func TestALineAfterAPauseIsStoredSoon(t *testing.T) {
	s, store, folder := shellOf(t)
	done := make(chan struct{})
	script := putScript(t, folder, "echo first; sleep 1.3; echo second; sleep 2")
	go func() { defer close(done); s.Execute(t.Context(), shellCall(script)) }()
	await := func(text string) time.Time {
		for {
			if strings.HasSuffix(store.all(), text) {
				return time.Now()
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
	first := await("first\n")
	require.Less(t, await("second\n").Sub(first), 1900*time.Millisecond)
	<-done
}
