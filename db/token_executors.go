package db

import (
	"context"
	"fmt"

	"gorm.io/gorm"
)

// insertTokenExecutors notes which executors a token may register.
func insertTokenExecutors(tx *gorm.DB, token int64, names []string) error {
	for _, name := range names {
		if err := tx.Exec("INSERT INTO token_executors (token_id, name) VALUES (?,?)", token, name).Error; err != nil {
			return err
		}
	}
	return nil
}

// tokenExecutors gives the names of tokens by their id, sorted.
func (d *DB) tokenExecutors(ctx context.Context, cond string, arg any) (map[int64][]string, error) {
	var rows []struct {
		TokenID int64
		Name    string
	}
	err := d.view(ctx).Raw("SELECT token_id, name FROM token_executors WHERE "+cond+" ORDER BY token_id, name", arg).Scan(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("list the executors of tokens: %w", away(err))
	}
	out := map[int64][]string{}
	for _, r := range rows {
		out[r.TokenID] = append(out[r.TokenID], r.Name)
	}
	return out, nil
}
