package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// message is a text for people, and where it stands.
type message struct{ at, text string }

// unknownPart stands for what a text has from a variable.
const unknownPart = "X"

// sourceMessages are the literals of the program's source. What is written in
// parts is one text.
func sourceMessages(t *testing.T) (all []message) {
	t.Helper()
	set := token.NewFileSet()
	walk(t, func(name string) bool {
		return strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") && !strings.HasPrefix(name, "testenv/") && !strings.HasPrefix(name, "internal/generate/")
	}, func(name string, data []byte) {
		file, err := parser.ParseFile(set, name, data, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch e := n.(type) {
			case *ast.ImportSpec:
				return false
			case *ast.Field:
				return e.Tag == nil
			case *ast.BinaryExpr, *ast.BasicLit:
				text, isText := literal(e.(ast.Expr))
				if isText && !argument.MatchString(text) {
					all = append(all, message{set.Position(e.Pos()).String(), text})
				}
				return !isText
			}
			return true
		})
	})
	return all
}

// argument is a text that a program is started with, which is for nobody to read.
var argument = regexp.MustCompile(`^--[^\s]+$`)

// verb is a place of a format, which is filled in.
var verb = regexp.MustCompile(`%[-+# 0-9.*]*[a-zA-Z]`)

// literal is the text of an expression of strings, if one of them is written
// there.
func literal(e ast.Expr) (text string, isText bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind != token.STRING {
			return "", false
		}
		text, err := strconv.Unquote(e.Value)
		return verb.ReplaceAllString(text, unknownPart), err == nil
	case *ast.BinaryExpr:
		left, is := literal(e.X)
		right, also := literal(e.Y)
		return left + right, e.Op == token.ADD && (is || also)
	case *ast.ParenExpr:
		return literal(e.X)
	}
	return unknownPart, false
}

// scriptMessages are what scripts expect talosgen to print.
func scriptMessages(t *testing.T) (all []message) {
	t.Helper()
	expected := regexp.MustCompile(`(?m)^!? ?std(?:out|err) '(.*)'$`)
	walk(t, func(name string) bool {
		return strings.HasPrefix(name, "testdata/script/") && !strings.HasPrefix(name, "testdata/script/completion-") // half words
	}, func(name string, data []byte) {
		script, files, _ := strings.Cut(string(data), "\n-- want")
		for _, m := range expected.FindAllStringSubmatch(script, -1) {
			if !strings.HasPrefix(m[0], "!") {
				all = append(all, message{name, strings.NewReplacer(`\d+`, "1", `\`, "", "''", "'", "^", "", "$", "").Replace(m[1])})
			}
		}
		for _, line := range strings.Split(files, "\n") {
			all = append(all, message{name, line})
		}
	})
	return all
}

// scaffoldMessages are the lines of the files that a new repository has.
func scaffoldMessages(t *testing.T) (all []message) {
	t.Helper()
	walk(t, func(name string) bool { return strings.HasPrefix(name, "internal/scaffold/files/") }, func(name string, data []byte) {
		for _, line := range strings.Split(string(data), "\n") {
			if code, _, _ := strings.Cut(line, " #"); strings.Contains(code, "talosgen ") {
				all = append(all, message{name, strings.ReplaceAll(code, "@ENV@", unknownPart)})
			}
		}
	})
	return all
}

// walk reads the files of this repository whose names, from its root, are wanted.
func walk(t *testing.T, wanted func(name string) bool, read func(name string, data []byte)) {
	t.Helper()
	err := filepath.WalkDir(repository, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(repository, path)
		if err != nil || d.IsDir() && d.Name() == ".git" {
			return fs.SkipDir
		}
		if name := filepath.ToSlash(rel); d.Type().IsRegular() && wanted(name) {
			data, err := os.ReadFile(path)
			read(name, data)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
