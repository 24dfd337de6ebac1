package main

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app"

	"ax/app/settings"
	"ax/views"
)

// configText writes a configuration file and returns its path.
func configText(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "my.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestTheEmbeddedDefaultStartsEverythingOnOneMachine(t *testing.T) {
	t.Chdir(t.TempDir())
	c, err := loadConfig("", nil)
	require.NoError(t, err)
	require.Equal(t, []string{"web", "scheduler", "worker"}, c.Roles)
	require.True(t, c.embedded())
	require.True(t, c.miniRedis())
	require.Equal(t, "http://127.0.0.1:8080", c.baseURL())
	require.Equal(t, 64, c.slots(), "in process there is one core or two")
	require.Equal(t, []string{"default"}, c.queueNames())
	require.Len(t, c.networks(), 2)
	require.Equal(t, 15*time.Second, c.pulse().Dead)
	require.Equal(t, time.Second, c.pulse().Retry)
}

func TestTheFileOfTheRepositoryIsTheEmbeddedDefault(t *testing.T) {
	onDisk, err := os.ReadFile("config.yaml")
	require.NoError(t, err)
	require.Equal(t, string(defaultConfig), string(onDisk))
	fromFile, err := loadConfig("config.yaml", nil)
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	embedded, err := loadConfig("", nil)
	require.NoError(t, err)
	require.Equal(t, plain(embedded), plain(fromFile))
}

// plain is a configuration without where its values came from.
func plain(c config) config {
	c.inForce = nil
	return c
}

func TestAFileOfTheWorkingFolderIsTakenUnasked(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("config.yaml", []byte("environment: here\n"), 0o600))
	c, err := loadConfig("", nil)
	require.NoError(t, err)
	require.Equal(t, "here", c.Environment)
	c, err = loadConfig(configText(t, "environment: named\n"), nil)
	require.NoError(t, err)
	require.Equal(t, "named", c.Environment, "--config wins")
}

func TestAFileThatIsNamedMustBeThere(t *testing.T) {
	_, err := loadConfig(filepath.Join(t.TempDir(), "none.yaml"), nil)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorContains(t, err, "none.yaml")
	_, err = loadConfig(t.TempDir(), nil)
	require.ErrorContains(t, err, "read configuration")
}

// The file is the only documentation of the keys: none may be missing there,
// and each has a comment of its own or stands right under a commented one.
func TestEveryKeyIsInTheFileAndExplained(t *testing.T) {
	plain := []string{"http.addr"} // its name and default say it
	explained := explainedKeys(string(defaultConfig))
	var c config
	for key := range settings.Fields(&c) {
		if !slices.Contains(plain, key) {
			require.True(t, explained[key], "%s has no comment in config.yaml", key)
		}
	}
}

// explainedKeys reads the keys of a two-level file, and whether a comment
// covers each.
func explainedKeys(text string) map[string]bool {
	out := map[string]bool{}
	section, covered := "", false
	for line := range strings.Lines(text) {
		bare := strings.TrimSpace(line)
		key, rest, isKey := strings.Cut(bare, ":")
		switch {
		case strings.HasPrefix(bare, "#"):
			covered = true
		case bare == "":
			covered = false
		case isKey && line[0] == ' ':
			out[section+"."+key] = covered || strings.Contains(rest, " # ")
		case isKey:
			section = key
			out[key] = covered
		}
	}
	return out
}

// samples are a text and its value for each type that a setting has.
func samples() map[reflect.Type]struct {
	text string
	want any
} {
	type sample = struct {
		text string
		want any
	}
	return map[reflect.Type]sample{
		reflect.TypeFor[string]():         {"some text: # not yaml", "some text: # not yaml"},
		reflect.TypeFor[bool]():           {"true", true},
		reflect.TypeFor[int]():            {"7", 7},
		reflect.TypeFor[float64]():        {"99.5", 99.5},
		reflect.TypeFor[time.Duration]():  {"1m30s", 90 * time.Second},
		reflect.TypeFor[[]string]():       {"a, b:1 ,,c", []string{"a", "b:1", "c"}},
		reflect.TypeFor[[]int]():          {"1, 2,3", []int{1, 2, 3}},
		reflect.TypeFor[map[string]int](): {"fast:6,slow: 1", map[string]int{"fast": 6, "slow": 1}},
	}
}

