package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	testNamed    = regexp.MustCompile("`(Test[A-Za-z0-9_]+)`")
	testDeclared = regexp.MustCompile(`(?m)^func (Test[A-Za-z0-9_]+)\(`)
)

// Pages that name the tests that hold them: each must be there.
func TestPagesNameTestsThatExist(t *testing.T) {
	there := map[string]bool{}
	require.NoError(t, filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range testDeclared.FindAllSubmatch(text, -1) {
			there[string(m[1])] = true
		}
		return err
	}))
	for name, least := range map[string]int{"docs/security.md": 60, "docs/http.md": 40} {
		page, err := os.ReadFile(name)
		require.NoError(t, err)
		named := testNamed.FindAllSubmatch(page, -1)
		require.Greater(t, len(named), least)
		for _, m := range named {
			require.True(t, there[string(m[1])], "%s names %s, which is not there", name, m[1])
		}
	}
}
