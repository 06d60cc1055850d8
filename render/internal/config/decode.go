package config

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render/internal/nodefile"
	"github.com/talosgen/talosgen/schemas"
)

// maxAliases bounds what a small file with nested aliases can grow to.
const maxAliases = 1000

// decoder fills the types of package schemas from a YAML tree. A value with a
// problem stays zero, but its position is known, so that later checks can tell
// it from one that is not set.
type decoder struct {
	file     string
	problems *diag.List
	pos      map[string]diag.Pos
	skip     map[*yaml.Node]bool // scalars whose problem is reported already
	aliases  int
}

// refuseSecrets reports every scalar that a secret went into.
func (d *decoder) refuseSecrets(secret map[*yaml.Node]bool) {
	for n := range secret {
		if d.skip[n] {
			continue
		}
		d.skip[n] = true
		d.problems.Add(diag.New(d.at(n), "a secret variable in cluster.yaml").
			WithHint("what stands here ends up in names and in readable files; use the variable in a patch"))
	}
}

func (d *decoder) at(n *yaml.Node) diag.Pos {
	return nodefile.Pos(n, d.file)
}

func (d *decoder) fail(n *yaml.Node, hint, message string, args ...any) {
	d.problems.Add(diag.New(d.at(n), message, args...).WithHint("%s", hint))
}

// decode fills the struct that out points to.
func (d *decoder) decode(root *yaml.Node, out any) {
	d.pos[join(nil)] = d.at(root)
	d.object(root, root, reflect.ValueOf(out).Elem(), nil)
}

// target follows an alias.
func (d *decoder) target(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		d.aliases++
		if d.aliases > maxAliases {
			// As good as absent; reported once.
			if d.aliases == maxAliases+1 {
				d.fail(n, "", "more than %d aliases", maxAliases)
			}
			return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Line: n.Line, Column: n.Column}
		}
		n = n.Alias
	}
	return n
}

// object reads a mapping into a struct. Problems of the whole are placed at
// its key.
func (d *decoder) object(key, n *yaml.Node, out reflect.Value, path []string) {
	if d.skip[n] {
		return
	}
	if n.Kind != yaml.MappingNode {
		d.fail(n, "its keys: "+strings.Join(keysOf(out.Type()), ", "), "%s must be a mapping, not %s", display(path), kindOf(n))
		return
	}
	seen := map[string]*yaml.Node{}
	var meant []string // keys that are there in another spelling
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		if !d.isKey(k, seen) {
			continue
		}
		field, ok := fieldOf(out.Type(), k.Value)
		if !ok {
			d.fail(k, keyHint(k.Value, out.Type()), "unknown key %q%s", k.Value, in(path))
			meant = append(meant, diag.Nearest(k.Value, keysOf(out.Type())))
			continue
		}
		d.field(k, d.target(n.Content[i+1]), field, out.FieldByIndex(field.Index), sub(path, k.Value))
	}
	d.absent(key, out, path, meant)
}

// isKey tells whether a key can be read, and notes it in seen.
func (d *decoder) isKey(k *yaml.Node, seen map[string]*yaml.Node) bool {
	switch {
	case d.skip[k]:
		return false
	case k.Kind == yaml.ScalarNode && k.ShortTag() == "!!merge":
		d.fail(k, "repeat the keys, or use an alias for a whole value", "merge keys are not supported")
		return false
	case k.Kind != yaml.ScalarNode:
		d.fail(k, "", "a key must be a text, not %s", kindOf(k))
		return false
	case seen[k.Value] != nil:
		d.fail(k, "the first one is on line "+strconv.Itoa(seen[k.Value].Line), "duplicate key %q", k.Value)
		return false
	}
	seen[k.Value] = k
	return true
}

// absent fills in defaults, and reports required keys that the file lacks. One
// that is there in another spelling is reported as that alone.
func (d *decoder) absent(key *yaml.Node, out reflect.Value, path, meant []string) {
	for _, f := range fieldsOf(out.Type()) {
		name := f.Tag.Get("yaml")
		if _, ok := d.pos[join(sub(path, name))]; ok {
			continue
		}
		setDefault(f, out.FieldByIndex(f.Index))
		if f.Tag.Get("required") == "true" && !slices.Contains(meant, name) {
			d.fail(key, requiredHint(f), "%s is required", display(sub(path, name)))
		}
	}
}

