package jobs

import (
	"context"
	"time"

	"ax/app/alert"
)

// Readings tells what rules ask of Redis, of other metrics alert.ErrNotMine. Of
// the embedded one there is nothing to tell, nor of the memory of one without a
// limit. Fault: Unavailable.
func (i *Inspector) Readings(ctx context.Context, q alert.Question, _ time.Time) ([]alert.Reading, error) {
	if q.Metric != alert.RedisMemory && q.Metric != alert.RedisEvicts {
		return nil, alert.ErrNotMine
	}
	f, err := i.Figures(ctx)
	if err != nil {
		return nil, err
	}
	return readings(f, q.Metric), nil
}

func readings(f CarrierFigures, m alert.Metric) []alert.Reading {
	r := alert.Reading{Subject: alert.Subject{Kind: alert.HouseSubject, Key: "redis", Name: "Redis"}, Detail: f.Policy}
	switch {
	case m == alert.RedisMemory && f.MaxMemory > 0:
		r.Value, r.Detail = 100*float64(f.Memory)/float64(f.MaxMemory), ""
	case m == alert.RedisEvicts && f.Policy != "":
		if f.Policy != "noeviction" {
			r.Value = 1
		}
	default:
		return nil
	}
	return []alert.Reading{r}
}
