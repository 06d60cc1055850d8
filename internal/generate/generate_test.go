package generate

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/schemas"
)

// notReached are options that no generated cluster has, with the reason.
var notReached = map[string]string{
	"base": "Split divides what was generated",

	"nodes.controlPlane.nodes.index":               "only workers are dedicated servers",
	"nodes.controlPlane.nodes.privateIp":           "only workers are dedicated servers",
	"nodes.controlPlane.nodepools.nodes.index":     "only workers are dedicated servers",
	"nodes.controlPlane.nodepools.nodes.privateIp": "only workers are dedicated servers",
}

// TestReachesEveryOption counts the options of cluster.yaml that a thousand seeds
// set. A new option is one that the generator does not know yet.
func TestReachesEveryOption(t *testing.T) {
	reached := map[string]int{}
	for seed := range uint64(1000) {
		r := New(Options{Seed: seed, ExampleKey: "key"})
		for _, e := range r.Environments {
			var doc yaml.Node
			if err := yaml.Unmarshal([]byte(r.Files["envs/"+e.Name+"/cluster.yaml"]), &doc); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			count(doc.Content[0], reflect.TypeFor[schemas.Cluster](), "", reached)
		}
	}
	for _, option := range options(reflect.TypeFor[schemas.Cluster](), "") {
		switch why, excepted := notReached[option]; {
		case reached[option] == 0 && !excepted:
			t.Errorf("no seed sets %s", option)
		case reached[option] > 0 && excepted:
			t.Errorf("%s is set, take it out of notReached: %s", option, why)
		}
	}
}

// fields are the options of a type: those that are inline too.
func fields(typ reflect.Type) (all []reflect.StructField) {
	for i := range typ.NumField() {
		f := typ.Field(i)
		if strings.HasSuffix(f.Tag.Get("yaml"), ",inline") {
			all = append(all, fields(f.Type)...)
		} else {
			all = append(all, f)
		}
	}
	return all
}

// below is the type whose options are below an option; nil if there are none.
func below(f reflect.StructField) reflect.Type {
	typ := f.Type
	for slices.Contains([]reflect.Kind{reflect.Pointer, reflect.Slice, reflect.Map}, typ.Kind()) {
		typ = typ.Elem()
	}
	if typ.Kind() != reflect.Struct || typ == reflect.TypeFor[yaml.Node]() {
		return nil
	}
	return typ
}

// options lists the paths of all options below a type, without indexes.
func options(typ reflect.Type, base string) (all []string) {
	for _, f := range fields(typ) {
		option := strings.TrimPrefix(base+"."+f.Tag.Get("yaml"), ".")
		all = append(all, option)
		if inner := below(f); inner != nil {
			all = append(all, options(inner, option)...)
		}
	}
	return all
}

// count counts what a part of a file sets.
func count(n *yaml.Node, typ reflect.Type, base string, reached map[string]int) {
	if n.Kind == yaml.SequenceNode {
		for _, item := range n.Content {
			count(item, typ, base, reached)
		}
		return
	}
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		for _, f := range fields(typ) {
			if f.Tag.Get("yaml") != n.Content[i].Value {
				continue
			}
			option := strings.TrimPrefix(base+"."+f.Tag.Get("yaml"), ".")
			reached[option]++
			value, inner := n.Content[i+1], below(f)
			switch {
			case inner == nil:
			case f.Type.Kind() == reflect.Map: // by names
				for j := 1; j < len(value.Content); j += 2 {
					count(value.Content[j], inner, option, reached)
				}
			default:
				count(value, inner, option, reached)
			}
		}
	}
}

