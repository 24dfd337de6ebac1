package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

func alerting() []scenario {
	return []scenario{
		{name: "F41", says: "receivers of alerts that are slow, answer 500, 429, their own code for too much, a page, hang up, break TLS, have no DNS, and are mended",
			alerts: true, works: sickWork, run: troubleReceivers, still: allTold, after: onceAndInTime},
		{name: "F41/kill", says: "schedulers killed at each place of an alert's way; a claim of a channel lasts 12 s, not 60 s",
			alerts: true, works: sickWork, prepare: shortLeases(12), run: killTellers, still: allTold, after: onceBesideDeaths},
		{name: "F41/redis", says: "Redis killed while incidents open, and back when they were told",
			alerts: true, works: sickWork, run: tellWithoutRedis, still: allTold, after: once},
	}
}

// sickWork is some of the usual work, and tasks that fail for three reasons
// until they are mended: three causes, so three incidents.
func sickWork() []work {
	out := fewSlots()
	for _, status := range []string{"500", "404", "0"} {
		for i := range 4 {
			out = append(out, work{code: fmt.Sprintf("sick-%s-%d", status, i), path: "/sick/" + status, schedule: manual, rate: 0.8})
		}
	}
	return out
}

// causes of failures in a row that sickWork has.
const causes = 3

// listening is a channel of the team: a name, its kind, what is wrong with its
// receiver, and what it is told of; no events: of every rule.
type listening struct {
	name, kind, trouble string
	events              []string
}

// listen makes a channel and subscribes it.
func (h *house) listen(all ...listening) error {
	for _, x := range all {
		r := receiver{name: x.name, kind: x.kind, trouble: x.trouble}
		server := choose(x.kind == "webhook", h.robots.plain, h.robots.secure)
		switch x.trouble {
		case "tls":
			server = h.robots.foreign
		case "dns": // no resolver is asked for a name that can't be one
			server = "http://receiver..invalid"
		}
		asked := map[string]any{"team": "default", "kind": x.kind, "name": x.name, "url": h.robots.address(server, x.name)}
		if x.kind == "feishu" || x.kind == "dingtalk" {
			r.key = "SEC0123456789abcdef" + x.name
			asked["key"] = r.key
		}
		made, err := h.load.insist(20*time.Second, "channel.create", x.name, "POST", "/alerts/channels", asked)
		if err != nil {
			return err
		}
		if x.kind == "webhook" {
			r.key = made.text("key")
		}
		h.robots.know(r)
		sub := map[string]any{"team": "default", "channel_id": made.text("id")}
		if len(x.events) > 0 {
			sub["events"] = x.events
		}
		if _, err := h.load.insist(20*time.Second, "subscription.create", x.name, "POST", "/alerts/subscriptions", sub); err != nil {
			return err
		}
	}
	return nil
}

// move gives a channel another address. Another host must be given the key
// again.
func (h *house) move(name, server string) error {
	var id string
	if err := h.ledger.QueryRow("SELECT id FROM channels WHERE name=?", name).Scan(&id); err != nil {
		return err
	}
	was, err := h.load.call("GET", "/alerts/channels/"+id, nil)
	if err != nil {
		return err
	}
	h.robots.mu.Lock()
	key := h.robots.receivers[name].key
	h.robots.mu.Unlock()
	_, err = h.load.insist(20*time.Second, "channel.update", name, "PUT", "/alerts/channels/"+id, map[string]any{
		"name": name, "url": h.robots.address(server, name), "key": key, "version": was.body["version"]})
	return err
}

