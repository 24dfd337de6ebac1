//go:build failpoint

package fail

import (
	"bytes"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// arm sets what happens for the time of a test.
func arm(t *testing.T, spec string) {
	t.Helper()
	restore, err := Set(spec)
	require.NoError(t, err)
	t.Cleanup(restore)
}

func TestAPlaceFailsAtItsPassOnly(t *testing.T) {
	arm(t, "end.row:3=error")
	require.NoError(t, At("plan.locked"))
	require.NoError(t, At("end.row"))
	require.NoError(t, At("end.row"))
	require.EqualError(t, At("end.row"), "failpoint end.row")
	require.NoError(t, At("end.row"))
}

func TestAPlaceFailsAtEveryPass(t *testing.T) {
	arm(t, "end.row:*=error")
	for range 3 {
		require.EqualError(t, At("end.row"), "failpoint end.row")
	}
}

func TestTwoRulesOfAPlaceCountForThemselves(t *testing.T) {
	arm(t, "end.row:1=error,end.row:3=panic")
	require.Error(t, At("end.row"))
	require.NoError(t, At("end.row"))
	require.PanicsWithValue(t, "failpoint end.row", func() { _ = At("end.row") })
}

func TestSetPutsBackWhatWasArmed(t *testing.T) {
	arm(t, "end.row:*=error")
	restore, err := Set("")
	require.NoError(t, err)
	require.NoError(t, At("end.row"))
	restore()
	require.Error(t, At("end.row"))
}

func TestOneOfManyGoroutinesMakesThePass(t *testing.T) {
	arm(t, "end.row:500=error")
	var failed atomic.Int64
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			for range 20 {
				if At("end.row") != nil {
					failed.Add(1)
				}
			}
		})
	}
	all.Wait()
	require.EqualValues(t, 1, failed.Load())
}

func TestADelayPauses(t *testing.T) {
	arm(t, "end.row=delay=30ms")
	began := time.Now()
	require.NoError(t, At("end.row"))
	require.GreaterOrEqual(t, time.Since(began), 30*time.Millisecond)
}

// passing is what the process that begin starts does.
func TestMain(m *testing.M) {
	if os.Getenv("AX_TEST_PASSES") == "" {
		os.Exit(m.Run())
	}
	if At("end.row") != nil {
		os.Exit(3)
	}
	os.Exit(0)
}

// begin starts a process that passes end.row once and ends with 0.
func begin(t *testing.T, spec string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	var said bytes.Buffer
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "AX_TEST_PASSES=1", "AX_FAILPOINT="+spec)
	cmd.Stderr = &said
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return cmd, &said
}

func TestAProcessDoesWhatTheEnvironmentSays(t *testing.T) {
	for spec, want := range map[string]struct{ state, said string }{
		"":               {"exit status 0", ""},
		"end.row":        {"signal: killed", "failpoint end.row: kill at pass 1\n"},
		"end.row:2":      {"exit status 0", ""},
		"end.row=error":  {"exit status 3", "failpoint end.row: error at pass 1\n"},
		"end.row=panic":  {"exit status 2", "panic: failpoint end.row"},
		"nowhere=kill":   {"exit status 2", `AX_FAILPOINT: "nowhere=kill": there is no place "nowhere"`},
		"end.row=please": {"exit status 2", "AX_FAILPOINT: \"end.row=please\": the action must be"},
	} {
		t.Run(spec, func(t *testing.T) {
			cmd, said := begin(t, spec)
			_ = cmd.Wait()
			require.Equal(t, want.state, cmd.ProcessState.String(), "%s", said)
			require.Contains(t, said.String(), want.said)
		})
	}
}

func TestAStoppedProcessGoesOnWhenItIsTold(t *testing.T) {
	cmd, _ := begin(t, "end.row=stop")
	var state syscall.WaitStatus
	_, err := syscall.Wait4(cmd.Process.Pid, &state, syscall.WUNTRACED, nil)
	require.NoError(t, err)
	require.True(t, state.Stopped(), "%v", state)
	require.Equal(t, syscall.SIGSTOP, state.StopSignal())
	require.NoError(t, cmd.Process.Signal(syscall.SIGCONT))
	require.NoError(t, cmd.Wait())
}
