package db

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	gosql "github.com/go-sql-driver/mysql"
	gmysql "gorm.io/driver/mysql"
	"gorm.io/gorm"
)

// pulseConns are for the signs of life alone. They must not wait behind
// statements that wait for a lock: a node whose pool is taken up lives, and
// would be taken for dead.
const pulseConns = 2

// A connection is renewed well before servers and proxies drop idle ones.
const mysqlConnLifetime = 4 * time.Minute

func openMySQL(ctx context.Context, o Options) (*DB, error) {
	cfg, err := mysqlConfig(o)
	if err != nil {
		return nil, err
	}
	pool, err := mysqlPool(cfg, o.MaxConns, o.IdleLimit/2)
	if err != nil {
		return nil, err
	}
	if err := checkServer(ctx, pool); err != nil {
		return nil, errors.Join(err, pool.Close())
	}
	pulse, err := mysqlPool(cfg, pulseConns, o.IdleLimit/2)
	if err != nil {
		return nil, errors.Join(err, pool.Close())
	}
	migrations := cfg.Clone()
	migrations.ReadTimeout = 0 // altering a big table takes its time
	delete(migrations.Params, "wait_timeout")
	d := &DB{
		dialect: mysqlDialect(), log: o.Log, pools: []*sql.DB{pool, pulse},
		migrationPool: func() (*sql.DB, func() error, error) {
			p, err := mysqlPool(migrations, 4, 0)
			if err != nil {
				return nil, nil, err
			}
			return p, p.Close, nil
		},
	}
	if d.write, err = gormOn(pool, o); err == nil {
		d.read = d.write
		d.pulse, err = gormOn(pulse, o)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open the ledger: %w", away(err)), d.Close())
	}
	return d, nil
}

// gormOn is GORM on a pool. DisableWithReturning: with INSERT … RETURNING on
// MariaDB a "do nothing" reports one row on a conflict, which defeats "did I
// win the slot?".
func gormOn(pool *sql.DB, o Options) (*gorm.DB, error) {
	return gorm.Open(marking{gmysql.New(gmysql.Config{Conn: pool, DisableWithReturning: true})}, gormConfig(o))
}

// mysqlConfig reads the DSN and sets what correctness depends on.
func mysqlConfig(o Options) (*gosql.Config, error) {
	c, err := gosql.ParseDSN(o.DSN)
	if err != nil {
		return nil, fmt.Errorf("read the MySQL data source name: %w", err)
	}
	if c.DBName == "" {
		return nil, errors.New("read the MySQL data source name: it names no database (…/name)")
	}
	// The collation only decides how two literals compare; columns have theirs.
	if err := c.Apply(gosql.Charset("utf8mb4", "utf8mb4_general_ci")); err != nil {
		return nil, fmt.Errorf("read the MySQL data source name: %w", err)
	}
	c.InterpolateParams = true // one round trip per statement instead of three
	c.ClientFoundRows = false  // a "do nothing" must report 0 rows on a conflict
	c.MultiStatements = false
	c.ParseTime = true // for goose's own table; ours hold BIGINT
	c.Loc = time.UTC
	c.Timeout = cmp.Or(c.Timeout, 5*time.Second)
	c.ReadTimeout = cmp.Or(c.ReadTimeout, 30*time.Second)
	c.WriteTimeout = cmp.Or(c.WriteTimeout, 30*time.Second)
	c.Logger = driverLog{o.Log}
	if c.Params == nil {
		c.Params = map[string]string{}
	}
	c.Params["time_zone"] = "'+00:00'"
	// Without strict mode a server cuts long values and stores half a payload.
	c.Params["sql_mode"] = "'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'"
	// A process that is frozen in a transaction holds its locks: the row of its
	// node, gates, instances. The server gives it up after this time.
	c.Params["wait_timeout"] = strconv.Itoa(int(o.IdleLimit.Seconds()))
	if c.Params["innodb_lock_wait_timeout"] == "" {
		c.Params["innodb_lock_wait_timeout"] = "10" // seconds; a lock wait is retried
	}
	return c, nil
}

// mysqlPool closes what is idle for so long, before the server does; 0: never.
func mysqlPool(c *gosql.Config, conns int, idle time.Duration) (*sql.DB, error) {
	connector, err := gosql.NewConnector(c)
	if err != nil {
		return nil, fmt.Errorf("open the ledger: %w", err)
	}
	pool := sql.OpenDB(sessionConnector{connector})
	pool.SetMaxOpenConns(conns)
	pool.SetMaxIdleConns(conns)
	pool.SetConnMaxLifetime(mysqlConnLifetime)
	pool.SetConnMaxIdleTime(idle)
	return pool, nil
}

// sessionConnector sets the isolation level of every new connection. As a DSN
// variable it is not portable: MariaDB 10.11 refuses transaction_isolation.
type sessionConnector struct{ driver.Connector }

// Connect implements driver.Connector.
func (c sessionConnector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	execer, ok := conn.(driver.ExecerContext)
	if !ok {
		return nil, errors.Join(errors.New("the MySQL driver can't execute on a new connection"), conn.Close())
	}
	if _, err := execer.ExecContext(ctx, "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED", nil); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

func checkServer(ctx context.Context, pool *sql.DB) error {
	var version string
	if err := pool.QueryRowContext(ctx, "SELECT VERSION()").Scan(&version); err != nil {
		return fmt.Errorf("open the ledger: %w", away(err))
	}
	if !newEnough(version) {
		return fmt.Errorf("open the ledger: server %s is too old, want MySQL 8.0 or MariaDB 10.6 (SKIP LOCKED)", version)
	}
	return nil
}

// newEnough tells whether a server of that VERSION() knows SKIP LOCKED. A
// version it can't read passes: the first statement will tell.
func newEnough(version string) bool {
	maria := strings.Contains(version, "MariaDB")
	if maria {
		version = strings.TrimPrefix(version, "5.5.5-") // old replication prefix
	}
	m := regexp.MustCompile(`^(\d+)\.(\d+)`).FindStringSubmatch(version)
	if m == nil {
		return true
	}
	major, _ := strconv.Atoi(m[1])
	minor, _ := strconv.Atoi(m[2])
	if maria {
		return major > 10 || major == 10 && minor >= 6
	}
	return major >= 8
}
