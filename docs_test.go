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

// The page of security names the tests that hold it: each must be there.
func TestThePageOfSecurityNamesTestsThatExist(t *testing.T) {
	page, err := os.ReadFile("docs/security.md")
	require.NoError(t, err)
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
	named := testNamed.FindAllSubmatch(page, -1)
	require.Greater(t, len(named), 60)
	for _, m := range named {
		require.True(t, there[string(m[1])], "%s is named and not there", m[1])
	}
}
