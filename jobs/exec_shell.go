package jobs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"ax/app/sched"
	"ax/jobs/shell"
)

// maxPayloadEnv bounds what goes into one word of the environment: Linux takes
// 128 KiB.
const maxPayloadEnv = 96 << 10

// teamSecrets gives all that a team keeps secret, to be masked.
type teamSecrets interface {
	Plain(ctx context.Context, team int64) ([]string, error)
}

// commandTeams tell whether tasks of a team may run commands.
type commandTeams interface {
	RunsCommands(ctx context.Context, team int64) (bool, error)
}

// ShellExecOptions of the executor of commands. All but Secrets are required
// where commands are enabled.
type ShellExecOptions struct {
	Shell   ShellOptions
	DataDir string // ax's own folder
	Teams   commandTeams
	Outputs outputStore // where what commands print is kept
	Secrets teamSecrets // nil: nothing is masked
	Now     func() time.Time
	Log     *slog.Logger
}

// Shell runs commands of this node (design.md section 5): complete with an exit
// code of the task's list is success, anything else is none.
type Shell struct {
	o   ShellExecOptions
	run *shell.Shell // nil: this node runs none
}

// NewShell makes the executor. An error tells what of the configuration doesn't
// suit this machine.
func NewShell(o ShellExecOptions) (*Shell, error) {
	s := &Shell{o: o}
	if !o.Shell.Enabled {
		return s, nil
	}
	var err error
	s.run, err = shell.New(shell.Settings{Options: o.Shell, Folder: filepath.Join(o.DataDir, "commands"), Log: o.Log, Now: o.Now})
	return s, err
}

// Close ends at once whatever runs.
func (s *Shell) Close() {
	if s.run != nil {
		s.run.Close()
	}
}

// Execute runs the command to its end, or ends it with ctx.
func (s *Shell) Execute(ctx context.Context, call sched.Call) sched.Result {
	if s.run == nil {
		return unsent(errors.New("this node runs no commands (shell.enabled)"))
	}
	if err := s.allowed(ctx, call.TeamID); err != nil {
		return unsent(err)
	}
	secrets, err := s.secrets(ctx, call.TeamID)
	if err != nil {
		return unsent(fmt.Errorf("read what is to be masked in the output: %w", err))
	}
	job, err := s.job(call)
	if err != nil {
		return unsent(err)
	}
	out := newOutput(outputOptions{
		Store: s.o.Outputs, InstanceID: call.InstanceID, Attempt: call.Attempt,
		Kept: s.o.Shell.Kept(), Secrets: secrets, Now: s.o.Now, Log: s.o.Log,
	})
	job.Output, job.Errors = &out.out, &out.errs
	stop := out.follow(ctx)
	exit := s.run.Run(ctx, job)
	stop()
	r := judgeExit(ctx, exit, call.Target, out.last())
	r.Request = mask(showCommand(call), secrets)
	r.Error = mask(r.Error, secrets)
	r.ResponseBytes = out.size()
	if exit.Started {
		r.Response = showExit(exit) + "\n\n" + out.excerpt()
	}
	return r
}

// allowed looks at each run: what an administrator took back is over at once.
func (s *Shell) allowed(ctx context.Context, team int64) error {
	ok, err := s.o.Teams.RunsCommands(ctx, team)
	if err != nil {
		return err
	}
	if !ok {
		return errors.New("the team may not run commands (an administrator can open them on its page)")
	}
	return nil
}

