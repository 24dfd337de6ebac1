package views

import (
	"context"
	"strings"
)

// settingGroups are the parts of the table, in their order.
var settingGroups = []struct{ name, word string }{
	{"", msg("The process")},
	{"http", msg("Addresses")},
	{"oidc", msg("Sign-in through a provider")},
	{"database", msg("Ledger")},
	{"redis", msg("Redis")},
	{"scheduler", msg("Planning")},
	{"node", msg("Nodes")},
	{"worker", msg("Workers")},
	{"shell", msg("Commands")},
	{"mail", msg("Mail server")},
	{"defaults", msg("What a new task gets")},
	{"alarms", msg("Where the console begins to warn")},
}

// groupOfSetting is the name of the group that a key stands in.
func groupOfSetting(key string) string {
	group, _, ok := strings.Cut(key, ".")
	switch {
	case !ok || group == "log":
		return ""
	case group == "metrics" || group == "debug" || group == "tracing":
		return "http"
	}
	return group
}

// SettingWords say why a setting is as it is; config.yaml says more.
func SettingWords(ctx context.Context, key string) string {
	said := settingWords[key]
	return t(ctx, said)
}

var settingWords = map[string]string{
	"environment": msg("Name of the installation, in the top bar."),
	"roles":       msg("What this process does. In production scheduler and worker run apart, so that planning never shares a process with users' work."),
	"data_dir":    msg("Folder of the embedded default: database, secret, lock."),
	"secret":      msg("Callbacks and receipts are signed with keys derived from it, so all nodes need the same."),
	"old_secrets": msg("Secrets from before, while the ledger still holds what they sealed: ax reseal seals it with the present one."),
	"zone_data":   msg("A zip of time zone files to go by instead of those built in, for a change of clocks that no release of ax has yet. All nodes need the same."),
	"log.level":   msg("What is written to the log."),
	"log.format":  msg("text for people, json for collectors."),

	"http.addr":            msg("Where the console and the API listen."),
	"http.external_url":    msg("How people and targets get here: links, receipt addresses, and Secure cookies with https."),
	"http.trusted_proxies": msg("Whose X-Forwarded-For is believed. Empty: nobody's, so no caller can pretend to be another."),
	"metrics.addr":         msg("Listener of /metrics. It has no sign-in, so it belongs inside."),
	"debug.addr":           msg("Listener of /debug/pprof, for a process that is slow or grows. It has no sign-in, so it stays on loopback."),
	"debug.remote":         msg("Lets that listener be on another address than loopback."),
	"tracing.endpoint":     msg("Where traces of runs go, from the request to the target's last word: a collector of OpenTelemetry. Empty: none are made."),
	"tracing.sample_ratio": msg("Share of the runs that are traced, 0 to 1. All nodes need the same."),

	"oidc.issuer":        msg("The company's identity provider, as its discovery document names it. Empty: passwords only."),
	"oidc.client_id":     msg("What the provider calls ax."),
	"oidc.client_secret": msg("Shown to nobody."),
	"oidc.name":          msg("What people call the provider, on the button. Empty is the issuer's host."),
	"oidc.scopes":        msg("What ax asks the provider for."),
	"oidc.groups_claim":  msg("The claim that lists a person's groups. When the ID token has none of that name, the userinfo endpoint is asked."),
	"oidc.groups":        msg("What the provider's groups give: a role in a team, admin or auditor. Who is in none of them can't come in."),

	"database.dsn":       msg("Empty is SQLite in data_dir, for one process on one machine."),
	"database.max_conns": msg("Connections at once. Each process has two more for its signs of life, so that a full pool isn't taken for a death."),

	"redis.addr":        msg("Empty is a Redis in this process. What Redis loses is sent again from the ledger."),
	"redis.username":    msg("For servers with access lists."),
	"redis.password":    msg("Shown to nobody."),
	"redis.db":          msg("Number of the database on the server."),
	"redis.tls":         msg("Encrypts the way to Redis."),
	"redis.master_name": msg("Name of the master that Sentinel watches."),
	"redis.addrs":       msg("The Sentinels, or the seeds of a cluster."),
	"redis.cluster":     msg("The addresses are seeds of a cluster."),

	"scheduler.scan":       msg("Pause between two looks at the due tasks. A slot becomes an instance 2 s ahead, so 1 s leaves one look in reserve."),
	"scheduler.plan_batch": msg("Due tasks that one planning transaction takes. More hold their row locks longer without planning faster."),
	"scheduler.sweep":      msg("Pause between two looks for work that was handed over and not taken."),

	"node.beat":       msg("How often a node tells the ledger that it lives."),
	"node.dead_after": msg("Missed beats until its work is taken over. Fewer would bury nodes that only pause."),

	"worker.slots":          msg("Instances that run at once. 0 chooses 256, or 64 with Redis in this process."),
	"worker.servers":        msg("Asynq servers that share them. 0 chooses."),
	"worker.queues":         msg("Queues and their weights: weight 6 is looked at six times as often as 1."),
	"worker.shutdown_grace": msg("How long running work may take to end when the process is told to stop."),
	"worker.labels":         msg("What this node has that others have not: a task that needs labels runs only on nodes that have all of them."),
	"worker.allow_networks": msg("Ranges inside your network that targets of every team may be in; others are opened on a team's page. Empty on the embedded default: this machine. Metadata services of clouds are never open."),

	"defaults.timeout_seconds":      msg("Longer work holds a worker's place; it should answer 202 and send a receipt."),
	"defaults.retries":              msg("Repeats of a failed attempt before the dead letter. Most faults of a target are over within two minutes."),
	"defaults.retry_delays_seconds": msg("Pauses before them."),

	"shell.enabled":    msg("Whether this node runs commands of tasks. Nobody can switch it on from elsewhere."),
	"shell.commands":   msg("Files that may run."),
	"shell.folders":    msg("Folders whose files may run. Nobody but their owner may be able to write into them."),
	"shell.containers": msg("Containers and the files in them that may run, as name:/path."),
	"shell.engine":     msg("The program that reaches containers, docker or podman, with its options."),
	"shell.user":       msg("The user that commands run as, which needs ax to be root. Empty is ax's own user, who can read what ax can."),
	"shell.memory":     msg("Memory of one run. Empty is no limit."),
	"shell.pids":       msg("Processes and threads of one run. 0 is no limit."),
	"shell.kill_grace": msg("How long a command that is told to end may take until it is killed."),
	"shell.output":     msg("What is kept of a run's output: its first and its last half."),

	"mail.addr":     msg("The mail server that alerts are sent through. Empty: no alerts by e-mail."),
	"mail.username": msg("What the mail server knows ax by. Empty: it asks for nothing."),
	"mail.password": msg("Shown to nobody."),
	"mail.from":     msg("Who the mails are from."),
	"mail.tls":      msg("starttls encrypts after the greeting, tls from the first byte; none sends mail and password in the clear."),

	"alarms.clock_offset": msg("A node's clock against the ledger's. Over 30 s it also stops planning."),
	"alarms.queue_depth":  msg("Instances that are due and have not begun, per queue."),
	"alarms.lag":          msg("How late a start may be."),
	"alarms.zone":         msg("Time zone of the times in messages to people, such as Asia/Shanghai."),
	"alarms.success_rate": msg("Percent of the instances that ended within the hour."),
}
