package db

import (
	"context"
	"fmt"
	"strings"

	"gorm.io/gorm"

	"ax/app/access"
	"ax/app/fault"
)

// sealedColumns are where the ledger holds sealed secrets: table, column, and
// the key that names the row.
var sealedColumns = []struct{ table, column, key, where string }{
	{"brokers", "sealed", "id", ""},
	{"channels", "sealed", "id", " WHERE sealed<>''"}, // e-mail has nothing to hide
	{"second_steps", "secret", "user_id", ""},
	{"secrets", "sealed", "id", ""},
	{"settings", "value", "name", " WHERE name='seal.check'"},
}

// SealedTexts are all sealed secrets of the ledger.
func (d *DB) SealedTexts(ctx context.Context) ([]access.SealedText, error) {
	var out []access.SealedText
	for _, c := range sealedColumns {
		var rows []struct{ ID, Text string }
		if err := d.view(ctx).Raw("SELECT " + c.key + " AS id, " + c.column + " AS text FROM " + c.table + c.where).Scan(&rows).Error; err != nil {
			return nil, fmt.Errorf("read the sealed texts of %s: %w", c.table, away(err))
		}
		for _, r := range rows {
			out = append(out, access.SealedText{Place: c.table + "." + c.column + "." + r.ID, Text: r.Text})
		}
	}
	return out, nil
}

// ReplaceSealed puts is in the place of what was read; false when something
// else stands there by now. Faults: Malformed (a place that holds no secrets).
func (d *DB) ReplaceSealed(ctx context.Context, was access.SealedText, is string) (bool, error) {
	for _, c := range sealedColumns {
		id, ok := strings.CutPrefix(was.Place, c.table+"."+c.column+".")
		if !ok {
			continue
		}
		replaced := false
		err := d.tx(ctx, "seal "+was.Place+" anew", func(tx *gorm.DB) error {
			done := tx.Exec("UPDATE "+c.table+" SET "+c.column+"=? WHERE "+c.key+"=? AND "+c.column+"=?", is, id, was.Text)
			replaced = done.RowsAffected > 0
			return done.Error
		})
		return replaced, err
	}
	return false, fault.Malformed("No secret is sealed at %s", was.Place)
}
