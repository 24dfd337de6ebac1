package shell

import (
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Options are this node's own configuration: nobody can switch commands on, or
// allow one, from another machine.
type Options struct {
	Enabled  bool     `yaml:"enabled"`
	Commands []string `yaml:"commands"` // that may run, absolute
	Folders  []string `yaml:"folders"`  // whose files may run, absolute
	// Containers in which commands may run, as name:/path/of/file or
	// name:/folder/ (all of it). Their files are their own affair.
	Containers []string `yaml:"containers"`
	// Engine that reaches them, absolute, with its options.
	Engine    []string      `yaml:"engine"`
	User      string        `yaml:"user"`       // by name; empty: ax's own
	Memory    string        `yaml:"memory"`     // of a run, such as 512MB; empty: no limit
	Pids      int           `yaml:"pids"`       // processes and threads of a run; 0: no limit
	KillGrace time.Duration `yaml:"kill_grace"` // between TERM and KILL
	Output    string        `yaml:"output"`     // kept of a run: the first and the last half
}

// Check tells the configuration what is wrong with it. What the machine says of
// users and files is looked at by New.
func (o Options) Check(check func(key string, ok bool, format string, args ...any)) {
	for key, paths := range map[string][]string{"shell.commands": o.Commands, "shell.folders": o.Folders} {
		for _, p := range paths {
			check(key, filepath.IsAbs(p) && filepath.Clean(p) == p && p != "/", "absolute paths without .. or a slash at the end; this is %q", p)
		}
	}
	o.checkContainers(check)
	check("shell.enabled", !o.Enabled || len(o.Commands)+len(o.Folders)+len(o.Containers) > 0, "shell.commands, shell.folders or shell.containers are needed with it: nothing is allowed by itself")
	_, err := bytesOf(o.Memory)
	check("shell.memory", err == nil, "a size such as 512MB, or nothing; this is %q", o.Memory)
	check("shell.pids", o.Pids >= 0 && o.Pids <= 1<<20, "between 0 and %d; this is %d", 1<<20, o.Pids)
	check("shell.kill_grace", o.KillGrace >= 0 && o.KillGrace <= 30*time.Second, "between 0s and 30s; this is %s", o.KillGrace)
	n, err := bytesOf(o.Output)
	check("shell.output", err == nil && n >= 16<<10 && n <= 4<<20, "a size between 16KB and 4MB; this is %q", o.Output)
}

// containerName is what docker and podman take as a name.
var containerName = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,127}$`)

func (o Options) checkContainers(check func(key string, ok bool, format string, args ...any)) {
	for _, c := range o.Containers {
		name, path, _ := strings.Cut(c, ":")
		check("shell.containers", containerName.MatchString(name) && filepath.IsAbs(path) && (filepath.Clean(path) == path || filepath.Clean(path)+"/" == path),
			"a name and a path such as billing:/opt/jobs/close.sh, or billing:/opt/jobs/ for all of a folder; this is %q", c)
	}
	check("shell.engine", len(o.Containers) == 0 || len(o.Engine) > 0 && filepath.IsAbs(o.Engine[0]), "the whole path of docker or podman is needed with shell.containers")
}

// Kept is how many bytes of a run's output are kept.
func (o Options) Kept() int {
	n, err := bytesOf(o.Output)
	if err != nil || n == 0 {
		return 512 << 10
	}
	return int(n)
}

// bytesOf reads a size in KB, MB or GB (of 1024); empty is 0.
func bytesOf(s string) (int64, error) {
	if s = strings.TrimSpace(s); s == "" {
		return 0, nil
	}
	for unit, by := range map[string]int64{"KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30} {
		number, ok := strings.CutSuffix(s, unit)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(number), 10, 64)
		if err != nil || n <= 0 || n > math.MaxInt64/by {
			return 0, fmt.Errorf("%q is no size", s)
		}
		return n * by, nil
	}
	return 0, fmt.Errorf("%q has no unit: KB, MB or GB", s)
}

// Labels tell the other nodes that this one runs commands.
func (o Options) Labels() []string {
	if !o.Enabled {
		return nil
	}
	return []string{"shell"}
}
