package jobs

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"github.com/redis/go-redis/v9"
)

// asynqLog writes what Asynq says to our log. What it calls information is of
// no use to an operator; what it calls an error but is known to be harmless
// is a remark.
type asynqLog struct{ log *slog.Logger }

func (l asynqLog) Debug(args ...any) { l.log.Debug(fmt.Sprint(args...)) }
func (l asynqLog) Info(args ...any)  { l.log.Debug(fmt.Sprint(args...)) }
func (l asynqLog) Warn(args ...any)  { l.write(slog.LevelWarn, fmt.Sprint(args...)) }
func (l asynqLog) Error(args ...any) { l.write(slog.LevelError, fmt.Sprint(args...)) }

// Fatal does not end the process: that is for the caller to decide.
func (l asynqLog) Fatal(args ...any) { l.write(slog.LevelError, fmt.Sprint(args...)) }

func (l asynqLog) write(level slog.Level, text string) {
	if harmless(text) {
		level = slog.LevelDebug
	}
	l.log.Log(context.Background(), level, text)
}

// harmless: a message that is gone when its handler ends (Redis was wiped, or
// two recoverers met; the row in the ledger is settled already), and the
// refusal to close a pool that is ours to close.
func harmless(text string) bool {
	return strings.Contains(text, "NOT FOUND") || strings.Contains(text, "connection is shared")
}

// RouteRedisLog sends the Redis library's own lines to log. They are set for
// the process, so only main calls this, before OpenRedis.
func RouteRedisLog(log *slog.Logger) { redis.SetLogger(redisLog{log}) }

type redisLog struct{ log *slog.Logger }

// Printf has no level: these lines tell of broken connections, which Ping and
// the failing calls report as well.
func (l redisLog) Printf(ctx context.Context, format string, args ...any) {
	l.log.DebugContext(ctx, "redis: "+fmt.Sprintf(format, args...))
}
