package db

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

// sqlLog hands GORM's failed statements to slog at debug level: the error
// itself goes to the caller, which logs it once. Values are never written,
// they may be secrets.
type sqlLog struct {
	log   *slog.Logger
	watch func(statement string) // nil: nobody
}

// LogMode implements logger.Interface; the level is slog's business.
func (l sqlLog) LogMode(logger.LogLevel) logger.Interface { return l }

// Info implements logger.Interface; GORM's chatter is dropped.
func (l sqlLog) Info(context.Context, string, ...any) {}

// Warn implements logger.Interface; GORM's chatter is dropped.
func (l sqlLog) Warn(context.Context, string, ...any) {}

// Error implements logger.Interface.
func (l sqlLog) Error(ctx context.Context, format string, args ...any) {
	l.log.ErrorContext(ctx, fmt.Sprintf(format, args...))
}

// Trace implements logger.Interface.
func (l sqlLog) Trace(ctx context.Context, begin time.Time, statement func() (string, int64), err error) {
	if l.watch != nil {
		sql, _ := statement()
		l.watch(sql)
	}
	if err == nil || errors.Is(err, gorm.ErrRecordNotFound) || !l.log.Enabled(ctx, slog.LevelDebug) {
		return
	}
	sql, _ := statement()
	l.log.DebugContext(ctx, "statement failed", "sql", sql, "error", err, "after", time.Since(begin))
}

// ParamsFilter keeps GORM from writing values into the logged statement.
func (l sqlLog) ParamsFilter(_ context.Context, sql string, _ ...any) (string, []any) {
	return sql, nil
}

// withoutValues keeps them out of what Scan hands to Trace as well: GORM
// writes that statement by a recorder of its own, for all of the process.
var withoutValues = sync.OnceFunc(func() { //nolint:gochecknoglobals // as is what it sets: GORM has one of it
	logger.RecorderParamsFilter = func(_ context.Context, sql string, _ ...any) (string, []any) { return sql, nil }
})

// driverLog takes what go-sql-driver would print to stderr.
type driverLog struct{ log *slog.Logger }

// Print implements mysql.Logger.
func (l driverLog) Print(v ...any) { l.log.Debug("mysql driver", "message", fmt.Sprint(v...)) }
