//go:build linux

package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/sched"
	"ax/jobs"
)

// shelf keeps outputs as the ledger does.
type shelf struct {
	mu    sync.Mutex
	rows  map[int]sched.Stretch
	away  error
	bytes int // that were written, kept or not
}

func (s *shelf) WriteOutput(_ context.Context, _ string, _, from int, add []sched.Stretch) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.away != nil {
		return s.away
	}
	if s.rows == nil {
		s.rows = map[int]sched.Stretch{}
	}
	for seq := range s.rows {
		if from > 0 && seq >= from {
			delete(s.rows, seq)
		}
	}
	for _, r := range add {
		s.rows[r.Seq] = r
		s.bytes += len(r.Text)
	}
	return nil
}

// all is the whole as a page shows it.
func (s *shelf) all() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var seqs []int
	for seq := range s.rows {
		seqs = append(seqs, seq)
	}
	slices.Sort(seqs)
	var b strings.Builder
	for _, seq := range seqs {
		if n := s.rows[seq].Skipped; n > 0 {
			fmt.Fprintf(&b, "[%d cut]", n)
		}
		b.WriteString(s.rows[seq].Text)
	}
	return b.String()
}

type teamWords []string

func (w teamWords) Plain(context.Context, int64) ([]string, error) { return w, nil }

type noWords struct{}

func (noWords) Plain(context.Context, int64) ([]string, error) {
	return nil, errors.New("the ledger is away")
}

// shellOf makes the executor with a folder of scripts.
func shellOf(t *testing.T, change ...func(*jobs.ShellExecOptions)) (*jobs.Shell, *shelf, string) {
	t.Helper()
	folder, store := t.TempDir(), &shelf{}
	require.NoError(t, os.Chmod(folder, 0o755))
	o := jobs.ShellExecOptions{
		Shell:   jobs.ShellOptions{Enabled: true, Folders: []string{folder}, KillGrace: 300 * time.Millisecond, Output: "512KB"},
		DataDir: t.TempDir(), Teams: shellTeams{1}, Outputs: store, Now: time.Now, Log: slog.New(slog.DiscardHandler),
	}
	for _, c := range change {
		c(&o)
	}
	s, err := jobs.NewShell(o)
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s, store, folder
}

func putScript(t *testing.T, folder, text string) string {
	t.Helper()
	name := filepath.Join(folder, "script.sh")
	require.NoError(t, os.WriteFile(name, []byte("#!/bin/sh\n"+text+"\n"), 0o755))
	return name
}

func shellCall(command string, args ...string) sched.Call {
	return sched.Call{
		InstanceID: "0195f0c0-0000-7000-8000-000000000002", TeamID: 1, TaskCode: "close", BizID: "day-7", Key: "close/day-7", Attempt: 2,
		ScheduledAt: time.Date(2026, 7, 1, 2, 0, 0, 0, time.UTC), Payload: []byte(`{"day":"$(id)"}`),
		Target: sched.Target{Kind: sched.TargetShell, Command: command, Args: args, Input: sched.InputStdin, SuccessCodes: []int{0}},
	}
}

func TestAnExitCodeOfTheListIsSuccess(t *testing.T) {
	for name, c := range map[string]struct {
		script   string
		codes    []int
		limit    time.Duration
		outcome  sched.Outcome
		definite bool
		status   int
		err      string
	}{
		"zero":                    {"echo done", []int{0}, 10 * time.Second, sched.OutcomeSucceeded, true, 0, ""},
		"another":                 {"echo first; echo broken >&2; exit 3", []int{0}, 10 * time.Second, sched.OutcomeFailed, true, 3, "exit code 3: broken"},
		"another of the list":     {"exit 3", []int{0, 3}, 10 * time.Second, sched.OutcomeSucceeded, true, 3, ""},
		"zero is not of the list": {"exit 0", []int{3}, 10 * time.Second, sched.OutcomeFailed, true, 0, "exit code 0"},
		"a signal":                {"kill -9 $$", []int{0}, 10 * time.Second, sched.OutcomeFailed, false, 137, "ended by signal 9 (killed)"},
		"too long":                {"sleep 60", []int{0}, 300 * time.Millisecond, sched.OutcomeTimedOut, false, 143, "the command did not end in time and was stopped"},
		"0 after the limit":       {"trap 'exit 0' TERM; sleep 60 & wait", []int{0}, 300 * time.Millisecond, sched.OutcomeTimedOut, false, 0, "the command did not end in time and was stopped"},
	} {
		t.Run(name, func(t *testing.T) {
			s, _, folder := shellOf(t)
			call := shellCall(putScript(t, folder, c.script))
			call.Target.SuccessCodes = c.codes
			ctx, cancel := context.WithTimeout(t.Context(), c.limit)
			defer cancel()
			r := s.Execute(ctx, call)
			require.Equal(t, c.outcome, r.Outcome, "%+v", r)
			require.Equal(t, c.definite, r.Definite)
			require.Equal(t, c.status, r.StatusCode)
			require.Equal(t, c.err, r.Error)
		})
	}
}

