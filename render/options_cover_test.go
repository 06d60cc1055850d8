package render_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/schemas"
	"github.com/talosgen/talosgen/testenv/toolenv"
)

// notInCases are the options that change nothing that is rendered by their
// value, with the test that shows what they do instead.
var notInCases = map[string]string{
	"base":                                    "TestGeneratedBase, TestScripts/base",
	"addons.makes":                            "TestScripts/check-ignore",
	"check.ignore.object":                     "TestScripts/check-ignore",
	"check.ignore.field":                      "TestScripts/check-ignore",
	"check.ignore.reason":                     "TestScripts/check-ignore",
	"apiVersion":                              "has one value so far",
	"gitops.engine":                           "TestGitOps",
	"gitops.repository":                       "TestGitOps",
	"gitops.branch":                           "TestGitOps",
	"gitops.path":                             "TestGitOps",
	"gitops.auth":                             "TestGitOps",
	"gitops.user":                             "TestGitOps",
	"gitops.knownHosts":                       "TestGitOps",
	"gitops.verifyKeys":                       "TestGitOps",
	"gitops.interval":                         "TestGitOps",
	"gitops.argocd.namespace":                 "TestGitOps",
	"gitops.argocd.prune":                     "TestGitOps",
	"gitops.argocd.selfHeal":                  "TestGitOps",
	"gitops.oci.url":                          "TestGitOps",
	"gitops.oci.tag":                          "TestGitOps",
	"gitops.oci.semver":                       "TestGitOps",
	"gitops.oci.digest":                       "TestGitOps",
	"gitops.oci.user":                         "TestGitOps",
	"gitops.oci.insecure":                     "TestGitOps",
	"gitops.oci.verifyKeys":                   "TestGitOps",
	"gitops.oci.verifyIdentities.issuer":      "TestGitOps",
	"gitops.oci.verifyIdentities.subject":     "TestGitOps",
	"notifications.webhooks.name":             "TestNotifications",
	"notifications.webhooks.url":              "TestNotifications",
	"notifications.webhooks.urlVariable":      "TestNotifications",
	"notifications.webhooks.keyVariable":      "TestNotifications",
	"notifications.commitStatus.forge":        "TestNotifications",
	"notifications.commitStatus.repository":   "TestNotifications",
	"secrets.exampleKeyFile":                  "TestShippedTreesAreGolden: the shipped environments are read with it",
	"provider":                                "the files of the providers, which cases are merged into",
	"talos.configContract":                    "TestShippedTreesAreGolden: the environment home has an older one than its Talos",
	"talos.logging.destinations.format":       "has one value so far",
	"network.serverLimit":                     "a check: the files bad_hetzner and bad_many of render/internal/config",
	"nodes.controlPlane.acknowledgeEvenCount": "a check: the files even and bad_even of render/internal/config",

	"nodes.controlPlane.nodes.index":                 "refused: the file bad_dedicated of render/internal/config",
	"nodes.controlPlane.nodes.privateIp":             "refused: the file bad_dedicated of render/internal/config",
	"nodes.controlPlane.nodes.robotServer":           "in infrastructure.yaml alone: the file everything_static of render/internal/config",
	"nodes.controlPlane.nodepools.nodes.index":       "refused: the file bad_dedicated of render/internal/config",
	"nodes.controlPlane.nodepools.nodes.privateIp":   "refused: the file bad_dedicated of render/internal/config",
	"nodes.controlPlane.nodepools.nodes.robotServer": "in infrastructure.yaml alone: the file everything_static of render/internal/config",
}

// Every option that is in effect has a case, which sets it to something else
// than its default.
func TestEveryOptionHasACase(t *testing.T) {
	defaults := schemaOptions()
	cases := map[string]string{}
	for _, c := range append(optionCases(t), addonCases(t)...) {
		set := map[string]string{}
		var doc yaml.Node
		if err := yaml.Unmarshal(c.overlay, &doc); err != nil {
			t.Fatal(err)
		}
		setOptions(doc.Content[0], "", defaults, set)
		for _, option := range c.options {
			cases[option] = c.name
			value, known := defaults[option]
			switch given, ok := set[option]; {
			case !known:
				t.Errorf("%s: there is no option %s", c.name, option)
			case !ok:
				t.Errorf("%s: its cluster.yaml does not set %s", c.name, option)
			case given == value && given != "":
				t.Errorf("%s: %s is set to its default", c.name, option)
			}
		}
	}
	for _, option := range slices.Sorted(maps.Keys(defaults)) {
		switch _, excepted := notInCases[option]; {
		case cases[option] != "" && excepted:
			t.Errorf("%s has a case, %s: take it out of notInCases", option, cases[option])
		case cases[option] == "" && !excepted && !schemas.IsNotYet(option):
			t.Errorf("%s has no case in %s", option, optionsDir)
		}
	}
	for option := range notInCases {
		if _, known := defaults[option]; !known {
			t.Errorf("notInCases: there is no option %s", option)
		}
	}
}