// secrets of the team, longest first, in the ways in which they may be printed.
func (s *Shell) secrets(ctx context.Context, team int64) ([]string, error) {
	if s.o.Secrets == nil {
		return nil, nil
	}
	plain, err := s.o.Secrets.Plain(ctx, team)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, p := range plain {
		out = append(out, shapes(p)...)
		for line := range strings.Lines(p) { // output is masked by lines
			if line = strings.TrimSpace(line); len(line) >= 8 && line != p {
				out = append(out, line)
			}
		}
	}
	slices.SortFunc(out, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	return slices.Compact(out), nil
}

// job is the run of a call. Nothing of the call is among the arguments.
func (s *Shell) job(call sched.Call) (shell.Job, error) {
	mark := "AX_INSTANCE=" + call.InstanceID
	attempt := "AX_ATTEMPT=" + strconv.Itoa(call.Attempt)
	j := shell.Job{
		Container: call.Target.Container, Command: call.Target.Command, Args: call.Target.Args,
		Mark: "AX_RUN=" + call.InstanceID + "/" + strconv.Itoa(call.Attempt),
		Env: []string{
			mark, attempt, "AX_TASK=" + call.TaskCode, "AX_BIZ_ID=" + call.BizID, "AX_KEY=" + call.Key,
			"AX_SCHEDULED_AT=" + call.ScheduledAt.UTC().Format("2006-01-02T15:04:05.000Z"),
		},
	}
	j.Env = append(j.Env, j.Mark)
	payload := string(call.Payload)
	if payload == "" {
		payload = "null"
	}
	switch call.Target.Input {
	case sched.InputEnv:
		if len(payload) > maxPayloadEnv {
			return j, fmt.Errorf("a payload of %d bytes is too long for the environment; use stdin", len(payload))
		}
		j.Env = append(j.Env, "AX_PAYLOAD="+payload)
	case sched.InputNone:
	default:
		j.Stdin = []byte(payload + "\n")
	}
	return j, nil
}

// judgeExit says what an end means. The end of ctx is never success.
func judgeExit(ctx context.Context, e shell.Exit, t sched.Target, last string) sched.Result {
	r := sched.Result{Outcome: sched.OutcomeFailed, StatusCode: exitCode(e)}
	switch {
	case e.Cut || ctx.Err() != nil && !e.Started:
		r.Definite = !e.Started
		r.Outcome, r.Error = sched.OutcomeTimedOut, "the command did not end in time and was stopped"
		if errors.Is(ctx.Err(), context.Canceled) {
			r.Outcome, r.Error = sched.OutcomeCanceled, "canceled while the command ran"
		}
	case e.Err != nil:
		r.Definite, r.Error = !e.Started, oneLine(e.Err.Error())
	case e.Signal != 0:
		r.Error = oneLine(fmt.Sprintf("ended by signal %d (%s)", e.Signal, e.Signal) + behind(": ", last))
	case slices.Contains(t.SuccessCodes, e.Code) || len(t.SuccessCodes) == 0 && e.Code == 0:
		r.Outcome, r.Definite = sched.OutcomeSucceeded, true
	default:
		r.Definite = true
		r.Error = oneLine(fmt.Sprintf("exit code %d", e.Code) + behind(": ", last))
	}
	return r
}

func behind(sep, s string) string {
	if s == "" {
		return ""
	}
	return sep + firstRunes(s, 300)
}

// exitCode is the code as shells give it: 128 and the signal for one that a
// signal ended; 0 when it never ran.
func exitCode(e shell.Exit) int {
	switch {
	case !e.Started:
		return 0
	case e.Signal != 0:
		return 128 + int(e.Signal)
	}
	return e.Code
}

// showCommand is the command as it is stored, an argument on each line.
func showCommand(call sched.Call) string {
	lines := []string{readable(call.Target.Command)}
	if c := call.Target.Container; c != "" {
		lines = []string{"container: " + c, lines[0]}
	}
	for _, a := range call.Target.Args {
		lines = append(lines, strconv.Quote(a))
	}
	return strings.Join(lines, "\n") + fmt.Sprintf("\n\ninput: %s, %d bytes", cmp.Or(call.Target.Input, sched.InputStdin), len(call.Payload))
}

// showExit is the first line of what came back.
func showExit(e shell.Exit) string {
	said := fmt.Sprintf("exit code %d", exitCode(e))
	if e.Signal != 0 {
		said = fmt.Sprintf("signal %d (%s)", e.Signal, e.Signal)
		if e.Cut && (e.Signal == syscall.SIGTERM || e.Signal == syscall.SIGKILL) {
			said += " of ax"
		}
	}
	said += " after " + e.Took.Round(time.Millisecond).String()
	if e.Behind > 0 {
		said += fmt.Sprintf("\n%d processes that it left behind were ended", e.Behind)
	}
	return said
}
