package db

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// minSecret is the length of the installation's secret in bytes of text.
const minSecret = 32

// LockFolder takes the data folder of the embedded default for this process,
// until release or the process's end: a second server on one SQLite file would
// take the first one's node for dead. It makes the folder when there is none.
func LockFolder(dir string) (release func(), err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the data folder: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(dir, "ax.lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the lock of the data folder: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return nil, fmt.Errorf("another ax serves from %s already: %w", dir, err)
	}
	return func() { f.Close() }, nil
}

// FolderSecret gives the secret that the data folder holds, made at its first
// use. It is a file beside the database, not a row in it: a copy of the
// database alone must not let anybody forge receipts.
func FolderSecret(dir string) ([]byte, error) {
	path := filepath.Join(dir, "secret.key")
	raw, err := os.ReadFile(path)
	switch {
	case err == nil && len(raw) >= minSecret:
		return raw, nil
	case err == nil:
		return nil, fmt.Errorf("%s holds no secret of at least %d characters", path, minSecret)
	case !errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("read the installation's secret: %w", err)
	}
	var b [minSecret]byte
	rand.Read(b[:])
	secret := []byte(hex.EncodeToString(b[:]))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the data folder: %w", err)
	}
	if err := os.WriteFile(path, secret, 0o600); err != nil {
		return nil, fmt.Errorf("store the installation's secret: %w", err)
	}
	return secret, nil
}
