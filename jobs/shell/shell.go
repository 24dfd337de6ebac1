// Package shell runs commands of this machine and leaves nothing of them alive:
// each in a session, a folder and, where there are any, a cgroup of its own,
// with a clean environment, and ended as a whole. It knows nothing of tasks.
package shell

import (
	"io"
	"log/slog"
	"os"
	"syscall"
	"time"
)

// Job is one run of a command.
type Job struct {
	Command string // absolute; what may run is the node's own choice (Options)
	// Container is the name of the one that it runs in; empty: this machine.
	Container string
	Args      []string // as they are: no shell reads them
	Env       []string // NAME=value, besides PATH, HOME, LANG, TMPDIR and TZ
	// Mark is one of Env that no other run has: what belongs to the run is
	// found by it.
	Mark   string
	Stdin  []byte    // nil: there is nothing to read
	Output io.Writer // standard output; and error, in their order, when Errors is nil
	Errors io.Writer // standard error
}

// Exit is how a run ended. By then nothing of it is alive.
type Exit struct {
	// Err tells why the command was not started, or could not be waited for;
	// nil: it ran.
	Err     error
	Started bool // whether anything ran
	// Cut is true when ctx ended the run, whatever the command did then.
	Cut    bool
	Code   int            // of the command; -1 when a signal ended it
	Signal syscall.Signal // that ended it; 0: none
	Dumped bool
	// Behind is how many processes the command had left behind when it ended.
	Behind int
	Took   time.Duration
}

// Settings of New. Log, Now and Folder are needed.
type Settings struct {
	Options Options
	// Folder keeps a note of each run, by which the next start ends what a
	// killed process left. It is ax's alone.
	Folder string
	Log    *slog.Logger
	Now    func() time.Time
}

// path of commands. Nothing of ax's own environment is inherited.
const path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// environment of a run in its folder. In a container only what the job brings
// is passed on; the rest is the engine's.
func environment(job Job, folder string) []string {
	return append([]string{"PATH=" + path, "HOME=" + folder, "TMPDIR=" + folder, "LANG=C.UTF-8", "TZ=UTC"}, job.Env...)
}

// folderMode of what only ax may look into.
const folderMode os.FileMode = 0o700
