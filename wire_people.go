package main

import (
	"errors"
	"time"

	"ax/app"
	"ax/app/access"
	"ax/app/cron"
	"ax/db"
)

// closedVault is for the command line, which reads no secrets: it must not
// make the installation's key just because somebody lists people.
type closedVault struct{}

func (closedVault) Seal(string, string) (string, error) { return "", errVaultClosed }
func (closedVault) Open(string, string) (string, error) { return "", errVaultClosed }

var errVaultClosed = errors.New("only the server opens secrets")

func newPeople(d *db.DB, vault access.Sealer, now func() time.Time) (people, error) {
	hasher := app.NewPasswords()
	zone := func(name string) bool { _, err := cron.LoadZone(name); return err == nil }
	sessions, err := access.NewSessions(access.SessionsOptions{Store: d, Hasher: hasher, Sealer: vault, Now: now})
	return people{
		users:    access.NewUsers(access.UsersOptions{Store: d, Hasher: hasher, Zone: zone, Now: now}),
		sessions: sessions,
		tokens:   access.NewTokens(d, now),
		teams:    access.NewTeams(d, now),
		setup:    access.NewSetup(access.SetupOptions{Store: d, Hasher: hasher, Zone: zone, Now: now}),
	}, err
}

// newVault seals the secrets that the ledger holds.
func newVault(c config) (*access.Vault, error) {
	secret, err := installationSecret(c)
	if err != nil {
		return nil, err
	}
	return access.NewVault(secret)
}
