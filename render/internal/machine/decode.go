package machine

import (
	"errors"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"github.com/siderolabs/talos/pkg/machinery/config/config"
	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render/internal/nodefile"
)

// decodeNode decodes a parsed document into the library's type, as strictly as
// Talos' loader: unknown keys and null entries of lists are problems.
func decodeNode(file string, id ID, node *yaml.Node) (doc config.Document, err error) {
	// The library relies on its decoder not to panic on any input; so do we.
	defer func() {
		if p := recover(); p != nil {
			err = diag.New(nodePos(file, node), "%s cannot be decoded", id)
		}
	}()
	doc, err = newTyped(id)
	if err != nil {
		return nil, err
	}
	// The library compares each key with each other one of its mapping: it is asked
	// to only where keys are more than texts.
	plain := plainKeys(node)
	if plain {
		if err := repeatedKeys(file, node); err != nil {
			return nil, err
		}
	}
	if err := node.Load(doc, yaml.WithUniqueKeys(!plain)); err != nil {
		return nil, decodeProblem(file, node, err)
	}
	if err := checkKeys(file, id, reflect.TypeOf(doc), node); err != nil {
		return nil, err
	}
	return doc, nil
}

func nodePos(file string, n *yaml.Node) diag.Pos {
	return nodefile.Pos(n, file)
}

// cannotConstruct matches what the decoder says of a value of the wrong type;
// the value itself is left out of what talosgen says.
var cannotConstruct = regexp.MustCompile("cannot (?:construct|unmarshal) (!![a-z]+)(?: `.*`)? into (\\S+)")

// yamlTypes are the words for YAML's types.
var yamlTypes = map[string]string{
	"!!str": "a string", "!!int": "a number", "!!float": "a number", "!!bool": "true or false",
	"!!map": "a mapping", "!!seq": "a list", "!!null": "nothing",
}

// decodeProblem turns an error of decoding a document into problems at their
// places.
func decodeProblem(file string, root *yaml.Node, err error) error {
	var all *yaml.LoadErrors
	if !errors.As(err, &all) {
		return oneDecodeProblem(nodePos(file, root), err.Error())
	}
	var problems diag.List
	for _, e := range all.Errors {
		pos := nodePos(file, root)
		if e.Mark.Line > 0 {
			pos.Line, pos.Column = e.Mark.Line, e.Mark.Column
		}
		problems.Add(oneDecodeProblem(pos, e.Message))
	}
	return problems.Err()
}

var atLine = regexp.MustCompile(`\(?(?:at )?line (\d+)\)?:? ?`)

func oneDecodeProblem(pos diag.Pos, message string) *diag.Problem {
	if m := atLine.FindStringSubmatch(message); m != nil {
		if line, err := strconv.Atoi(m[1]); err == nil && line > pos.Line {
			pos.Line, pos.Column = line, 0
		}
	}
	if m := cannotConstruct.FindStringSubmatch(message); m != nil {
		what := yamlTypes[m[1]]
		if what == "" {
			what = m[1]
		}
		return diag.New(pos, "%s where %s is expected", what, goTypeName(m[2]))
	}
	return diag.New(pos, "%s", strings.TrimSpace(message)).WithCause(errForeign)
}

// goTypeName makes a word for people of a type of the library.
func goTypeName(t string) string {
	t = strings.TrimLeft(t, "*")
	switch {
	case strings.HasPrefix(t, "[]"):
		return "a list"
	case strings.HasPrefix(t, "map["):
		return "a mapping"
	case strings.HasPrefix(t, "int"), strings.HasPrefix(t, "uint"), strings.HasPrefix(t, "float"):
		return "a number"
	case t == "string":
		return "a string"
	case t == "bool":
		return "true or false"
	}
	return t[strings.LastIndexByte(t, '.')+1:]
}

func keyNode(mapping *yaml.Node, key string) *yaml.Node {
	for i := 0; mapping != nil && mapping.Kind == yaml.MappingNode && i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			return mapping.Content[i]
		}
	}
	return nil
}

// sameNode compares values regardless of style and place.
func sameNode(a, b *yaml.Node) bool {
	if a.Kind != b.Kind || len(a.Content) != len(b.Content) || (a.Kind == yaml.ScalarNode && a.Value != b.Value) {
		return false
	}
	for i := range a.Content {
		if !sameNode(a.Content[i], b.Content[i]) {
			return false
		}
	}
	return true
}

// errForeign marks problems with a message of the library's, which may quote
// values. Other messages are put together here, of words and keys.
var errForeign = errors.New("a message of the library")

// masked replaces what an error says if it may repeat a secret.
func (l *patchLoader) masked(err error, secretUsed bool) error {
	if l.src.Encrypted == nil && !secretUsed {
		return err
	}
	var problems diag.List
	problems.AddErr(err)
	for i, p := range problems {
		if errors.Is(p.Err, errForeign) {
			masked := *p
			masked.Message = "a value that Talos does not accept (not shown: secrets are in this document)"
			problems[i] = &masked
		}
	}
	return problems.Err()
}
