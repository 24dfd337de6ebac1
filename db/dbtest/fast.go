package dbtest

import (
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// fastDir is a folder for the time of the test, in memory where there is such
// a file system: each commit of the ledger is synced to the disk, which the
// tests are not about.
func fastDir(t *testing.T) string {
	t.Helper()
	var free syscall.Statfs_t
	if err := syscall.Statfs("/dev/shm", &free); err != nil || free.Bavail*uint64(free.Bsize) < 1<<30 { // a container's has 64 MB
		return t.TempDir()
	}
	dir, err := os.MkdirTemp("/dev/shm", "ax-dbtest-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	return dir
}