func TestEverySettingCanComeFromTheEnvironment(t *testing.T) {
	var blank config
	names := map[string]string{}
	for key, field := range settings.Fields(&blank) {
		name := settings.Variable(key)
		require.Empty(t, names[name], "two keys share %s", name)
		names[name] = key
		s, ok := samples()[field.Type()]
		require.True(t, ok, "%s: no sample of %s", key, field.Type())
		var c config
		from, err := settings.Source{Defaults: defaultConfig, Env: []string{name + "=" + s.text}}.Read(&c)
		require.NoError(t, err)
		require.Equal(t, name, from.Of(key))
		require.Equal(t, s.want, settings.Fields(&c)[key].Interface(), key)
	}
}

// What isn't of a setting's type is refused with the variable and the key.
func TestAVariableOfTheWrongTypeIsRefused(t *testing.T) {
	for name, bad := range map[string]string{
		"AX_REDIS_DB": "three", "AX_REDIS_TLS": "perhaps", "AX_SCHEDULER_SCAN": "soon", "AX_NODE_BEAT": "5",
		"AX_ALARMS_SUCCESS_RATE": "most", "AX_DEFAULTS_RETRY_DELAYS_SECONDS": "1,x", "AX_WORKER_QUEUES": "a:x",
	} {
		_, err := loadConfig("config.yaml", []string{name + "=" + bad})
		require.ErrorContains(t, err, name+": "+strings.ToLower(strings.Replace(name[3:], "_", ".", 1))+": ")
		require.ErrorContains(t, err, bad)
	}
}

func TestTheEnvironmentWinsOverTheFile(t *testing.T) {
	c, err := loadConfig(configText(t, "http:\n  addr: 127.0.0.1:1\n  external_url: https://ax.example.org/\n"), []string{
		"PATH=/bin", "HOME", "AX_HTTP_ADDR=127.0.0.1:2", "AX_HTTP_ADDR=127.0.0.1:3",
	})
	require.NoError(t, err)
	require.Equal(t, "127.0.0.1:3", c.HTTP.Addr)
	require.Equal(t, "https://ax.example.org", c.baseURL())
}

func TestAVariableThatNamesNoSettingIsRefused(t *testing.T) {
	for _, name := range []string{"AX_HTTP_ADRR", "AX_HTTP", "AX_", "AX_DATABASE"} {
		_, err := loadConfig("config.yaml", []string{name + "=x"})
		require.EqualError(t, err, name+": there is no such setting")
	}
	_, err := loadConfig("config.yaml", []string{"AX_TEST_REQUIRE=1", "AXE=1", "ax_http_addr=x"})
	require.NoError(t, err)
}

// A file that can't be read as a configuration stops the start, and the
// message names the file and the line.
func TestABadFileIsRefusedWithItsLine(t *testing.T) {
	cases := map[string]struct{ text, line, says string }{
		"an unknown section":           {"environment: x\nhtpp:\n  addr: a:1\n", "[2:1]", `unknown field "htpp"`},
		"an unknown key":               {"http:\n  adr: a:1\n", "[2:3]", `unknown field "adr"`},
		"a word for a number":          {"node:\n  dead_after: many\n", "[2:15]", "int"},
		"a list for a word":            {"log:\n  level: [info]\n", "[2:10]", "string"},
		"a key twice":                  {"node:\n  beat: 5s\nnode:\n  beat: 6s\n", "[3:1]", `"node" already defined`},
		"an open bracket":              {"roles: [web\n", "[1:8]", "']' not found"},
		"a tab":                        {"\tenvironment: x\n", "[1:", "tab"},
		"a list for the whole":         {"- roles\n", "[1:1]", "mapping is expected"},
		"a word for the whole":         {"hello\n", "[1:1]", "mapping is expected"},
		"a placeholder left as it was": {"database:\n  max_conns: ${CONNS}\n", "[2:14]", "int"},
		"a word among the delays":      {"defaults:\n  retry_delays_seconds: [1, soon]\n", "[2:29]", "int"},
		"a word for a weight":          {"worker:\n  queues:\n    fast: high\n", "[3:11]", "int"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			path := configText(t, c.text)
			_, err := loadConfig(path, nil)
			require.ErrorContains(t, err, path+": "+c.line)
			require.ErrorContains(t, err, c.says)
		})
	}
}

