package redistest

import "syscall"

// dieWithParent lets the kernel end the server when the test's process is
// killed and can't.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
