package jobs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// Streams is a Redis inside this process whose streams tasks may publish to and
// one reader takes from: what a demo needs of a broker.
type Streams struct {
	redis    *Redis
	password string
	read     map[string]string // id of the last entry that was taken, by stream
}

// streamWait bounds one look at a stream: the server in the process answers a
// waiting reader in turn with all others.
const streamWait = 250 * time.Millisecond

// OpenStreams starts it on a loopback port of its own.
func OpenStreams() (*Streams, error) {
	r, password, err := openEmbedded()
	if err != nil {
		return nil, err
	}
	return &Streams{redis: r, password: password, read: map[string]string{}}, nil
}

// Addr is host:port.
func (s *Streams) Addr() string { return s.redis.mini.Addr() }

// Password is of the user without a name.
func (s *Streams) Password() string { return s.password }

// Take gives the fields of the stream's next entry; it waits for one until ctx
// ends. For one reader.
func (s *Streams) Take(ctx context.Context, stream string) (map[string]string, error) {
	after := s.read[stream]
	if after == "" {
		after = "0"
	}
	for {
		got, err := s.redis.client.XRead(ctx, &redis.XReadArgs{Streams: []string{stream, after}, Count: 1, Block: -1}).Result()
		if err != nil && !errors.Is(err, redis.Nil) {
			return nil, fmt.Errorf("read the stream %s: %w", stream, err)
		}
		if len(got) > 0 && len(got[0].Messages) > 0 {
			m := got[0].Messages[0]
			s.read[stream] = m.ID
			out := map[string]string{}
			for name, v := range m.Values {
				out[name] = fmt.Sprint(v)
			}
			return out, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(streamWait):
		}
	}
}

// Close ends it and all that it held.
func (s *Streams) Close() error { return s.redis.Close() }