func TestACanceledCommandIsStoppedAndNotSuccess(t *testing.T) {
	s, store, folder := shellOf(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan sched.Result, 1)
	go func() {
		done <- s.Execute(ctx, shellCall(putScript(t, folder, "trap 'exit 0' TERM; echo on; sleep 60 & wait")))
	}()
	require.Eventually(t, func() bool { return store.all() == "on\n" }, 10*time.Second, 20*time.Millisecond, "live, before it ends")
	cancel()
	r := <-done
	require.Equal(t, sched.OutcomeCanceled, r.Outcome)
	require.False(t, r.Definite)
}

func TestWhatCannotBeStartedIsADefiniteFailure(t *testing.T) {
	s, _, folder := shellOf(t)
	script := putScript(t, folder, "echo ran")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	off, err := jobs.NewShell(jobs.ShellExecOptions{})
	require.NoError(t, err)
	blind, _, blindFolder := shellOf(t, func(o *jobs.ShellExecOptions) { o.Secrets = noWords{} })
	long := shellCall(script)
	long.Target.Input, long.Payload = sched.InputEnv, []byte(`"`+strings.Repeat("a", 100<<10)+`"`)
	for name, c := range map[string]struct {
		s    *jobs.Shell
		ctx  context.Context
		call sched.Call
		want sched.Outcome
		err  string
	}{
		"not allowed":                {s, t.Context(), shellCall("/bin/ls"), sched.OutcomeFailed, "/bin/ls is not among the commands of this node (shell.commands, shell.folders)"},
		"no commands here":           {off, t.Context(), shellCall(script), sched.OutcomeFailed, "this node runs no commands (shell.enabled)"},
		"canceled before":            {s, ended, shellCall(script), sched.OutcomeCanceled, "canceled while the command ran"},
		"secrets that can't be read": {blind, t.Context(), shellCall(putScript(t, blindFolder, "echo ran")), sched.OutcomeFailed, "read what is to be masked in the output: the ledger is away"},
		"too long for a word":        {s, t.Context(), long, sched.OutcomeFailed, "a payload of 102402 bytes is too long for the environment; use stdin"},
	} {
		r := c.s.Execute(c.ctx, c.call)
		require.Equal(t, c.want, r.Outcome, name)
		require.True(t, r.Definite, name)
		require.Equal(t, c.err, r.Error, name)
		require.Empty(t, r.Response, name)
	}
}

func TestThePayloadComesByInputOrEnvironmentAndNeverAsAnArgument(t *testing.T) {
	const show = `echo "args: $*"; echo "in: $(cat)"; echo "env: $AX_PAYLOAD"; echo "$AX_INSTANCE $AX_TASK $AX_BIZ_ID $AX_ATTEMPT $AX_KEY $AX_SCHEDULED_AT"`
	for input, want := range map[sched.ShellInput]string{
		sched.InputStdin: "args: --all ; touch x\nin: {\"day\":\"$(id)\"}\nenv: \n",
		sched.InputEnv:   "args: --all ; touch x\nin: \nenv: {\"day\":\"$(id)\"}\n",
		sched.InputNone:  "args: --all ; touch x\nin: \nenv: \n",
	} {
		s, store, folder := shellOf(t)
		call := shellCall(putScript(t, folder, show), "--all", "; touch x")
		call.Target.Input = input
		r := s.Execute(t.Context(), call)
		require.Equal(t, sched.OutcomeSucceeded, r.Outcome, r.Error)
		require.Equal(t, want+"0195f0c0-0000-7000-8000-000000000002 close day-7 2 close/day-7 2026-07-01T02:00:00.000Z\n", store.all())
		require.Equal(t, call.Target.Command+"\n\"--all\"\n\"; touch x\"\n\ninput: "+string(input)+", 15 bytes", r.Request)
		require.True(t, strings.HasPrefix(r.Response, "exit code 0 after "), r.Response)
	}
}

func TestOutputIsPlainAndSecretsAreMasked(t *testing.T) {
	secret := "hunter2-of-the-team"
	s, store, folder := shellOf(t, func(o *jobs.ShellExecOptions) { o.Secrets = teamWords{secret, "first-line-of-it\nsecond-line-of-it"} })
	r := s.Execute(t.Context(), shellCall(putScript(t, folder,
		`printf '\033[31mred\033[0m \033]0;title\007plain\r\n50%%\r100%%\n\000\001bell\007 \377 \342\200\256evil\n'
echo "token hunter2-of-the-team"; echo second-line-of-it; echo "中文 🙂"; exit 4`)))
	require.Equal(t, "red plain\n50%\n100%\nbell \uFFFD evil\ntoken ***\n***\n中文 🙂\n", store.all())
	require.NotContains(t, r.Response+r.Error+r.Request, secret)
	require.Equal(t, "exit code 4: 中文 🙂", r.Error)
}

