package demo

import (
	"fmt"
	"os"
	"path/filepath"

	"ax/app/sched"
)

// scripts are the commands of the demo.
var scripts = map[string]string{
	"archive.sh": `#!/bin/sh
set -eu
n=0
while [ $n -lt 8 ]; do
	n=$((n + 1))
	echo "archived statement-2026-$n.pdf"
	sleep 0.5
done
echo "8 files archived"
`,
	"labels.sh": `#!/bin/sh
set -eu
echo "printer: label-berlin-2"
echo "out of paper after 311 of 480 labels" >&2
exit 3
`,
}

// WriteCommands puts the demo's commands into a new folder that only its owner
// can write, and gives its path.
func WriteCommands(under string) (string, error) {
	folder := filepath.Join(under, "demo-commands")
	if err := os.Mkdir(folder, 0o755); err != nil {
		return "", fmt.Errorf("make the folder of the demo's commands: %w", err)
	}
	for name, text := range scripts {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o755); err != nil {
			return "", fmt.Errorf("write a command of the demo: %w", err)
		}
	}
	return folder, nil
}

// commands are the tasks that run them; none without a folder.
func commands(folder string) []sched.TaskSpec {
	if folder == "" {
		return nil
	}
	shell := func(name string) sched.TargetSpec {
		return sched.TargetSpec{Kind: sched.TargetShell, Command: filepath.Join(folder, name)}
	}
	return []sched.TaskSpec{
		{Code: "files.archive-statements", Name: "Archive statements 归档对账单", Owner: "platform", Tags: []string{"files"},
			Schedule: sched.ScheduleSpec{Kind: sched.KindInterval, EverySeconds: 40}, Target: shell("archive.sh"), Policy: short(again(5), 60)},
		{Code: "warehouse.print-labels", Name: "Print the labels of the day", Owner: "warehouse", Tags: []string{"warehouse"},
			Schedule: sched.ScheduleSpec{Kind: sched.KindManual}, Target: shell("labels.sh"), Policy: short(again(3), 60)},
	}
}
