package main

import (
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// node is one ax process of the installation and its links, which stay when it
// is started again.
type node struct {
	h       *house
	name    string // web, scheduler1, worker2, …
	roles   string
	port    int // of the console; 0: none
	metrics int
	bin     string
	env     []string // more, for this node
	db      *link
	redis   *link
	p       *process
	pids    []int // of all its starts
	deadBy  []int // pids that the bench killed, froze or cut off: their death may be declared
}

// addNode prepares a node; start runs it.
func (h *house) addNode(name, roles string) (*node, error) {
	n := &node{h: h, name: name, roles: roles, metrics: freePort(), bin: h.seat.opt.ax}
	if roles == "web" || roles == "web,scheduler,worker" {
		n.port = freePort()
	}
	var err error
	if n.db, err = newLink(name+"-db", h.maria.addr()); err != nil {
		return nil, err
	}
	if n.redis, err = newLink(name+"-redis", h.redis.addr()); err != nil {
		return nil, err
	}
	h.nodes = append(h.nodes, n)
	return n, nil
}

// start runs the process; extra environment is for this start only.
func (n *node) start(extra ...string) error {
	env := append([]string{
		"AX_ROLES=" + n.roles, "AX_HTTP_ADDR=127.0.0.1:" + strconv.Itoa(n.port), "AX_METRICS_ADDR=127.0.0.1:" + strconv.Itoa(n.metrics),
		"AX_HTTP_EXTERNAL_URL=" + n.h.api, "AX_DATA_DIR=" + n.h.dir,
		"AX_DATABASE_DSN=" + n.h.dsn(n.db.addr()), "AX_REDIS_ADDR=" + n.redis.addr(), "AX_SECRET=" + benchSecret,
		"AX_WORKER_ALLOW_NETWORKS=127.0.0.0/8", // the target is here
	}, pulse...)
	if n.h.robots != nil {
		env = append(env, "SSL_CERT_FILE="+n.h.robots.roots)
	}
	env = append(append(env, n.env...), extra...)
	var err error
	n.p, err = launch(n.h.dir, n.name, env, n.bin, "serve")
	if err != nil {
		return err
	}
	n.pids = append(n.pids, n.p.pid())
	return nil
}

// pulse makes deaths known within about two seconds, and looks often.
var pulse = []string{"AX_NODE_BEAT=500ms", "AX_SCHEDULER_SCAN=200ms", "AX_SCHEDULER_SWEEP=200ms", "AX_WORKER_SHUTDOWN_GRACE=3s", "AX_LOG_FORMAT=json"}

// deadAfter follows from pulse: three missed beats are a death.
const deadAfter = 1500 * time.Millisecond

// kill ends the node as kill -9 does.
func (n *node) kill() {
	n.doomed()
	n.p.kill()
}

// doomed notes that the present process may rightly be declared dead.
func (n *node) doomed() { n.deadBy = append(n.deadBy, n.p.pid()) }

// freeze stops the process until thaw. It may be declared dead meanwhile.
func (n *node) freeze() {
	n.doomed()
	n.p.freeze()
}

func (n *node) thaw() { n.p.thaw() }

// restart kills it and starts it anew.
func (n *node) restart(extra ...string) error {
	n.kill()
	return n.start(extra...)
}

// ready waits until the node serves; one without the web role has its row.
func (n *node) ready(limit time.Duration) error {
	return within(limit, n.name+" is ready", func() bool {
		if !n.p.alive() {
			return false
		}
		if n.port != 0 {
			resp, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/readyz", n.port))
			if err != nil {
				return false
			}
			resp.Body.Close()
			return resp.StatusCode == http.StatusOK
		}
		var rows int
		err := n.h.ledger.QueryRow("SELECT COUNT(*) FROM nodes WHERE pid=? AND dead_at IS NULL AND closed_at IS NULL", n.p.pid()).Scan(&rows)
		return err == nil && rows > 0
	})
}
