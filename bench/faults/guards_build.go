package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// changed gives the sources that the edits touch, by file, as they are after
// all of them. Each place must be there exactly once: a place that moved is an
// error, not a guard that stays in.
func changed(root string, edits []edit) (map[string]string, error) {
	out := map[string]string{}
	for _, e := range edits {
		text, ok := out[e.file]
		if !ok {
			raw, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(e.file)))
			if err != nil {
				return nil, err
			}
			text = string(raw)
		}
		if n := strings.Count(text, e.old); n != 1 {
			return nil, fmt.Errorf("%s has %d places instead of one that read\n%s", e.file, n, e.old)
		}
		out[e.file] = strings.Replace(text, e.old, e.new, 1)
	}
	return out, nil
}

// buildWithout builds ax from the sources at root with the edits laid over
// them. Nothing at root is touched.
func buildWithout(ctx context.Context, root, dir string, edits []edit) (string, error) {
	files, err := changed(root, edits)
	if err != nil {
		return "", err
	}
	var overlay struct{ Replace map[string]string }
	overlay.Replace = map[string]string{}
	for name, text := range files {
		copied := filepath.Join(dir, strconv.Itoa(len(overlay.Replace))+".go")
		if err := os.WriteFile(copied, []byte(text), 0o600); err != nil {
			return "", err
		}
		overlay.Replace[filepath.Join(root, filepath.FromSlash(name))] = copied
	}
	raw, err := json.Marshal(overlay)
	if err != nil {
		return "", err
	}
	list := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(list, raw, 0o600); err != nil {
		return "", err
	}
	ax := filepath.Join(dir, "ax")
	return ax, buildAx(ctx, root, ax, "-tags", "failpoint", "-ldflags", "-s -w", "-overlay", list)
}
