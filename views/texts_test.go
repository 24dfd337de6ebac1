package views

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// notShown are files whose formats reach no page: the log of the ORM, and what
// ax verify prints.
var notShown = []string{"db/log.go", "db/audit_chain.go", "db/audit_glance.go"}

// found is a text in the source, with the place of its first use.
type found map[string]string

// texts reads every text shown to people from the source: literals given to
// a parameter named format, and structs whose first field is Format. That
// covers t, tn, msg and Translate here, the constructors of fault, and the
// notes and errors of cron. A text that is not a literal is reported as odd.
func texts(t *testing.T) (all found, odd []string) {
	t.Helper()
	s := &scan{fset: token.NewFileSet(), declared: map[string]int{}, funcs: map[string]int{}, structs: map[string]bool{}, consts: map[string]string{}, fields: map[string]bool{}, all: found{}}
	for _, root := range []string{"..", "../app", "../jobs", "../db", "../views"} {
		s.parse(t, root)
	}
	for _, f := range s.files {
		s.declarations(f)
	}
	for _, f := range s.files {
		s.uses(f)
	}
	for _, f := range s.files {
		s.tables(f)
	}
	return s.all, s.odd
}

type scan struct {
	fset     *token.FileSet
	files    []source
	declared map[string]int    // how many functions of that name
	funcs    map[string]int    // "fault.Field" or "sched.(add)": index of format
	structs  map[string]bool   // "cron.Note"
	consts   map[string]string // "sched.busy"
	fields   map[string]bool   // "cron.badValue": a text comes from this field
	all      found
	odd      []string
}

type source struct {
	path, pkg string
	*ast.File
}

// parse reads the Go files below root, for ".." only those in it.
func (s *scan) parse(t *testing.T, root string) {
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if os.IsNotExist(err) {
			return nil // the package isn't there yet
		}
		if err != nil {
			return err
		}
		if d.IsDir() {
			if root == ".." && p != root {
				return filepath.SkipDir
			}
			return nil
		}
		if filepath.Ext(p) != ".go" || strings.HasSuffix(p, "_test.go") || strings.HasPrefix(filepath.Base(p), "gallery") {
			return nil
		}
		for _, skip := range notShown {
			if strings.HasSuffix(filepath.ToSlash(p), skip) {
				return nil
			}
		}
		f, err := parser.ParseFile(s.fset, p, nil, parser.SkipObjectResolution)
		if err == nil {
			s.files = append(s.files, source{p, f.Name.Name, f})
		}
		return err
	})
	require.NoError(t, err)
}

// declarations notes the functions, structs and constants of a file.
func (s *scan) declarations(f source) {
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			name := f.pkg + "." + d.Name.Name
			if d.Recv != nil {
				name = f.pkg + ".(" + d.Name.Name + ")"
			}
			s.declared[name]++
			if i := formatParam(d.Type); i >= 0 {
				s.funcs[name] = i
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				s.spec(f.pkg, spec)
			}
		}
	}
}

func (s *scan) spec(pkg string, spec ast.Spec) {
	switch spec := spec.(type) {
	case *ast.TypeSpec:
		st, ok := spec.Type.(*ast.StructType)
		if ok && len(st.Fields.List) > 0 && len(st.Fields.List[0].Names) > 0 && st.Fields.List[0].Names[0].Name == "Format" {
			s.structs[pkg+"."+spec.Name.Name] = true
		}
	case *ast.ValueSpec:
		for i, n := range spec.Names {
			if i < len(spec.Values) {
				if text, ok := s.literal(pkg, spec.Values[i]); ok {
					s.consts[pkg+"."+n.Name] = text
				}
			}
		}
	}
}

func formatParam(fn *ast.FuncType) int {
	i := 0
	for _, field := range fn.Params.List {
		for _, n := range field.Names {
			if typ, ok := field.Type.(*ast.Ident); ok && typ.Name == "string" && n.Name == "format" {
				return i
			}
			i++
		}
	}
	return -1
}

