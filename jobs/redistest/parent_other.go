//go:build !linux

package redistest

import "syscall"

// dieWithParent is known to Linux only; elsewhere a killed test leaves its
// server behind.
func dieWithParent() *syscall.SysProcAttr { return nil }