// The decoder would take 3.7 as 3, and not say where a bad duration stands.
func TestAValueOfTheWrongTypeIsRefusedWithItsLine(t *testing.T) {
	for text, says := range map[string]string{
		"scheduler:\n  scan: 5\n":    ` line 2: scheduler.scan: "5" is not a duration such as 30s`,
		"scheduler:\n  scan: soon\n": ` line 2: scheduler.scan: "soon" is not a duration such as 30s`,
		"redis:\n  db: 3.7\n":        ` line 2: redis.db: "3.7" is not a whole number`,
	} {
		path := configText(t, text)
		_, err := loadConfig(path, nil)
		require.EqualError(t, err, path+says)
	}
	_, err := loadConfig("config.yaml", []string{"AX_REDIS_DB=3.7"})
	require.EqualError(t, err, `AX_REDIS_DB: redis.db: "3.7" is not a whole number`)
}

func TestAFileWithoutAnySettingChangesNothing(t *testing.T) {
	want, err := loadConfig("config.yaml", nil)
	require.NoError(t, err)
	for _, text := range []string{"", "\n", "# later\n", "---\n", "worker:\n"} {
		got, err := loadConfig(configText(t, text), nil)
		require.NoError(t, err, "%q", text)
		require.Equal(t, plain(want), plain(got), "%q", text)
	}
}

func TestASecondDocumentIsRefused(t *testing.T) {
	_, err := loadConfig(configText(t, "environment: x\n---\nenvironment: y\n"), nil)
	require.ErrorContains(t, err, "more than one document")
}

// A message goes into logs: it must not quote the lines around the mistake.
func TestAMessageShowsNoSecret(t *testing.T) {
	for _, bad := range []string{"adr: 1", "addr: [", "tls: perhaps"} {
		_, err := loadConfig(configText(t, "secret: hush\nredis:\n  "+bad+"\n  password: hush\ndatabase:\n  dsn: ax:hush@tcp(db)/ax\n"), nil)
		require.Error(t, err)
		require.NotContains(t, err.Error(), "hush", bad)
	}
}