// healSink mends what is sick.
func (h *house) healSink() error {
	resp, err := http.Get(h.sink.url + "/heal")
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// ofSingle are the events of single objects that the scenarios' judges know.
var ofSingle = []string{"instance.finished", "incident.opened", "incident.closed"}

// inTrouble are the channels of F41 beside the good one.
var inTrouble = []listening{
	{"events", "webhook", "500", ofSingle}, {"slow", "webhook", "slow", nil}, {"broken", "wecom", "500", nil}, {"busy", "slack", "429", nil},
	{"limit", "feishu", "limit", nil}, {"page", "dingtalk", "page", nil}, {"closing", "teams", "close", nil},
	{"tls", "webhook", "tls", nil}, {"dns", "webhook", "dns", nil},
}

// troubleReceivers lets every receiver in trouble be tried, and mends them and
// the tasks.
func troubleReceivers(ctx context.Context, h *house) error {
	if err := h.listen(append([]listening{{"good", "webhook", "", nil}}, inTrouble...)...); err != nil {
		return err
	}
	untried := ""
	err := within(75*time.Second, "each receiver in trouble was tried", func() bool {
		rest(ctx, 200*time.Millisecond)
		var names []string
		for _, x := range inTrouble {
			var n int
			if h.ledger.QueryRow("SELECT COUNT(*) FROM deliveries d JOIN channels c ON c.id=d.channel_id WHERE c.name=? AND d.verdict<>''", x.name).Scan(&n) != nil || n == 0 {
				names = append(names, x.name)
			}
		}
		untried = strings.Join(names, ", ")
		return len(names) == 0
	})
	if err != nil {
		return fmt.Errorf("%w: not %s", err, untried)
	}
	h.missed = h.opened(ctx) // they may have been tried with another incident
	h.tell("each receiver in trouble was tried")
	h.robots.heal()
	for _, name := range []string{"tls", "dns"} {
		if err := h.move(name, choose(name == "tls", h.robots.secure, h.robots.plain)); err != nil {
			return err
		}
	}
	if err := h.healSink(); err != nil {
		return err
	}
	rest(ctx, 3*time.Second) // the sick run well now
	return nil
}

// shortLeases let what a dead scheduler was sending be taken after so many
// seconds.
func shortLeases(seconds int) []string {
	return []string{"CREATE TRIGGER bench_lease BEFORE UPDATE ON channels FOR EACH ROW IF NEW.claimed_until IS NOT NULL THEN " +
		fmt.Sprintf("SET NEW.claimed_until=LEAST(NEW.claimed_until, FLOOR(UNIX_TIMESTAMP(NOW(3))*1000)+%d); END IF", 1000*seconds)}
}

// alertPoints are the places of an alert's way, in an order in which each is
// passed soon: a death while a channel is sent to keeps it for its lease.
var alertPoints = []string{"alert.asked", "alert.incident", "alert.recorded", "events.found", "deliver.settled", "deliver.taken", "deliver.sent"}

// killTellers arms both schedulers with each place: one of them has the turn.
func killTellers(ctx context.Context, h *house) error {
	err := h.listen(listening{"good", "webhook", "", nil}, listening{"people", "wecom", "", nil}, listening{"events", "webhook", "", ofSingle})
	if err != nil {
		return err
	}
	for _, p := range alertPoints {
		arm := fmt.Sprintf("AX_FAILPOINT=%s:%d=kill", p, 1+h.random.IntN(2))
		for _, n := range h.with("scheduler") {
			if err := n.restart(arm); err != nil {
				return err
			}
			n.doomed()
		}
		died := h.aSchedulerDies(25 * time.Second)
		h.tell("%s: %s", arm, choose(died != nil, "met", "not met"))
		h.met(p, died != nil)
		if died == nil {
			return fmt.Errorf("no scheduler came by %s", p)
		}
		if err := died.start(); err != nil { // the other one is still armed
			return err
		}
		rest(ctx, h.between(time.Second, 3*time.Second))
	}
	for _, n := range h.with("scheduler") {
		if err := n.restart(); err != nil {
			return err
		}
	}
	h.missed = h.opened(ctx) // only what was told may be over
	if err := h.healSink(); err != nil {
		return err
	}
	rest(ctx, 3*time.Second)
	return nil
}

func (h *house) aSchedulerDies(limit time.Duration) *node {
	var died *node
	_ = within(limit, "a scheduler dies", func() bool {
		i := slices.IndexFunc(h.nodes, func(n *node) bool { return strings.Contains(n.roles, "scheduler") && !n.p.alive() })
		if i >= 0 {
			died = h.nodes[i]
		}
		return i >= 0
	})
	return died
}

// opened waits until the good channel was told of each cause.
func (h *house) opened(ctx context.Context) error {
	return within(60*time.Second, "each cause was told", func() bool {
		rest(ctx, 200*time.Millisecond)
		ids := map[string]bool{}
		for _, m := range h.robots.messages() {
			if m.receiver == "good" && m.event == "alert.opened" {
				ids[m.object] = true
			}
		}
		return len(ids) >= causes
	})
}

// tellWithoutRedis kills Redis when there are incidents that nobody was told
// of yet.
func tellWithoutRedis(ctx context.Context, h *house) error {
	err := h.listen(listening{"good", "webhook", "", nil}, listening{"people", "wecom", "", nil}, listening{"events", "webhook", "", ofSingle})
	if err != nil {
		return err
	}
	err = within(30*time.Second, "incidents open", func() bool {
		var n int
		err := h.ledger.QueryRow("SELECT COUNT(*) FROM incidents WHERE metric='failures_in_row' AND state='firing' AND told=0").Scan(&n)
		return err == nil && n >= causes
	})
	if err != nil {
		return err
	}
	h.tell("kill -9 redis")
	h.redis.kill()
	killed := time.Now()
	h.missed = h.opened(ctx)
	h.facts["told without Redis after, s"] = time.Since(killed).Seconds()
	if err := h.redis.start(); err != nil {
		return err
	}
	h.tell("Redis is back")
	if err := h.healSink(); err != nil {
		return err
	}
	rest(ctx, 5*time.Second)
	return nil
}
