//go:build !linux

package dbtest

import "syscall"

// dieWithParent: only Linux can; elsewhere Main stops the server.
func dieWithParent() *syscall.SysProcAttr { return nil }
