//go:build !linux

package shell

import (
	"context"
	"errors"
)

// Shell runs commands, on Linux only.
type Shell struct{}

// New refuses: ending all of a command needs Linux.
func New(Settings) (*Shell, error) {
	return nil, errors.New("shell.enabled: commands can be run on Linux only")
}

// Run refuses.
func (*Shell) Run(context.Context, Job) Exit {
	return Exit{Err: errors.New("commands can be run on Linux only"), Code: -1}
}

// Allowed refuses.
func (*Shell) Allowed(_, _ string) error { return errors.New("commands can be run on Linux only") }

// Limits are none.
func (*Shell) Limits() string { return "none" }

// Close does nothing.
func (*Shell) Close() {}
