//go:build !failpoint

package sched

// failpoint is a place where a test build may kill the process; release
// builds have none.
func failpoint(string) {}