// Each setting out of its bounds is named with its line and its bounds.
func TestAValueOutOfBoundsIsRefusedWithItsLine(t *testing.T) {
	cases := map[string]struct{ key, value, says string }{
		"no role":                  {"roles", "[]", "at least one of web, scheduler, worker"},
		"an unknown role":          {"roles", "[web, cook]", `this is "cook"`},
		"an unknown level":         {"log.level", "loud", "one of debug, info, warn, error"},
		"an unknown format":        {"log.format", "xml", "text or json"},
		"no data folder":           {"data_dir", `""`, "a folder is needed"},
		"an address without port":  {"http.addr", "localhost", "host:port"},
		"an address with a path":   {"http.external_url", "https://ax.example.org/ax", "an address such as"},
		"an address with a user":   {"http.external_url", "https://u:p@ax.example.org", "an address such as"},
		"a collector of nothing":   {"tracing.endpoint", "otel:4318", "an address such as"},
		"a collector with a user":  {"tracing.endpoint", "http://u:p@otel:4318", "an address such as"},
		"more than every trace":    {"tracing.sample_ratio", "1.5", "between 0 and 1"},
		"an address of ftp":        {"http.external_url", "ftp://ax.example.org", "an address such as"},
		"a provider in the clear":  {"oidc.issuer", "http://id.example.org", "an https address"},
		"a proxy by name":          {"http.trusted_proxies", "[proxy]", `this is "proxy"`},
		"one connection":           {"database.max_conns", "1", "between 2 and 1000"},
		"a negative database":      {"redis.db", "-1", "between 0 and 999"},
		"scans too dense":          {"scheduler.scan", "99ms", "between 100ms and 2s"},
		"scans beyond the horizon": {"scheduler.scan", "2001ms", "between 100ms and 2s"},
		"an empty batch":           {"scheduler.plan_batch", "0", "between 1 and 5000"},
		"sweeps too rare":          {"scheduler.sweep", "61s", "between 100ms and 1m0s"},
		"beats too dense":          {"node.beat", "199ms", "between 200ms and 1m0s"},
		"dead after two":           {"node.dead_after", "2", "between 3 and 100"},
		"negative slots":           {"worker.slots", "-1", "between 0 and 10000"},
		"too many servers":         {"worker.servers", "17", "between 0 and 16"},
		"no queue":                 {"worker.queues", "{}", "at least one queue"},
		"a queue in capitals":      {"worker.queues", "{Fast: 1}", `this is "Fast"`},
		"a queue of weight 0":      {"worker.queues", "{fast: 0}", "fast has 0"},
		"an endless grace":         {"worker.shutdown_grace", "61m", "between 0s and 1h0m0s"},
		"a label in capitals":      {"worker.labels", "[GPU]", "lower-case"},
		"the label of commands":    {"worker.labels", "[shell]", "shell.enabled"},
		"too many labels":          {"worker.labels", "[a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q]", "at most 16"},
		"a network by address":     {"worker.allow_networks", "[10.0.0.1]", "prefixes such as"},
		"none beside a network":    {"worker.allow_networks", "[none, 10.0.0.0/8]", "or none alone"},
		"a metadata service":       {"worker.allow_networks", "[169.254.169.254/32]", "which nothing opens"},
		"profiles for everybody":   {"debug.addr", `"0.0.0.0:6060"`, "unless debug.remote is true"},
		"profiles on any address":  {"debug.addr", `":6060"`, "unless debug.remote is true"},
		"profiles under a name":    {"debug.addr", `"ax.internal:6060"`, "unless debug.remote is true"},
		"profiles without a port":  {"debug.addr", "localhost", "host:port"},
		"no timeout":               {"defaults.timeout_seconds", "0", "between 1 and 86400"},
		"negative retries":         {"defaults.retries", "-1", "between 0 and 100"},
		"no delay":                 {"defaults.retry_delays_seconds", "[]", "at least one delay"},
		"a delay of 0":             {"defaults.retry_delays_seconds", "[10, 0]", "this is 0"},
		"more than all":            {"alarms.success_rate", "100.1", "percent"},
		"a depth of 0":             {"alarms.queue_depth", "0", "more than 0"},
		"a lag of 0":               {"alarms.lag", "0s", "between 1s and 1h0m0s"},
		"an offset of a day":       {"alarms.clock_offset", "24h", "between 1s and 1h0m0s"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			text, line := "environment: x\n"+c.key+": "+c.value+"\n", 2
			if section, key, ok := strings.Cut(c.key, "."); ok {
				text, line = "environment: x\n"+section+":\n  "+key+": "+c.value+"\n", 3
			}
			path := configText(t, text)
			_, err := loadConfig(path, nil)
			require.ErrorContains(t, err, fmt.Sprintf("%s line %d: %s: ", path, line, c.key))
			require.ErrorContains(t, err, c.says)
		})
	}
}

