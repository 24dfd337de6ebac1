package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// benchSecret is the secret of each installation.
const benchSecret = "a secret that only the bench of faults has"

// seat is where runs take place one after the other: a MariaDB that they
// share, each with a database of its own.
type seat struct {
	opt   options
	dir   string
	maria *mariadb
	runs  int
}

// house is one installation of ax under attack, with all that judges it.
type house struct {
	seat      *seat
	dir       string
	name      string // of its database
	maria     *mariadb
	redis     *redisServer
	ledger    *sql.DB // as root, past all links
	nodes     []*node
	sink      *sink
	missed    error   // what did not come while there was harm; it is a violation
	robots    *robots // receivers of alerts; nil where none are told
	load      *load
	rabbit    *rabbit // nil where none is asked for, as its consumer
	bridge    *bridge
	executors []*executor // of F43
	registrar *client     // what they register by
	random    *rand.Rand
	api       string // address of the console, for links in receipts
	token     string
	began     time.Time
	story     []string // what was done to it, in order

	mu      sync.Mutex
	zombies bool               // a process may go on with work that was taken from it
	ax      string             // program of commands: that of the newest node
	mark    time.Time          // the moment of the harm, for figures
	orphans bool               // Redis says that messages are taken which nobody has
	frames  [][]any            // spans of the oracle
	facts   map[string]float64 // figures of this run
	undo    []func()           // what close takes back, last first

	longWaits atomic.Int64          // of targets that asked for more time than an attack has
	strayed   atomic.Pointer[error] // the first of them that was out of its bounds
}

// usual is the layout of faults.md 2.1.
var usual = []struct{ name, roles string }{
	{"web", "web"}, {"scheduler1", "scheduler"}, {"scheduler2", "scheduler"}, {"worker1", "worker"}, {"worker2", "worker"},
}

// newHouse makes an installation that runs and is ready, without tasks.
func (s *seat) newHouse(ctx context.Context, sc scenario, seed uint64) (*house, error) {
	s.runs++
	h := &house{
		seat: s, name: fmt.Sprintf("ax_%d", s.runs), dir: filepath.Join(s.dir, fmt.Sprintf("%s-%d", sc.file(), seed)), maria: s.maria, ax: s.opt.ax,
		random: rand.New(rand.NewPCG(seed, 7)), began: time.Now(),
	}
	if err := os.MkdirAll(h.dir, 0o700); err != nil {
		return nil, err
	}
	err := h.build(ctx, sc)
	if err != nil {
		h.close()
	}
	return h, err
}

func (h *house) build(ctx context.Context, sc scenario) error {
	if !h.maria.alive() {
		return errors.New("the seat's MariaDB is gone")
	}
	profile := redisPlain
	if sc.redis != nil {
		profile = sc.redis
	}
	var err error
	if h.redis, err = newRedis(h.dir, profile); err != nil {
		return err
	}
	if h.sink, err = startSink(h.dir); err != nil {
		return err
	}
	if sc.alerts {
		if err := h.startRobots(); err != nil {
			return err
		}
	}
	if err := h.maria.create(h.name); err != nil {
		return err
	}
	if h.ledger, err = h.maria.open(h.name); err != nil {
		return err
	}
	nodes := sc.nodes
	if nodes == nil {
		nodes = usual
	}
	for _, n := range nodes {
		made, err := h.addNode(n.name, n.roles)
		if err != nil {
			return err
		}
		made.env = sc.env
		if made.port != 0 && h.api == "" {
			h.api = "http://127.0.0.1:" + strconv.Itoa(made.port)
		}
	}
	if _, err := h.command("migrate"); err != nil {
		return err
	}
	if err := h.prepareLedger(sc); err != nil {
		return err
	}
	if h.token, err = h.command("token", "create", "--team", "default", "--role", "owner"); err != nil {
		return err
	}
	return h.startAll()
}

func (h *house) startAll() error {
	for _, n := range h.nodes {
		if err := n.start(); err != nil {
			return err
		}
	}
	for _, n := range h.nodes {
		if err := n.ready(30 * time.Second); err != nil {
			return fmt.Errorf("%w\n%s", err, n.p.tail(2000))
		}
	}
	return nil
}

