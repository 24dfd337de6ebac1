package fail_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"ax/app/fail"
)

// The list is what a bench walks: a name without a place would be a crash
// that never happens, a place without a name one that can't be asked for.
func TestEachNameStandsAtExactlyOnePlace(t *testing.T) {
	places := map[string][]string{}
	require.NoError(t, filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			if name := d.Name(); len(name) > 2 && strings.HasPrefix(name, ".") || name == "node_modules" {
				return filepath.SkipDir
			}
			return nil
		case filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		return addPlaces(t, places, path)
	}))
	for _, name := range fail.Names() {
		require.Len(t, places[name], 1, "%s stands at %v", name, places[name])
	}
	require.ElementsMatch(t, fail.Names(), slices.Collect(maps.Keys(places)))
}

// addPlaces notes the calls of fail.At in a file by their names.
func addPlaces(t *testing.T, places map[string][]string, path string) error {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
	if err != nil || !slices.ContainsFunc(file.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"ax/app/fail"` }) {
		return err
	}
	called := map[ast.Expr]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if !isAt(n.Fun) {
				return true
			}
			called[n.Fun] = true
			name := ""
			if text, ok := n.Args[0].(*ast.BasicLit); ok {
				name, _ = strconv.Unquote(text.Value)
			}
			require.NotEmpty(t, name, "%s: the name must be a literal", set.Position(n.Pos()))
			places[name] = append(places[name], set.Position(n.Pos()).String())
		case *ast.SelectorExpr:
			require.True(t, called[n] || !isAt(n), "%s: as a value, At would stay in a release", set.Position(n.Pos()))
		}
		return true
	})
	return nil
}

func isAt(e ast.Expr) bool {
	s, ok := e.(*ast.SelectorExpr)
	if !ok || s.Sel.Name != "At" {
		return false
	}
	x, ok := s.X.(*ast.Ident)
	return ok && x.Name == "fail"
}

// A place that nothing ever passes under a test or an attack is one whose
// comment nobody has checked.
func TestEachNameIsTriedSomewhere(t *testing.T) {
	var tried strings.Builder
	for _, pattern := range []string{"../../*_test.go", "../../db/*_test.go", "../../jobs/*_test.go", "../../app/*/*_test.go", "../../bench/faults/*.go"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		require.NotEmpty(t, files, pattern)
		for _, file := range files {
			if strings.HasSuffix(filepath.Dir(file), "app/fail") {
				continue
			}
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			tried.Write(text)
		}
	}
	all := tried.String()
	for _, name := range fail.Names() {
		require.True(t, slices.ContainsFunc([]string{`"`, `:`, `,`, `=`}, func(after string) bool {
			return strings.Contains(all, `"`+name+after) || strings.Contains(all, `=`+name+after)
		}), name)
	}
}
