package db

import (
	"context"
	"time"

	"gorm.io/gorm"
)

// The external tests (they import dbtest, which imports this package) reach
// these parts through here.

func (d *DB) Tx(ctx context.Context, what string, fn func(tx *gorm.DB) error) error {
	return d.tx(ctx, what, fn)
}

func (d *DB) View(ctx context.Context) *gorm.DB { return d.view(ctx) }

func At(t time.Time) Millis { return at(t) }
