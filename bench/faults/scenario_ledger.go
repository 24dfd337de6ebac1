package main

import (
	"context"
	"fmt"
	"time"
)

func ledgerFaults() []scenario {
	return []scenario{
		{name: "F11", says: "MariaDB killed and started again, twice", smoke: true, own: true, run: killMaria},
		{name: "F12", says: "MariaDB read-only for 6 s", own: true, run: readOnly},
		{name: "F14", says: "tables locked for 4 s, and only 12 connections", own: true, run: lockTables, env: []string{"AX_DATABASE_MAX_CONNS=4"}},
		{name: "F14/refused", says: "MariaDB refuses connections: too many", own: true, run: refuseConnections},
		{name: "F15", says: "ways to the ledger cut after random bytes of the answers", smoke: true, run: cutAnswers},
	}
}

func killMaria(ctx context.Context, h *house) error {
	for range 2 {
		rest(ctx, h.between(500*time.Millisecond, 2*time.Second))
		h.tell("kill -9 mariadbd")
		h.maria.kill()
		rest(ctx, h.between(0, 2*time.Second))
		if err := h.maria.start(); err != nil {
			return err
		}
		h.tell("MariaDB is back")
	}
	return nil
}

// readOnly: what is accepted while nothing can be written would be a lie.
func readOnly(ctx context.Context, h *house) error {
	if _, err := h.maria.root.Exec("SET GLOBAL read_only=1"); err != nil {
		return err
	}
	rest(ctx, 6*time.Second)
	_, err := h.maria.root.Exec("SET GLOBAL read_only=0")
	rest(ctx, time.Second)
	return err
}

func lockTables(ctx context.Context, h *house) error {
	conn, err := h.ledger.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	for _, table := range []string{"instances", "tasks", "nodes"} {
		if _, err := conn.ExecContext(ctx, "LOCK TABLES "+table+" WRITE"); err != nil {
			return err
		}
		h.tell("%s is locked", table)
		rest(ctx, choose(table == "nodes", time.Second, 4*time.Second))
		if _, err := conn.ExecContext(ctx, "UNLOCK TABLES"); err != nil {
			return err
		}
		rest(ctx, 500*time.Millisecond)
	}
	return nil
}

func refuseConnections(ctx context.Context, h *house) error {
	if _, err := h.maria.root.Exec("SET GLOBAL max_connections=10"); err != nil {
		return err
	}
	for _, n := range h.nodes { // what is open is cut, and comes back one by one
		n.db.cut()
		if err := n.db.heal(); err != nil {
			return err
		}
		n.doomed()
	}
	rest(ctx, 5*time.Second)
	_, err := h.maria.root.Exec("SET GLOBAL max_connections=151")
	rest(ctx, time.Second)
	return err
}

// cutAnswers: whatever is on its way is cut, commits and their answers too.
func cutAnswers(ctx context.Context, h *house) error {
	for range 25 {
		n := h.nodes[h.random.IntN(len(h.nodes))]
		s := choose(h.random.IntN(3) == 0, up, down)
		if err := n.db.cutAfter(s, 200+h.random.IntN(6000)); err != nil {
			return err
		}
		rest(ctx, h.between(100*time.Millisecond, 500*time.Millisecond))
		if err := n.db.heal(); err != nil {
			return err
		}
	}
	var broken float64
	err := h.ledger.QueryRow("SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME='ABORTED_CLIENTS'").Scan(&broken)
	if err != nil {
		return fmt.Errorf("count the cut connections: %w", err)
	}
	h.facts["connections cut"] = broken
	return nil
}