// uses notes the texts of a file.
func (s *scan) uses(f source) {
	ast.Inspect(f.File, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			name := s.callee(f, n.Fun)
			i, ok := s.funcs[name]
			if !ok || i >= len(n.Args) {
				return true
			}
			// Two types of the package have a method of this name: without
			// types only a sentence tells which one it is.
			if text, ok := s.literal(f.pkg, n.Args[i]); s.declared[name] > 1 && (!ok || !strings.Contains(text, " ")) {
				return true
			}
			s.note(f, n.Args[i])
		case *ast.CompositeLit:
			s.composite(f, n.Type, n)
		}
		return true
	})
}

// composite notes the Format of one of the structs, also inside a slice where
// the type is left out.
func (s *scan) composite(f source, typ ast.Expr, lit *ast.CompositeLit) {
	if array, ok := typ.(*ast.ArrayType); ok {
		for _, e := range lit.Elts {
			if inner, ok := e.(*ast.CompositeLit); ok && inner.Type == nil {
				s.composite(f, array.Elt, inner)
			}
		}
		return
	}
	if typ == nil || !s.structs[typeName(f.pkg, typ)] || len(lit.Elts) == 0 {
		return
	}
	format := lit.Elts[0]
	if kv, ok := format.(*ast.KeyValueExpr); ok {
		format = kv.Value
	}
	s.note(f, format)
}

func typeName(pkg string, typ ast.Expr) string {
	switch typ := typ.(type) {
	case *ast.Ident:
		return pkg + "." + typ.Name
	case *ast.SelectorExpr:
		if x, ok := typ.X.(*ast.Ident); ok {
			return x.Name + "." + typ.Sel.Name
		}
	}
	return ""
}

// callee names the function called as funcs does.
func (s *scan) callee(f source, fun ast.Expr) string {
	switch fun := fun.(type) {
	case *ast.IndexExpr:
		return s.callee(f, fun.X)
	case *ast.Ident:
		return f.pkg + "." + fun.Name
	case *ast.SelectorExpr:
		if x, ok := fun.X.(*ast.Ident); ok {
			if _, ok := s.funcs[x.Name+"."+fun.Sel.Name]; ok {
				return x.Name + "." + fun.Sel.Name
			}
		}
		return f.pkg + ".(" + fun.Sel.Name + ")"
	}
	return ""
}

// note records a literal. What comes from a field was written into a table of
// the package: tables finds it there, or it stands in msg. A parameter named
// format was recorded at the caller.
func (s *scan) note(f source, e ast.Expr) {
	if text, ok := s.literal(f.pkg, e); ok {
		if _, known := s.all[text]; !known {
			s.all[text] = s.fset.Position(e.Pos()).String()
		}
		return
	}
	switch e := e.(type) {
	case *ast.SelectorExpr:
		s.fields[f.pkg+"."+e.Sel.Name] = true
		return
	case *ast.Ident:
		if e.Name == "format" || e.Name == "said" {
			return
		}
	}
	s.odd = append(s.odd, s.fset.Position(e.Pos()).String())
}

// tables notes the literals that fields of texts are set to.
func (s *scan) tables(f source) {
	ast.Inspect(f.File, func(n ast.Node) bool {
		kv, ok := n.(*ast.KeyValueExpr)
		if !ok {
			return true
		}
		key, ok := kv.Key.(*ast.Ident)
		if !ok || !s.fields[f.pkg+"."+key.Name] {
			return true
		}
		if _, ok := s.literal(f.pkg, kv.Value); ok {
			s.note(f, kv.Value)
		}
		return true
	})
}

func (s *scan) literal(pkg string, e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil && e.Kind == token.STRING
	case *ast.BinaryExpr:
		a, okA := s.literal(pkg, e.X)
		b, okB := s.literal(pkg, e.Y)
		return a + b, okA && okB && e.Op == token.ADD
	case *ast.Ident:
		text, ok := s.consts[pkg+"."+e.Name]
		return text, ok
	}
	return "", false
}
