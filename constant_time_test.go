package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// secretName is the name of a value whose comparison must not tell how much of
// it was right.
var secretName = regexp.MustCompile(`(?i)(secret|digest|signature|mac|verifier|nonce|receipttoken|statehash|codehash)$`)

// Security 43: nothing compares secrets with == or !=, which stop at the first
// byte that differs. Whether one is there at all may be asked.
func TestSecretsAreComparedInConstantTime(t *testing.T) {
	var found []string
	fset := token.NewFileSet()
	for _, dir := range []string{"app", "jobs", "db"} {
		require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() && d.Name() == "issuertest" {
				return fs.SkipDir // what a test signs in at
			}
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(fset, path, nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if e, ok := n.(*ast.BinaryExpr); ok && comparesSecret(e) {
					found = append(found, fset.Position(e.Pos()).String())
				}
				return true
			})
			return nil
		}))
	}
	require.Empty(t, found)
	e, err := parser.ParseExpr(`stored.Digest == typed`)
	require.NoError(t, err)
	require.True(t, comparesSecret(e.(*ast.BinaryExpr)), "the test sees one")
}

func comparesSecret(e *ast.BinaryExpr) bool {
	if e.Op != token.EQL && e.Op != token.NEQ {
		return false
	}
	for _, x := range []ast.Expr{e.X, e.Y} { // "" and nil ask whether there is one
		if lit, ok := x.(*ast.BasicLit); ok && lit.Value == `""` || lastName(x) == "nil" {
			return false
		}
	}
	return secretName.MatchString(lastName(e.X)) || secretName.MatchString(lastName(e.Y))
}

// lastName is the name of a variable or of a field, "" for anything else.
func lastName(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.SelectorExpr:
		return x.Sel.Name
	}
	return ""
}