func TestAllBadValuesAreNamedAtOnce(t *testing.T) {
	path := configText(t, "scheduler:\n  scan: 1h\nnode:\n  dead_after: 1\n")
	_, err := loadConfig(path, []string{"AX_LOG_LEVEL=loud", "AX_NODE_DEAD_AFTER=2"})
	require.EqualError(t, err, strings.Join([]string{
		`AX_LOG_LEVEL: log.level: one of debug, info, warn, error; this is "loud"`,
		path + ` line 2: scheduler.scan: between 100ms and 2s; this is 1h0m0s`,
		`AX_NODE_DEAD_AFTER: node.dead_after: between 3 and 100 beats; this is 2`,
	}, "\n"))
}

// Nodes that share a database must share the secret and Redis too; alone, ax
// makes both itself.
func TestNodesThatShareADatabaseNeedTheSecretAndRedis(t *testing.T) {
	dsn := "AX_DATABASE_DSN=ax:hush@tcp(db:3306)/ax"
	cases := map[string]struct {
		env  []string
		says string // empty: accepted
	}{
		"alone":                       {nil, ""},
		"alone, with a secret":        {[]string{"AX_SECRET=" + strings.Repeat("s", 32)}, ""},
		"alone, with a short secret":  {[]string{"AX_SECRET=hush"}, "AX_SECRET: secret: at least 32 characters; this has 4"},
		"shared, without a secret":    {[]string{dsn, "AX_REDIS_ADDR=r:6379"}, "secret: it must be given when database.dsn is set"},
		"shared, without Redis":       {[]string{dsn, "AX_SECRET=" + strings.Repeat("s", 32)}, "redis.addr: an address is needed when database.dsn is set"},
		"shared":                      {[]string{dsn, "AX_SECRET=" + strings.Repeat("s", 32), "AX_REDIS_ADDR=r:6379"}, ""},
		"shared, Redis by seeds":      {[]string{dsn, "AX_SECRET=" + strings.Repeat("s", 32), "AX_REDIS_ADDRS=r1:1,r2:1", "AX_REDIS_CLUSTER=true"}, ""},
		"shared, with a short secret": {[]string{dsn, "AX_SECRET=hush", "AX_REDIS_ADDR=r:6379"}, "this has 4"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := loadConfig("config.yaml", c.env)
			if c.says == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.says)
			require.NotContains(t, err.Error(), "hush", "a secret is never shown")
		})
	}
}

// Whoever writes queues means these and no others.
func TestWrittenQueuesReplaceTheDefaultOnes(t *testing.T) {
	cases := map[string]struct {
		text string
		env  []string
		want []string
	}{
		"none written":       {"worker:\n  slots: 4\n", nil, []string{"default"}},
		"one":                {"worker:\n  queues:\n    fast: 6\n", nil, []string{"fast"}},
		"several":            {"worker:\n  queues:\n    slow: 1\n    default: 2\n    fast: 6\n", nil, []string{"default", "fast", "slow"}},
		"on one line":        {"worker: {queues: {fast: 6, slow: 1}}\n", nil, []string{"fast", "slow"}},
		"by the environment": {"worker:\n  queues:\n    fast: 6\n", []string{"AX_WORKER_QUEUES=slow:1"}, []string{"slow"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := loadConfig(configText(t, c.text), c.env)
			require.NoError(t, err)
			require.Equal(t, c.want, got.queueNames())
		})
	}
}

func TestAWrittenListReplacesTheDefaultOne(t *testing.T) {
	c, err := loadConfig(configText(t, "roles: [web]\nworker:\n  queues: {slow: 1}\ndefaults:\n  retry_delays_seconds: [5]\n"), nil)
	require.NoError(t, err)
	require.Equal(t, []string{"web"}, c.Roles)
	require.Equal(t, []string{"slow"}, c.queueNames())
	require.Equal(t, []int{5}, c.Defaults.RetryDelaysSeconds)
	require.True(t, c.has("web"))
	require.False(t, c.has("worker"))
}