// prepareLedger installs the record of moves, and takes away what the scenario
// wants gone.
func (h *house) prepareLedger(sc scenario) error {
	for _, q := range append(append([]string{}, recordMoves...), sc.prepare...) {
		if _, err := h.ledger.Exec(q); err != nil {
			return fmt.Errorf("prepare the ledger: %w", err)
		}
	}
	return nil
}

// recordMoves keeps the full history of states, in the transactions that make
// it. Only the bench has it.
var recordMoves = []string{
	`CREATE TABLE bench_moves (id BIGINT AUTO_INCREMENT PRIMARY KEY, instance_id CHAR(36) NOT NULL, from_state VARCHAR(10) NOT NULL,
	 to_state VARCHAR(10) NOT NULL, attempt INT NOT NULL, node_id CHAR(36) NULL, due_at BIGINT NOT NULL, at DATETIME(3) NOT NULL)`,
	`CREATE TRIGGER bench_born AFTER INSERT ON instances FOR EACH ROW
	 INSERT INTO bench_moves (instance_id, from_state, to_state, attempt, node_id, due_at, at) VALUES (NEW.id, '', NEW.state, NEW.attempt, NEW.node_id, NEW.due_at, NOW(3))`,
	`CREATE TRIGGER bench_moved AFTER UPDATE ON instances FOR EACH ROW
	 IF OLD.state<>NEW.state OR OLD.attempt<>NEW.attempt OR NOT (OLD.node_id<=>NEW.node_id) THEN
	 INSERT INTO bench_moves (instance_id, from_state, to_state, attempt, node_id, due_at, at) VALUES (NEW.id, OLD.state, NEW.state, NEW.attempt, NEW.node_id, NEW.due_at, NOW(3)); END IF`,
}

// dsn is how ax reaches the ledger at an address.
func (h *house) dsn(addr string) string { return "ax@tcp(" + addr + ")/" + h.name }

// command runs a command of ax past all links and gives what it printed.
func (h *house) command(args ...string) (string, error) {
	cmd := exec.Command(h.ax, args...)
	cmd.Env = append(cleanEnv(), "AX_DATABASE_DSN="+h.dsn(h.maria.addr()), "AX_REDIS_ADDR="+h.redis.addr(), "AX_SECRET="+benchSecret, "AX_DATA_DIR="+h.dir)
	cmd.Dir = h.dir
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return string(out), fmt.Errorf("ax %s: %w\n%s%s", strings.Join(args, " "), err, out, said.String())
	}
	return strings.TrimSpace(string(out)), nil
}

// tell notes what is done to the installation, for whoever reads a failure.
func (h *house) tell(format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.story = append(h.story, fmt.Sprintf("%6.2fs ", time.Since(h.began).Seconds())+fmt.Sprintf(format, args...))
}

// with gives the nodes whose roles contain the role.
func (h *house) with(role string) []*node {
	var out []*node
	for _, n := range h.nodes {
		if strings.Contains(n.roles, role) {
			out = append(out, n)
		}
	}
	return out
}

// one gives a random node with the role.
func (h *house) one(role string) *node {
	all := h.with(role)
	return all[h.random.IntN(len(all))]
}

// between gives a random time.
func (h *house) between(low, high time.Duration) time.Duration {
	return low + time.Duration(h.random.Int64N(int64(high-low)+1))
}

// close ends all that the installation started. Its folder stays.
func (h *house) close() {
	for _, n := range h.nodes {
		if n.p != nil && n.p.alive() {
			n.p.kill()
		}
		n.db.close()
		n.redis.close()
	}
	if h.sink != nil {
		h.sink.kill()
	}
	if h.redis != nil {
		_ = h.redis.direct.Close()
		h.redis.kill()
	}
	if h.ledger != nil {
		_, _ = h.ledger.Exec("DROP DATABASE " + h.name)
		_ = h.ledger.Close()
	}
	for _, undo := range slices.Backward(h.undo) {
		undo()
	}
}
