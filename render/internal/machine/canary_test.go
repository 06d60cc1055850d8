package machine

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/render/internal/subst"
)

// canary is a secret too short to be known again anywhere but in its place.
const canary = "zq7"

// leafPlace is a place in a kind of document that takes a text, as the YAML
// around it.
type leafPlace struct {
	path string
	wrap func(*yaml.Node) *yaml.Node
}

// leafPlaces walks a type for the places that may take a single value.
func leafPlaces(t reflect.Type, path string, wrap func(*yaml.Node) *yaml.Node, open []reflect.Type) []leafPlace {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	here := []leafPlace{{path, wrap}}
	switch {
	case reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()), slices.Contains(open, t):
		return here
	case t.Kind() == reflect.Slice:
		return append(here, leafPlaces(t.Elem(), path+"[]", func(n *yaml.Node) *yaml.Node {
			return wrap(&yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{n}})
		}, open)...)
	case t.Kind() == reflect.Map:
		return append(here, leafPlaces(t.Elem(), path+".k", inMapping("k", wrap), open)...)
	case t.Kind() == reflect.Struct:
		fields := fieldsOf(t)
		for _, key := range sortedKeys(fields) {
			here = append(here, leafPlaces(fields[key].Type, path+"."+key, inMapping(key, wrap), append(open, t))...)
		}
		if freeForm(t) != nil {
			here = append(here, leafPlace{path + ".x.y[]", func(n *yaml.Node) *yaml.Node {
				list := &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{n}}
				return inMapping("x", inMapping("y", wrap))(list)
			}})
		}
	}
	return here
}

func inMapping(key string, wrap func(*yaml.Node) *yaml.Node) func(*yaml.Node) *yaml.Node {
	return func(n *yaml.Node) *yaml.Node {
		return wrap(&yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{{Kind: yaml.ScalarNode, Value: key}, n}})
	}
}

// documentWith puts a node into a document of a kind.
func documentWith(id ID, t reflect.Type, body *yaml.Node) *yaml.Node {
	root := &yaml.Node{Kind: yaml.MappingNode}
	put := func(key, value string) {
		root.Content = append(root.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: key}, &yaml.Node{Kind: yaml.ScalarNode, Value: value})
	}
	if !id.IsMain() {
		put("apiVersion", id.APIVersion)
		put("kind", id.Kind)
	}
	if _, named := fieldsOf(t)["name"]; named && body.Content[0].Value != "name" {
		put("name", "n")
	}
	root.Content = append(root.Content, body.Content...)
	return root
}

// TestCanaries puts a secret into every place of every kind of document that
// takes one, in several spellings, by a variable and by encryption, alone and
// over another layer: no leaf that shows it is readable.
func TestCanaries(t *testing.T) {
	spellings := []string{canary, "https://u:" + canary + "@h.example.org/a b", canary + ".example.org", canary + "0000=", "2001:DB8::" + "0c4a"}
	places, shown := 0, 0
	for id, doc := range everyKind(t) {
		self := func(n *yaml.Node) *yaml.Node { return n }
		for _, place := range leafPlaces(reflectType(doc), "", self, nil)[1:] {
			if place.path == ".kind" || place.path == ".apiVersion" {
				continue
			}
			places++
			for _, spelling := range spellings {
				n := canaryShown(t, id, reflectType(doc), place, spelling)
				if shown += n; n > 0 {
					break
				}
			}
		}
	}
	if places < 900 || shown < 900 {
		t.Errorf("%d places, %d leaves with the canary: too few to mean something", places, shown)
	}
}

// canaryShown loads a patch with a secret spelling in a place; it returns the
// number of leaves that show it, and fails the test if one is readable.
func canaryShown(t *testing.T, id ID, typ reflect.Type, place leafPlace, spelling string) int {
	t.Helper()
	encode := func(value string) []byte {
		leaf := &yaml.Node{Kind: yaml.ScalarNode, Value: value, Style: yaml.DoubleQuotedStyle}
		text, err := yaml.Marshal(documentWith(id, typ, place.wrap(leaf)))
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	scope := &subst.Scope{Vars: subst.Vars{"S": {Value: spelling, Secret: true}}}
	byVariable, err := LoadPatch(Source{File: "p.yaml", Data: encode("${S}")}, LoadOptions{Scope: scope})
	if err != nil {
		if strings.Contains(err.Error(), spelling) {
			t.Errorf("%s%s: the error shows the secret: %v", id, place.path, err)
		}
		return 0
	}
	encrypted, err := LoadPatch(Source{File: "p.sops.yaml", Data: encode(spelling), Encrypted: encode("ENC[x]")}, LoadOptions{})
	if err != nil {
		t.Errorf("%s%s: %v", id, place.path, err)
		return 0
	}
	shown := 0
	for name, patches := range map[string][]*Patch{"variable": {byVariable}, "encrypted": {encrypted}, "two layers": {encrypted, byVariable}} {
		cfg, _, err := new(Config).Apply(patches)
		if err != nil {
			if strings.Contains(err.Error(), spelling) {
				t.Errorf("%s%s: %s: the error shows the secret: %v", id, place.path, name, err)
			}
			continue
		}
		for _, readable := range readableWith(t, cfg, spelling, &shown) {
			t.Errorf("%s%s: %s: %s", id, place.path, name, readable)
		}
	}
	return shown
}

// readableWith lists leaves that show a spelling of the secret, and are not
// secret. Talos may print it in another form: only its middle is looked for.
func readableWith(t *testing.T, cfg *Config, spelling string, shown *int) []string {
	t.Helper()
	needle := canary
	if !strings.Contains(spelling, canary) {
		needle = "c4a"
	}
	var found []string
	for _, l := range everyLeaf(t, cfg) {
		if !strings.Contains(strings.ToLower(l.Value), needle) {
			continue
		}
		*shown++
		if !l.secret {
			found = append(found, fmt.Sprintf("%s is readable: %s", l.Path, l.Value))
		}
	}
	return found
}