// Outside of the embedded default nothing inside the network is open unless
// somebody said so.
func TestWhichNetworksAreOpenToEveryTeam(t *testing.T) {
	server := []string{"AX_DATABASE_DSN=ax:x@tcp(db)/ax", "AX_REDIS_ADDR=r:6379", "AX_SECRET=" + strings.Repeat("s", 32)}
	for name, c := range map[string]struct {
		text   string
		env    []string
		want   []string
		unsaid bool
	}{
		"the embedded default":     {"", nil, []string{"127.0.0.0/8", "::1/128"}, true},
		"with an empty list":       {"worker:\n  allow_networks: []\n", nil, []string{"127.0.0.0/8", "::1/128"}, true},
		"with another list":        {"worker:\n  allow_networks: [10.0.0.0/8]\n", nil, []string{"10.0.0.0/8"}, false},
		"with none":                {"worker:\n  allow_networks: [none]\n", nil, nil, false},
		"with none, by a variable": {"", []string{"AX_WORKER_ALLOW_NETWORKS=none"}, nil, false},
		"on a database":            {"", server, nil, false},
		"on a database, a list":    {"", append([]string{"AX_WORKER_ALLOW_NETWORKS=127.0.0.0/8,fd12::/32"}, server...), []string{"127.0.0.0/8", "fd12::/32"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := loadConfig(configText(t, c.text), c.env)
			require.NoError(t, err)
			var open []string
			for _, p := range got.networks() {
				open = append(open, p.String())
			}
			require.Equal(t, c.want, open)
			require.Equal(t, c.unsaid, got.opensLoopback())
		})
	}
}

func TestProfilesAreClosedUnlessAsked(t *testing.T) {
	c, err := loadConfig(configText(t, ""), nil)
	require.NoError(t, err)
	require.Empty(t, c.Debug.Addr)
	require.False(t, c.Debug.Remote)
	require.Empty(t, c.Metrics.Addr)
	closeAll, err := app.ServeAside(app.AsideOptions{MetricsAddr: c.Metrics.Addr, DebugAddr: c.Debug.Addr})
	require.NoError(t, err, "nothing is opened")
	closeAll()
	for _, addr := range []string{"127.0.0.1:6060", "127.3.2.1:0", "[::1]:6060", "localhost:6060"} {
		_, err := loadConfig(configText(t, ""), []string{"AX_DEBUG_ADDR=" + addr})
		require.NoError(t, err, addr)
	}
	_, err = loadConfig(configText(t, ""), []string{"AX_DEBUG_ADDR=0.0.0.0:6060", "AX_DEBUG_REMOTE=true"})
	require.NoError(t, err)
}

func TestSlotsDependOnWhereRedisRuns(t *testing.T) {
	cases := map[string]struct {
		env  []string
		want int
	}{
		"in process":        {nil, 64},
		"a server":          {[]string{"AX_REDIS_ADDR=r:6379"}, 256},
		"a chosen number":   {[]string{"AX_WORKER_SLOTS=8"}, 8},
		"chosen, on server": {[]string{"AX_WORKER_SLOTS=8", "AX_REDIS_ADDR=r:6379"}, 8},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := loadConfig("config.yaml", c.env)
			require.NoError(t, err)
			require.Equal(t, c.want, got.slots())
		})
	}
}

func TestZoneDataThatCantBeReadStopsTheStart(t *testing.T) {
	for _, set := range os.Environ() {
		if name, _, _ := strings.Cut(set, "="); strings.HasPrefix(name, "AX_") { // such as AX_SQL_LOG in CI
			t.Setenv(name, "")
			require.NoError(t, os.Unsetenv(name))
		}
	}
	_, err := (&cli{configPath: configText(t, "zone_data: /nowhere/zones.zip\n")}).config()
	require.EqualError(t, err, "zone_data: read zone data: open /nowhere/zones.zip: no such file or directory")
}