// addonCases are those of options that addons are made of: its tests show what
// they lead to.
func addonCases(t *testing.T) (all []optionCase) {
	t.Helper()
	for _, c := range optionFiles(t, "internal/catalogue/testdata/cases") {
		if len(c.options) > 0 {
			all = append(all, c)
		}
	}
	return all
}

// schemaOptions lists the options of cluster.yaml with their defaults, as they
// are written. Indexes of lists are left out of the paths.
func schemaOptions() map[string]string {
	all := map[string]string{}
	var walk func(t reflect.Type, path string)
	walk = func(t reflect.Type, path string) {
		for i := range t.NumField() {
			f := t.Field(i)
			name, options, _ := strings.Cut(f.Tag.Get("yaml"), ",")
			at := strings.TrimPrefix(path+"."+name, ".")
			inner := f.Type
			if inner.Kind() == reflect.Slice || inner.Kind() == reflect.Map {
				inner = inner.Elem()
			}
			switch {
			case strings.Contains(options, "inline"):
				walk(f.Type, path)
			case inner.Kind() == reflect.Struct:
				walk(inner, at)
			default:
				all[at], _ = schemas.Tag(f.Tag, "default")
			}
		}
	}
	walk(reflect.TypeFor[schemas.Cluster](), "")
	return all
}

// setOptions lists the options that a part of a cluster.yaml sets.
func setOptions(n *yaml.Node, path string, known, set map[string]string) {
	if _, isOption := known[path]; isOption {
		set[path] = n.Value
		return
	}
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		at := strings.TrimPrefix(strings.TrimSuffix(path, "/")+"."+n.Content[i].Value, ".")
		if path == "addons" {
			at = path + "/" // their names are left out, as indexes of lists
		}
		setOptions(n.Content[i+1], at, known, set)
	}
	for _, item := range n.Content {
		if n.Kind == yaml.SequenceNode {
			setOptions(item, path, known, set)
		}
	}
}

// What options lead to is accepted by real talosctl: 1.14, and 1.13 for older
// contracts. Nodes that differ in their names alone are one to it. Every night all
// contracts are validated; else the newest of each case, and one of the others by turns.
func TestTalosctlTakesOptions(t *testing.T) {
	old, current := toolenv.Talosctl(t, "1.13"), toolenv.Talosctl(t, "1.14")
	bench := newOptionBench(t)
	dir := t.TempDir()
	mode := map[string]string{"hetzner": "cloud", "static": "metal"}
	type configuration struct{ name, program, mode string }
	var all []configuration
	seen := map[configuration]bool{} // by what they say
	for n, c := range optionCases(t) {
		for i, rel := range releases {
			if last := len(releases) - 1; i < last && i != n%last && os.Getenv("TALOSGEN_TESTENV_NIGHTLY") == "" {
				continue
			}
			out, err := bench.render(rel, c.cluster(t), c.facts)
			if err != nil {
				continue // as TestOptions expects
			}
			program := old
			if out.Contract == "v1.14" {
				program = current
			}
			for node, text := range out.Clear {
				says := configuration{strings.ReplaceAll(text, node, "node"), program, mode[c.provider]}
				if seen[says] {
					continue
				}
				seen[says] = true
				name := strings.Join([]string{c.name, rel.contract, node}, "_")
				writeFile(t, dir, name, text)
				all = append(all, configuration{name, program, mode[c.provider]})
			}
		}
	}
	each(all, func(c configuration) {
		out, err := run(nil, c.program, "validate", "--strict", "--mode", c.mode, "-c", filepath.Join(dir, c.name))
		if err != nil {
			t.Error(errors.Join(errors.New(c.name), err), out)
		}
	})
	if len(all) == 0 {
		t.Error("nothing was validated")
	}
}
