// Package fail names the places at which a test build lets a process die,
// stand still or fail, so that a crash can be put exactly between two steps.
//
// A release has none of them: At is empty and disappears. Built with
// -tags failpoint it does what AX_FAILPOINT says, which is read once, at the
// start of the process:
//
//	AX_FAILPOINT=name[:nth][=action],…
//
// nth is the pass at which it happens, 1 when left out, * at every pass. The
// actions:
//
//	kill      SIGKILL to itself; also when no action is given
//	stop      SIGSTOP to itself; it goes on after SIGCONT
//	error     At returns an error, and what it stands in fails of it
//	panic     a panic
//	delay=5s  a pause of that length
//
// What can't be read, or names a place that isn't in Names, ends the process
// at its start with exit code 2. Each hit is a line on standard error.
//
// Names follows the crash points C01–C28 of the fault plan. Of those, ax has
// no place for:
//
//   - C05, a leader's lease that is lost between check and commit: ax has no
//     leader. Its planners hold row locks, and the unique key of the slot
//     decides; "plan.inserted=stop" is a planner that stands still inside, and
//     "run.claimed=stop" a worker that outlives its claim.
//   - C22 and C23, tokens of a concurrency limit: a place of a limit is a row
//     that has begun and not ended, counted under the gate's lock, so nothing
//     is taken or given back by itself. "claim.gated" stands where a token would
//     have been taken, "wake.committed" where one would have been handed on.
//   - C17, a confirm that was read and not stored: "run.answered" is that.
//   - C18 and C19 (shell): they come with that part.
//   - C28, as far as it means instances: nothing cleans those up yet.
//
// It imports the standard library only, and everything may import it but the
// leaves and the pages.
package fail