func TestTheSettingsInForceSayWhoSetThem(t *testing.T) {
	path := configText(t, "# ours\nhttp:\n  addr: 127.0.0.1:1\nnode:\n  beat: 5s\nworker:\n  queues: {slow: 1, fast: 6}\n  shutdown_grace: 2m\n")
	c, err := loadConfig(path, []string{"AX_ALARMS_LAG=90s", "AX_DEFAULTS_RETRY_DELAYS_SECONDS=5,60"})
	require.NoError(t, err)
	byKey := map[string]settings.Entry{}
	for _, e := range c.inForce {
		byKey[e.Key] = e
	}
	require.Len(t, byKey, len(settings.Fields(&config{})))
	require.Equal(t, "environment", c.inForce[0].Key, "in the order of the file")
	for _, want := range []settings.Entry{
		{Key: "http.addr", Value: "127.0.0.1:1", Default: "127.0.0.1:8080", Changed: true, From: path + ":3"},
		{Key: "node.beat", Value: "5s", Default: "5s", From: path + ":5"},
		{Key: "worker.queues", Value: "fast:6, slow:1", Default: "default:1", Changed: true, From: path + ":7"},
		{Key: "worker.shutdown_grace", Value: "2m", Default: "30s", Changed: true, From: path + ":8"},
		{Key: "alarms.lag", Value: "1m30s", Default: "5s", Changed: true, From: "AX_ALARMS_LAG"},
		{Key: "defaults.retry_delays_seconds", Value: "5, 60", Default: "10, 30, 120", Changed: true, From: "AX_DEFAULTS_RETRY_DELAYS_SECONDS"},
		{Key: "roles", Value: "web, scheduler, worker", Default: "web, scheduler, worker"},
		{Key: "redis.tls", Value: "false", Default: "false"},
	} {
		require.Equal(t, want, byKey[want.Key])
	}
}

func TestTheSettingsInForceShowNoSecret(t *testing.T) {
	for dsn, want := range map[string]string{
		"ax:hush@tcp(db:3306)/ax":              "ax:•••@tcp(db:3306)/ax",
		"ax:hu@sh/hush@tcp(db)/ax?loc=UTC":     "ax:•••@tcp(db)/ax?loc=UTC",
		"ax:hush:hush@unix(/run/my.sock)/ax":   "ax:•••@unix(/run/my.sock)/ax",
		"ax@tcp(db)/ax":                        "ax@tcp(db)/ax",
		"tcp(db)/ax":                           "tcp(db)/ax",
		"ax:hush-and-no-slash@tcp(db:3306) ax": "•••",
	} {
		c, err := loadConfig(configText(t, "secret: hush-hush-hush-hush-hush-hush-hush\nold_secrets: [hush-hush-hush-hush-hush-hush-hush2]\n"), []string{
			"AX_DATABASE_DSN=" + dsn, "AX_REDIS_ADDR=r:1", "AX_REDIS_USERNAME=carrier", "AX_REDIS_PASSWORD=hush",
			"AX_OIDC_ISSUER=https://id.example.org", "AX_OIDC_CLIENT_ID=ax", "AX_OIDC_CLIENT_SECRET=hush", "AX_OIDC_GROUPS=ops = payments:viewer", "AX_HTTP_EXTERNAL_URL=https://ax.example.org",
		})
		require.NoError(t, err)
		require.NotContains(t, fmt.Sprint(c.inForce), "hush")
		i := slices.IndexFunc(c.inForce, func(e settings.Entry) bool { return e.Key == "database.dsn" })
		require.Equal(t, want, c.inForce[i].Value)
		require.True(t, c.inForce[i].Changed)
	}
}

func TestTheConsoleKnowsWhyEachSettingIsAsItIs(t *testing.T) {
	for _, lang := range []string{views.English, views.Chinese} {
		ctx := views.With(t.Context(), views.Viewer{Lang: lang})
		for key := range settings.Fields(&config{}) {
			require.NotEmpty(t, views.SettingWords(ctx, key), "%s in %s", key, lang)
		}
	}
}
