package db

import (
	"context"
	"fmt"
	"time"

	"ax/app/alert"
)

// AlertFigures counts incidents that fire and messages that wait or were given
// up, of all teams.
func (d *DB) AlertFigures(ctx context.Context, now time.Time) (alert.Figures, error) {
	out := alert.Figures{Firing: map[alert.Level]int{}}
	var levels []struct {
		Level string
		N     int
	}
	if err := d.view(ctx).Raw("SELECT level, COUNT(*) AS n FROM incidents WHERE state=? GROUP BY level", string(alert.Firing)).Scan(&levels).Error; err != nil {
		return out, fmt.Errorf("count incidents: %w", away(err))
	}
	for _, l := range levels {
		out.Firing[alert.Level(l.Level)] = l.N
	}
	var waiting struct {
		N      int
		Oldest Millis
	}
	if err := d.view(ctx).Raw("SELECT COUNT(*) AS n, MIN(created_at) AS oldest FROM deliveries WHERE state=?", string(alert.Waiting)).Scan(&waiting).Error; err != nil {
		return out, fmt.Errorf("count deliveries that wait: %w", away(err))
	}
	out.Waiting, out.Oldest = waiting.N, waiting.Oldest.Time
	// Each try moves due_at on, so it is about the last one; it has a key.
	err := d.view(ctx).Raw("SELECT COUNT(*) FROM deliveries WHERE state=? AND due_at>=?", string(alert.Refused), at(now.Add(-time.Hour))).Scan(&out.Refused).Error
	if err != nil {
		return out, fmt.Errorf("count deliveries that were given up: %w", away(err))
	}
	return out, nil
}
