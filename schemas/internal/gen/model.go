package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// model is the struct types of Go files, by name.
type model map[string]*object

// object is a mapping in YAML.
type object struct {
	name   string
	doc    string
	fields []field
}

// field is a key of an object.
type field struct {
	key  string
	doc  string
	typ  fieldType
	tags reflect.StructTag
}

// fieldType is the type of a value: a scalar (string, int, bool), an object, a
// tree of anything, or a list of one or mapping from text to one.
type fieldType struct {
	scalar   string
	object   string
	tree     bool
	list     bool
	mapping  bool
	embedded bool
}

func loadModel(files []string) (model, error) {
	m := model{}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		for _, decl := range parsed.Decls {
			if gen, ok := decl.(*ast.GenDecl); ok && gen.Tok == token.TYPE {
				if err := m.readTypes(gen); err != nil {
					return nil, err
				}
			}
		}
	}
	return m, nil
}

func (m model) readTypes(gen *ast.GenDecl) error {
	for _, spec := range gen.Specs {
		t := spec.(*ast.TypeSpec)
		st, ok := t.Type.(*ast.StructType)
		if !ok {
			return fmt.Errorf("type %s is not a struct", t.Name)
		}
		o, err := readObject(t.Name.Name, gen.Doc, st)
		if err != nil {
			return fmt.Errorf("type %s: %w", t.Name, err)
		}
		m[o.name] = o
	}
	return nil
}

func readObject(name string, doc *ast.CommentGroup, st *ast.StructType) (*object, error) {
	o := &object{name: name, doc: text(doc)}
	for _, f := range st.Fields.List {
		typ, err := readType(f.Type)
		if err != nil {
			return nil, err
		}
		typ.embedded = len(f.Names) == 0
		out := field{doc: text(f.Doc), typ: typ}
		if f.Tag != nil {
			raw, err := strconv.Unquote(f.Tag.Value)
			if err != nil {
				return nil, err
			}
			out.tags = reflect.StructTag(raw)
			out.key = out.tags.Get("yaml")
		}
		if !typ.embedded && (out.key == "" || out.doc == "") {
			return nil, fmt.Errorf("field %s has no key or no comment", f.Names[0])
		}
		o.fields = append(o.fields, out)
	}
	return o, nil
}

func readType(e ast.Expr) (fieldType, error) {
	switch e := e.(type) {
	case *ast.Ident:
		switch e.Name {
		case "string", "int", "bool":
			return fieldType{scalar: e.Name}, nil
		}
		return fieldType{object: e.Name}, nil
	case *ast.StarExpr:
		return readType(e.X)
	case *ast.SelectorExpr:
		if x, ok := e.X.(*ast.Ident); ok && x.Name == "yaml" && e.Sel.Name == "Node" {
			return fieldType{tree: true}, nil
		}
	case *ast.ArrayType:
		t, err := readType(e.Elt)
		t.list = true
		return t, err
	case *ast.MapType:
		t, err := readType(e.Value)
		t.mapping = true
		return t, err
	}
	return fieldType{}, fmt.Errorf("a type that has no form in YAML: %T", e)
}

// text is a comment on one line.
func text(doc *ast.CommentGroup) string {
	return strings.Join(strings.Fields(doc.Text()), " ")
}

// flat returns the fields of an object, with those of embedded ones in place.
func (m model) flat(name string) ([]field, error) {
	o, ok := m[name]
	if !ok {
		return nil, fmt.Errorf("unknown type %s", name)
	}
	var fields []field
	for _, f := range o.fields {
		if !f.typ.embedded {
			fields = append(fields, f)
			continue
		}
		inner, err := m.flat(f.typ.object)
		if err != nil {
			return nil, err
		}
		fields = append(fields, inner...)
	}
	return fields, nil
}

// has tells whether an object has an option: the keys that lead to it, with
// dots between them.
func (m model) has(object, option string) bool {
	for key := range strings.SplitSeq(option, ".") {
		fields, err := m.flat(object)
		i := slices.IndexFunc(fields, func(f field) bool { return f.key == key })
		if err != nil || i < 0 {
			return false
		}
		object = fields[i].typ.object
	}
	return true
}