// setDefault fills in the default of a key, or those below it.
func setDefault(f reflect.StructField, out reflect.Value) {
	if text, ok := schemas.Tag(f.Tag, "default"); ok {
		setText(text, out)
	}
	if out.Kind() == reflect.Struct {
		for _, inner := range fieldsOf(out.Type()) {
			setDefault(inner, out.FieldByIndex(inner.Index))
		}
	}
}

// setText sets a value to what a tag says. The tests hold tags to their types.
func setText(text string, out reflect.Value) {
	switch out.Kind() {
	case reflect.String:
		out.SetString(text)
	case reflect.Bool:
		out.SetBool(text == "true")
	case reflect.Int:
		n, _ := strconv.Atoi(text)
		out.SetInt(int64(n))
	default:
		var doc yaml.Node
		if err := yaml.Unmarshal([]byte(text), &doc); err == nil {
			_ = doc.Decode(out.Addr().Interface())
		}
	}
}

// field reads the value of a key. A null counts as absent.
func (d *decoder) field(k, n *yaml.Node, f reflect.StructField, out reflect.Value, path []string) {
	if isNull(n) {
		return
	}
	d.pos[join(path)] = d.at(n)
	if d.skip[n] {
		return
	}
	if n.Kind != yaml.ScalarNode {
		d.pos[join(path)] = d.at(k)
	}
	switch out.Kind() {
	case reflect.Struct:
		d.object(k, n, out, path)
	case reflect.Slice:
		d.list(n, f, out, path)
	case reflect.Map:
		d.mapping(n, f, out, path)
	case reflect.Pointer:
		if out.Type() == reflect.TypeFor[*yaml.Node]() {
			d.tree(n, f, out, path)
			return
		}
		v := reflect.New(out.Type().Elem())
		if d.scalar(n, f, v.Elem(), path) {
			out.Set(v)
		}
	default:
		d.scalar(n, f, out, path)
	}
}

// list reads a list of scalars or of structs. An item with a problem keeps its
// place.
func (d *decoder) list(n *yaml.Node, f reflect.StructField, out reflect.Value, path []string) {
	if n.Kind != yaml.SequenceNode {
		d.fail(n, exampleHint(f), "%s must be a list, not %s", display(path), kindOf(n))
		return
	}
	if len(n.Content) == 0 && f.Tag.Get("required") == "true" {
		d.fail(n, exampleHint(f), "%s is empty", display(path))
	}
	items := reflect.MakeSlice(out.Type(), len(n.Content), len(n.Content))
	for i, item := range n.Content {
		item = d.target(item)
		itemPath := sub(path, strconv.Itoa(i))
		if isNull(item) {
			d.fail(item, "", "%s is empty", display(itemPath))
			continue
		}
		d.pos[join(itemPath)] = d.at(item)
		if items.Index(i).Kind() == reflect.Struct {
			d.object(item, item, items.Index(i), itemPath)
		} else {
			d.scalar(item, f, items.Index(i), itemPath)
		}
	}
	out.Set(items)
}

// mapping reads a mapping from text to text, or to structs.
func (d *decoder) mapping(n *yaml.Node, f reflect.StructField, out reflect.Value, path []string) {
	if n.Kind != yaml.MappingNode {
		d.fail(n, exampleHint(f), "%s must be a mapping, not %s", display(path), kindOf(n))
		return
	}
	seen := map[string]*yaml.Node{}
	values := reflect.MakeMapWithSize(out.Type(), len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, value := n.Content[i], d.target(n.Content[i+1])
		if !d.isKey(k, seen) {
			continue
		}
		keyPath := sub(path, k.Value)
		d.pos[join(keyPath)] = d.at(value)
		if _, complaint := checkFormat(f.Tag.Get("keyFormat"), k.Value); complaint != "" {
			d.fail(k, "", "the key %q in %s %s", k.Value, display(path), complaint)
			continue
		}
		if isNull(value) {
			d.fail(value, `write "" for an empty text`, "%s is empty", display(keyPath))
			continue
		}
		item := reflect.New(out.Type().Elem()).Elem()
		if item.Kind() == reflect.Struct {
			d.pos[join(keyPath)] = d.at(k)
			d.object(k, value, item, keyPath)
			values.SetMapIndex(reflect.ValueOf(k.Value), item)
		} else if d.scalar(value, f, item, keyPath) {
			values.SetMapIndex(reflect.ValueOf(k.Value), item)
		}
	}
	out.Set(values)
}

// sub is path with one more element, in memory of its own.
func sub(path []string, element string) []string {
	return append(slices.Clip(path), element)
}
