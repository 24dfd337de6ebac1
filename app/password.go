package app

import (
	"fmt"

	"github.com/alexedwards/argon2id"
)

// hashesAtOnce bounds the memory (19 MiB each) and the cores that sign-ins
// can take from the rest of the process.
const hashesAtOnce = 2

// Passwords hashes passwords with argon2id. It implements access.Hasher.
type Passwords struct {
	params  argon2id.Params
	working chan struct{}
}

// NewPasswords pins 19 MiB, two passes and one lane: about 30 ms of one core.
// The library's own default takes the number of cores, so that the cost would
// change with the machine. A hash names its parameters: raising them leaves
// old hashes good.
func NewPasswords() *Passwords {
	return &Passwords{
		params:  argon2id.Params{Memory: 19 * 1024, Iterations: 2, Parallelism: 1, SaltLength: 16, KeyLength: 32},
		working: make(chan struct{}, hashesAtOnce),
	}
}

// Hash gives the hash in PHC form, with a salt of its own.
func (p *Passwords) Hash(password string) (string, error) {
	p.working <- struct{}{}
	defer func() { <-p.working }()
	hash, err := argon2id.CreateHash(password, &p.params)
	if err != nil {
		return "", fmt.Errorf("hash with argon2id: %w", err)
	}
	return hash, nil
}

// Verify is false for a wrong password and for a hash it can't read.
func (p *Passwords) Verify(password, hash string) bool {
	p.working <- struct{}{}
	defer func() { <-p.working }()
	if !readable(hash) {
		return false
	}
	same, err := argon2id.ComparePasswordAndHash(password, hash)
	return err == nil && same
}

// readable keeps argon2 from its panics on a cost of 0 or an empty key.
func readable(hash string) bool {
	params, _, key, err := argon2id.DecodeHash(hash)
	return err == nil && params.Iterations > 0 && params.Parallelism > 0 && len(key) > 0
}
