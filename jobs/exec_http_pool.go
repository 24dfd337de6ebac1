package jobs

import (
	"net/http"
	"sync"
)

// maxPools bounds how many pools of connections are kept: teams, and targets
// with certificates of their own.
const maxPools = 256

// poolKey says for whom connections are. What is kept of one key is lent to no
// other: of teams each may call other addresses, and a connection that shows a
// certificate is its owner's.
type poolKey struct {
	team int64
	once bool // a connection per call
	own  [32]byte
}

// pools are the transports that calls go by, the ones used last.
type pools struct {
	mu   sync.Mutex
	most int
	turn uint64
	held map[poolKey]*pool
}

type pool struct {
	by   *http.Transport
	used uint64
}

func newPools(most int) *pools { return &pools{most: most, held: map[poolKey]*pool{}} }

// of gives the transport of a key, made when there is none. The one that was
// not used for longest goes when they are too many: its idle connections are
// closed, its calls go on.
func (p *pools) of(key poolKey, make func() (*http.Transport, error)) (*http.Transport, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.turn++
	if held, ok := p.held[key]; ok {
		held.used = p.turn
		return held.by, nil
	}
	by, err := make()
	if err != nil {
		return nil, err
	}
	if len(p.held) >= p.most {
		p.drop()
	}
	p.held[key] = &pool{by: by, used: p.turn}
	return by, nil
}

// drop ends the pool that was not used for longest.
func (p *pools) drop() {
	var last poolKey
	oldest := p.turn
	for key, held := range p.held {
		if held.used < oldest {
			last, oldest = key, held.used
		}
	}
	p.held[last].by.CloseIdleConnections()
	delete(p.held, last)
}

// close ends idle connections of all.
func (p *pools) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, held := range p.held {
		held.by.CloseIdleConnections()
	}
}