// BIG-01: a command that prints a gigabyte.
func TestBIG01AGigabyteOfOutputKeepsItsEndsAndTheMemoryFlat(t *testing.T) {
	s, store, folder := shellOf(t)
	script := putScript(t, folder, `echo begin; yes "a line that says nothing, again and again and again" | head -c 1073741824; echo; echo end`)
	stop, most := make(chan struct{}), make(chan int, 1)
	before := resident(t)
	go func() {
		peak := 0
		every := time.NewTicker(20 * time.Millisecond)
		defer every.Stop()
		for {
			select {
			case <-stop:
				most <- peak
				return
			case <-every.C:
				peak = max(peak, resident(t))
			}
		}
	}()
	r := s.Execute(t.Context(), shellCall(script))
	close(stop)
	require.Equal(t, sched.OutcomeSucceeded, r.Outcome, r.Error)
	grown := <-most - before
	require.Less(t, grown, 48<<20, "resident memory grew by %d bytes", grown)
	require.EqualValues(t, 1<<30+len("begin\n\nend\n"), r.ResponseBytes)
	kept := store.all()
	require.LessOrEqual(t, len(kept), 512<<10+100)
	require.Greater(t, len(kept), 500<<10)
	require.True(t, strings.HasPrefix(kept, "begin\na line"))
	require.True(t, strings.HasSuffix(kept, "\nend\n"))
	_, rest, ok := strings.Cut(kept, "[")
	require.True(t, ok, "the cut is marked")
	number, _, _ := strings.Cut(rest, " cut]")
	skipped, err := strconv.Atoi(number)
	require.NoError(t, err)
	require.Equal(t, 1<<30+len("begin\n\nend\n"), len(kept)-len("["+number+" cut]")+skipped, "what is shown and what was cut is all")
	require.Less(t, store.bytes, 4<<20, "what is thrown away isn't written before")
	require.Less(t, len(r.Response), 5<<10)
}

// resident memory of this process, in bytes.
func resident(t *testing.T) int {
	t.Helper()
	raw, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	pages, _ := strconv.Atoi(strings.Fields(string(raw))[1])
	return pages * os.Getpagesize()
}

func TestOutputWaitsForALedgerThatIsAway(t *testing.T) {
	s, store, folder := shellOf(t)
	store.away = errors.New("the ledger is away")
	done := make(chan sched.Result, 1)
	go func() {
		done <- s.Execute(t.Context(), shellCall(putScript(t, folder, "echo one; sleep 2.5; echo two")))
	}()
	time.AfterFunc(1500*time.Millisecond, func() {
		store.mu.Lock()
		defer store.mu.Unlock()
		store.away = nil
	})
	r := <-done
	require.Equal(t, sched.OutcomeSucceeded, r.Outcome)
	require.Equal(t, "one\ntwo\n", store.all())
}

func TestHeadAndTailMeetWhereNothingWasCut(t *testing.T) {
	for _, n := range []int{1, 1000, 300 << 10, 500 << 10} {
		s, store, folder := shellOf(t)
		r := s.Execute(t.Context(), shellCall(putScript(t, folder, fmt.Sprintf("yes 0123456789 | head -c %d", n))))
		require.Equal(t, sched.OutcomeSucceeded, r.Outcome)
		require.Equal(t, strings.Repeat("0123456789\n", n/11+1)[:n], store.all(), "%d bytes", n)
	}
	runtime.GC()
}

// shellTeams are the teams that may run commands.
type shellTeams []int64

func (s shellTeams) RunsCommands(_ context.Context, team int64) (bool, error) {
	if s == nil {
		return false, errors.New("the ledger is away")
	}
	return slices.Contains(s, team), nil
}

// What an administrator took back is over at the next run (security.md item 44).
func TestOnlyTeamsThatMayRunCommandsDo(t *testing.T) {
	for want, teams := range map[string]shellTeams{
		"the team may not run commands (an administrator can open them on its page)": {2}, "the ledger is away": nil,
	} {
		s, store, folder := shellOf(t, func(o *jobs.ShellExecOptions) { o.Teams = teams })
		r := s.Execute(t.Context(), shellCall(putScript(t, folder, "touch ran")))
		require.Equal(t, sched.Result{Outcome: sched.OutcomeFailed, Definite: true, Error: want}, r)
		require.Empty(t, store.all())
	}
}