// TestReaches looks for what a thousand seeds must have besides options.
func TestReaches(t *testing.T) {
	want := map[string]bool{"three environments": false, "32 characters": false, "one character": false, "unicode": false, "!replace": false, "!delete": false, "example key": false}
	for minor := 9; minor <= 14; minor++ {
		want[fmt.Sprintf("contract 1.%d", minor)] = false
	}
	for _, provider := range []string{schemas.Hetzner, schemas.Static} {
		want[provider] = false
	}
	for _, layer := range []string{"patches/common/", "patches/controlplane/", "patches/worker/", "/patches/common/", "/patches/controlplane/", "/patches/worker/", "/patches/pools/", "/patches/nodes/"} {
		want[layer] = false
	}
	name := regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,30}[a-z0-9])?$`)
	for seed := range uint64(1000) {
		r := New(Options{Seed: seed, ExampleKey: "key"})
		note := func(what string, is bool) { want[what] = want[what] || is }
		note("three environments", len(r.Environments) == 3)
		for _, e := range r.Environments {
			if !name.MatchString(e.Cluster) {
				t.Errorf("seed %d: the cluster is named %q", seed, e.Cluster)
			}
			note("32 characters", len(e.Cluster) == 32)
			note("one character", len(e.Cluster) == 1)
			note(e.Provider, true)
			note(fmt.Sprintf("contract 1.%d", e.Contract), true)
		}
		for file, text := range r.Files {
			note("unicode", strings.Contains(text, "日本語"))
			note("!replace", strings.Contains(text, "!replace"))
			note("!delete", strings.Contains(text, "!delete"))
			note("example key", file == "envs/example.agekey")
			for layer := range want {
				note(layer, strings.HasPrefix(file, layer) || strings.HasPrefix(layer, "/") && strings.Contains(file, layer))
			}
		}
	}
	for what, is := range want {
		if !is {
			t.Errorf("no seed has %s", what)
		}
	}
}

// TestSame: a seed is one repository, and another one is another.
func TestSame(t *testing.T) {
	a, b, c := New(Options{Seed: 7}), New(Options{Seed: 7}), New(Options{Seed: 8})
	if !reflect.DeepEqual(a, b) || reflect.DeepEqual(a.Files, c.Files) {
		t.Error("a seed does not decide")
	}
}

// TestWithout: what is left out changes nothing else.
func TestWithout(t *testing.T) {
	for seed := range uint64(8) {
		whole := New(Options{Seed: seed})
		for _, feature := range whole.Features {
			less := New(Options{Seed: seed, Without: map[string]bool{feature: true}})
			if slices.Contains(less.Features, feature) {
				t.Fatalf("seed %d: %s is still there", seed, feature)
			}
			if !strings.Contains(feature, ".") || strings.HasPrefix(feature, "environments") {
				continue
			}
			for n, e := range whole.Environments {
				if strings.HasPrefix(feature, fmt.Sprintf("env%d.", n)) || len(less.Environments) != len(whole.Environments) || less.Environments[n].Name != e.Name {
					continue
				}
				file := "envs/" + e.Name + "/cluster.yaml"
				if less.Files[file] != whole.Files[file] {
					t.Fatalf("seed %d: without %s, %s is another one", seed, feature, file)
				}
			}
		}
	}
}

// TestShrink finds the features that a failure needs.
func TestShrink(t *testing.T) {
	shrunk := 0
	for seed := range uint64(300) {
		fails := func(r Repository) bool {
			return slices.ContainsFunc(slices.Collect(maps.Values(r.Files)), func(text string) bool {
				return strings.Contains(text, "wireguard") && strings.Contains(text, "tunnel")
			})
		}
		if !fails(New(Options{Seed: seed})) {
			continue
		}
		if shrunk++; shrunk > 3 {
			break
		}
		small := New(Shrink(Options{Seed: seed}, 300, fails))
		if !fails(small) || len(small.Features) > 8 {
			t.Errorf("seed %d: %d features are left: %q", seed, len(small.Features), small.Features)
		}
	}
	if shrunk == 0 {
		t.Error("nothing was shrunk")
	}
}

// TestSettles: nobody who has an IPv4 address alone can apply what lets in the
// other ones alone.
func TestSettles(t *testing.T) {
	six := 0
	for seed := range uint64(1000) {
		r := New(Options{Seed: seed})
		for _, e := range r.Environments {
			text := r.Files["envs/"+e.Name+"/cluster.yaml"]
			if strings.Contains(text, "useCurrentIpv6: true") && !strings.Contains(text, "useCurrentIpv4: true") {
				if six++; e.Settles {
					t.Errorf("seed %d: %s is said to settle", seed, e.Name)
				}
			}
		}
	}
	if six == 0 {
		t.Error("no seed lets in IPv6 alone")
	}
}

// TestCilium: who has Cilium has its agent and its operator; without the operator
// nobody defines the kinds that talosgen makes objects of.
func TestCilium(t *testing.T) {
	with := 0
	for seed := range uint64(300) {
		r := New(Options{Seed: seed})
		for _, e := range r.Environments {
			if !strings.Contains(r.Files["envs/"+e.Name+"/cluster.yaml"], "type: cilium") {
				continue
			}
			with++
			var all string
			for _, place := range []string{"envs/" + e.Name + "/addons/cilium/own", "charts/" + e.Name + "/cilium"} {
				all += r.Files[place+"/objects.yaml"]
			}
			for _, workload := range []string{"kind: DaemonSet\nmetadata:\n    name: cilium\n", "kind: Deployment\nmetadata:\n    name: cilium-operator\n"} {
				if !strings.Contains(all, workload) {
					t.Errorf("seed %d: %s has Cilium without %q:\n%s", seed, e.Name, workload, all)
				}
			}
		}
	}
	if with == 0 {
		t.Error("no seed has Cilium")
	}
}
