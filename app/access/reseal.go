package access

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// SealedText is a secret as the ledger holds it: sealed, in its one place.
type SealedText struct {
	Place string // "table.column.row"
	Text  string
}

// sealCheck is the setting that tells whether this installation's secret is
// the one that sealed the ledger's secrets.
const (
	sealCheck      = "seal.check"
	sealCheckPlace = "settings.value." + sealCheck
	sealCheckText  = "ax can read its secrets"
)

// sealedStore keeps sealed texts.
type sealedStore interface {
	SetSettingIfAbsent(ctx context.Context, name, value string) (string, error)
	// SealedTexts are all of the ledger's, that setting too.
	SealedTexts(ctx context.Context) ([]SealedText, error)
	// ReplaceSealed puts is in the place of what was read; false when it isn't
	// there any more.
	ReplaceSealed(ctx context.Context, was SealedText, is string) (bool, error)
}

// ErrOtherSecret says that the ledger's secrets were sealed with a secret of
// the installation that this process doesn't have.
var ErrOtherSecret = errors.New("the ledger's secrets were sealed with another secret of the installation: give it back, or put the one from before under old_secrets")

// Check proves, before anything is served, that what is sealed can be opened
// and isn't plain text. The first process of an installation stores what the
// others try. Errors: ErrOtherSecret.
func (v *Vault) Check(ctx context.Context, store sealedStore) error {
	sealed, err := v.Seal(sealCheckText, sealCheckPlace)
	if err != nil {
		return fmt.Errorf("check the vault: %w", err)
	}
	stored, err := store.SetSettingIfAbsent(ctx, sealCheck, sealed)
	if err != nil {
		return fmt.Errorf("check the vault: %w", err)
	}
	if strings.Contains(stored, sealCheckText) {
		return errors.New("check the vault: what should be sealed is plain text")
	}
	if plain, err := v.Open(stored, sealCheckPlace); err != nil || plain != sealCheckText {
		return ErrOtherSecret
	}
	return nil
}

// Reseal seals anew what an older secret has sealed, and counts it. What
// changes meanwhile is left: whoever changed it sealed it with the newest key.
// It is safe to call again. Errors: one that can't be opened, by its place.
func (v *Vault) Reseal(ctx context.Context, store sealedStore) (int, error) {
	texts, err := store.SealedTexts(ctx)
	if err != nil {
		return 0, fmt.Errorf("reseal: %w", err)
	}
	n := 0
	for _, s := range texts {
		if strings.HasPrefix(s.Text, sealMark+"."+v.newest+".") {
			continue
		}
		plain, err := v.Open(s.Text, s.Place)
		if err != nil {
			return n, fmt.Errorf("reseal %s: %w", s.Place, err)
		}
		sealed, err := v.Seal(plain, s.Place)
		if err != nil {
			return n, fmt.Errorf("reseal %s: %w", s.Place, err)
		}
		done, err := store.ReplaceSealed(ctx, s, sealed)
		if err != nil {
			return n, fmt.Errorf("reseal %s: %w", s.Place, err)
		}
		if done {
			n++
		}
	}
	return n, nil
}
