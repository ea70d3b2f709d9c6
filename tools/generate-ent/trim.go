package main

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"golang.org/x/tools/imports"
)

// unused matches the names of methods that panic instead of returning an error, and of those
// that add hooks.
var unused = regexp.MustCompile("^((All|Bools?|Count|Exec|Exist|First|FirstID|Float64s?|Get|IDs|Ints?|Only|OnlyID|Save|Scan|Strings?)X|Use)$")

// trim removes declarations that Moderato does not use from the files of the generated
// client. The linker keeps them, because the command line calls methods by their names.
func trim(directory string) error {
	files, err := filepath.Glob(filepath.Join(directory, "*.go"))
	if err != nil {
		return err
	}
	for _, name := range files {
		source, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		trimmed, err := trimFile(name, source)
		if err != nil {
			return err
		}
		if err := os.WriteFile(name, trimmed, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func trimFile(name string, source []byte) ([]byte, error) {
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, name, source, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	var kept bytes.Buffer
	from := 0
	for _, declaration := range parsed.Decls {
		if !isUnused(declaration) {
			continue
		}
		start := declaration.Pos()
		if doc := docOf(declaration); doc != nil {
			start = doc.Pos()
		}
		kept.Write(source[from:files.Position(start).Offset])
		from = files.Position(declaration.End()).Offset
	}
	kept.Write(source[from:])
	return imports.Process(name, kept.Bytes(), nil)
}

func docOf(declaration ast.Decl) *ast.CommentGroup {
	switch d := declaration.(type) {
	case *ast.FuncDecl:
		return d.Doc
	case *ast.GenDecl:
		return d.Doc
	}
	return nil
}

// isUnused reports whether a declaration is a method that unused matches, or groups rows.
func isUnused(declaration ast.Decl) bool {
	switch d := declaration.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			return false
		}
		receiver, _ := d.Recv.List[0].Type.(*ast.StarExpr)
		if receiver == nil {
			return false
		}
		name := receiver.X.(*ast.Ident).Name
		return isGrouping(name) || unused.MatchString(d.Name.Name) ||
			strings.HasSuffix(name, "Query") && d.Name.Name == "GroupBy"
	case *ast.GenDecl:
		if d.Tok != token.TYPE || len(d.Specs) != 1 {
			return false
		}
		return isGrouping(d.Specs[0].(*ast.TypeSpec).Name.Name)
	}
	return false
}

// isGrouping reports whether a type groups rows.
func isGrouping(name string) bool { return strings.HasSuffix(name, "GroupBy") }
