package shell

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// writableByOthers are the bits of group and others.
const writableByOthers fs.FileMode = 0o022

// allowed are the commands that may run here.
type allowed struct {
	commands, folders []string
	// runsAs is the separate user; a script of its own it could rewrite. 0: none.
	runsAs uint32
}

// start checks all that is named, so that a mistake shows before the first run.
func (a allowed) start() error {
	var bad []error
	for _, c := range a.commands {
		if err := a.file(c); err != nil {
			bad = append(bad, fmt.Errorf("shell.commands: %w", err))
		}
	}
	for _, f := range a.folders {
		if err := a.folder(f); err != nil {
			bad = append(bad, fmt.Errorf("shell.folders: %w", err))
		}
	}
	return errors.Join(bad...)
}

// check says why the command may not run; nil: it may.
func (a allowed) check(command string) error {
	if strings.ContainsRune(command, 0) || !filepath.IsAbs(command) || filepath.Clean(command) != command {
		return fmt.Errorf("%q is no absolute path of a command", command)
	}
	if slices.Contains(a.commands, command) {
		return a.file(command)
	}
	real, err := filepath.EvalSymlinks(command)
	if err != nil {
		return a.refusal(command, err)
	}
	for _, f := range a.folders {
		root, err := filepath.EvalSymlinks(f)
		if err != nil || !below(f, command) || !below(root, real) {
			continue
		}
		if err := a.file(real); err != nil {
			return err
		}
		for dir := filepath.Dir(real); len(dir) >= len(root); dir = filepath.Dir(dir) {
			if err := a.folder(dir); err != nil {
				return err
			}
		}
		return nil
	}
	return a.refusal(command, nil)
}

// refusal doesn't tell what there is elsewhere on the machine.
func (a allowed) refusal(command string, err error) error {
	for _, f := range a.folders {
		if below(f, command) && err != nil {
			return fmt.Errorf("%s can't be run on this node: %w", command, errors.Unwrap(err))
		}
	}
	return fmt.Errorf("%s is not among the commands of this node (shell.commands, shell.folders)", command)
}

func below(folder, file string) bool { return strings.HasPrefix(file, folder+"/") }

// file is one that can be run and that nobody but its owner can change.
func (a allowed) file(name string) error {
	info, err := os.Stat(name)
	if err != nil {
		return fmt.Errorf("%s can't be run on this node: %w", name, errors.Unwrap(err))
	}
	switch {
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a file", name)
	case info.Mode().Perm()&0o111 == 0:
		return fmt.Errorf("%s is not executable", name)
	case info.Mode().Perm()&writableByOthers != 0:
		return fmt.Errorf("%s can be written by others than its owner", name)
	}
	return a.owner(name, info)
}

// folder is one in which nobody but its owner can put or swap files; the
// folders above it too.
func (a allowed) folder(name string) error {
	real, err := filepath.EvalSymlinks(name)
	if err != nil {
		return fmt.Errorf("%s can't be used: %w", name, errors.Unwrap(err))
	}
	for dir := real; ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		switch {
		case err != nil:
			return fmt.Errorf("%s can't be used: %w", dir, errors.Unwrap(err))
		case !info.IsDir():
			return fmt.Errorf("%s is not a folder", dir)
		case info.Mode().Perm()&writableByOthers != 0 && (dir == real || info.Mode()&fs.ModeSticky == 0):
			return fmt.Errorf("%s can be written by others than its owner", dir)
		}
		if err := a.owner(dir, info); err != nil {
			return err
		}
		if dir == "/" {
			return nil
		}
	}
}

// owner refuses what the separate user could change by itself.
func (a allowed) owner(name string, info fs.FileInfo) error {
	if st, ok := info.Sys().(*syscall.Stat_t); ok && a.runsAs != 0 && st.Uid == a.runsAs {
		return fmt.Errorf("%s belongs to the user that commands run as, which could change it", name)
	}
	return nil
}
