package views

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// action is how actions are named: the kind of object, then what was done.
// Kinds that are new are found by the field Action of an entry, too.
var action = regexp.MustCompile(`^(access|calendar|instance|letter|rule|subscription|silence|session|setup|task|team|token|user|secret|invitation|channel|allow|second_step|oidc|queue|node|incident|delivery)\.[a-z_]+$`)

// noActions are literals of that form that name something else.
var noActions = map[string]bool{
	"secret.key": true, // a file
	// Events that webhooks are told of.
	"instance.finished": true, "letter.opened": true, "letter.solved": true, "incident.opened": true, "incident.closed": true,
}

// writtenActions are the actions that the code writes into the audit.
func writtenActions(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, root := range []string{"../app/access", "../app/sched", "../app/calendar", "../app/alert", "../db"} {
		err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			name := filepath.Base(p)
			if filepath.Ext(p) != ".go" || strings.HasSuffix(name, "_test.go") || name == "permissions.go" || strings.Contains(p, "dbtest") {
				return nil
			}
			f, err := parser.ParseFile(token.NewFileSet(), p, nil, parser.SkipObjectResolution)
			if err == nil {
				actionsOf(f, p, found)
			}
			return err
		})
		require.NoError(t, err)
	}
	return found
}

// actionsOf notes the actions of a file: what stands in the field Action, and
// every literal that is named like one, but for failpoints.
func actionsOf(f *ast.File, path string, found map[string]string) {
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if sel, ok := n.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "At" {
				return false
			}
		case *ast.KeyValueExpr:
			if key, ok := n.Key.(*ast.Ident); ok && key.Name == "Action" {
				if text, ok := literalOf(n.Value); ok && text != "" {
					found[text] = path
				}
			}
		case *ast.BasicLit:
			if text, ok := literalOf(n); ok && action.MatchString(text) && !noActions[text] {
				found[text] = path
			}
		}
		return true
	})
}

func literalOf(e ast.Expr) (string, bool) {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(lit.Value)
	return text, err == nil
}

// That each word has its 中文 is the catalogue's test.
func TestEachActionOfTheAuditHasPlainWords(t *testing.T) {
	written := writtenActions(t)
	written["access.refuse"] = "../app/access/refusals.go" // put together there
	require.Greater(t, len(written), 25, "the scan sees the code")
	for name, path := range written {
		require.Contains(t, auditWords, name, "%s writes it into the audit: put its words into auditWords", path)
	}
	for name := range auditWords {
		require.Contains(t, written, name, "nothing writes it any more")
	}
}
