package archtest

import (
	"fmt"
	"go/ast"
	"maps"
	"slices"
	"strings"
	"testing"
)

// parts are the parts of the module, and which parts each may import. Tests
// keep to the same: a package that its tests cannot test alone is not apart.
var parts = []part{
	{"cmd/...", []string{"cmd/...", "render", "render/charts", "render/check", "render/convert", "render/exporter", "render/importer", "render/newenv", "render/nodepools", "render/vault", "apply", "apply/image", "apply/ledger", "apply/notify", "apply/output", "apply/plan/...", "apply/preflight", "apply/progress", "apply/reach", "apply/rehearsal/...", "apply/robot", "apply/running", "apply/summary", "apply/wayin", "schemas", "internal/..."}},
	{"render/...", []string{"render/...", "schemas", "internal/..."}},
	{"apply/...", []string{"apply/...", "schemas", "internal/..."}},
	{"schemas/...", []string{"schemas/...", "internal/..."}},
	{"internal/...", []string{"internal/...", "schemas"}},
	{"testenv/...", []string{"testenv/...", "render", "apply", "schemas", "internal/..."}},
}

type part struct {
	packages string
	may      []string
}

// testMay are what tests may import besides: the programs that they compare
// with, and for what talks to clusters, clusters.
var testMay = []part{
	{"apply/...", []string{"testenv/toolenv", "testenv/kubeenv", "testenv/talosenv", "testenv/patience"}},
	{"cmd/...", []string{"testenv/toolenv", "testenv/kubeenv", "testenv/talosenv", "testenv/screen"}},
	{"internal/sim/talossim", []string{"testenv/diskenv"}},
	{"...", []string{"testenv/toolenv"}},
}

// mayInTest reports whether tests of a package may import another one.
func mayInTest(dir, imported string) bool {
	i := slices.IndexFunc(testMay, func(p part) bool { return p.packages == "..." || within(dir, p.packages) })
	return slices.Contains(testMay[i].may, imported)
}

// owners are the packages that alone may import a library, so that a new
// version of it, or its end, concerns one package. Tests are free: they compare
// with libraries.
var owners = []struct {
	library string
	owner   []string // patterns; none: nobody
}{
	{"filippo.io/age/...", []string{"internal/sopsage"}},
	{"github.com/getsops/sops/v3/...", []string{"internal/sopsage"}},
	{"github.com/siderolabs/talos/pkg/machinery/client/...", []string{"apply/internal/node"}},
	{"github.com/siderolabs/talos/pkg/machinery/config/...", []string{"render/internal/machine", "apply/internal/node"}},
	{"github.com/siderolabs/talos/pkg/machinery/...", []string{"render/internal/machine", "apply/internal/node", "internal/sim/talossim", "testenv/talosenv"}},
	{"github.com/siderolabs/crypto/...", []string{"render/internal/machine", "apply/internal/node"}},
	{"github.com/urfave/cli/v2/...", []string{"cmd/talosgen"}},
	{"golang.org/x/term/...", []string{"cmd/talosgen"}},
	{"github.com/santhosh-tekuri/jsonschema/v6/...", []string{"render/internal/addon"}},
	{"helm.sh/helm/v4/...", []string{"render/internal/addon/..."}},
	{"sigs.k8s.io/kustomize/...", []string{"render/internal/addon/..."}},
	{"github.com/hetznercloud/hcloud-go/v2/...", []string{"apply/internal/cloud", "apply/internal/execute/executetest"}}, // the latter is for tests
	{"github.com/fluxcd/pkg/ssa/normalize", []string{"apply/internal/kube"}},
	// The rest of it brings kubectl and controller-runtime (decision 0018).
	{"github.com/fluxcd/pkg/ssa/...", nil},
	{"k8s.io/client-go/kubernetes/scheme", []string{"apply/internal/kube", "internal/kubelifecycle", "render/internal/kubeschema"}}, // the table of kinds
	{"k8s.io/apiextensions-apiserver/...", []string{"apply/internal/kube", "render/internal/kubeschema"}},
	{"k8s.io/client-go/kubernetes/...", nil}, // the typed clients of all kinds link 11 MB: the dynamic one has all kinds (decision 0019)
	{"k8s.io/kubectl/...", nil},              // its drain takes the typed clients (decision 0019)
	{"k8s.io/client-go/...", []string{"apply/internal/kube"}},
	{"github.com/rogpeppe/go-internal/...", []string{"internal/casetest"}}, // which is for tests
}

// forbidden are imports that a part of the module must do without.
var forbidden = []struct {
	part, imported, reason string
}{
	{"render/...", "net/http", "render reads the repository, nothing else"},
	{"render/...", "net", "render reads the repository, nothing else"},
	{"render/...", "internal/sim/hetznersim/...", "render reads the repository, nothing else"},
	{"apply/...", "internal/sim/hetznersim/...", "only tests and the command sim need it"},
	{"apply/...", "internal/sim/talossim/...", "only tests and the command sim need it"},
	{"apply/...", "internal/sim/kubesim", "only simulated nodes need it"},
	{"apply/...", "internal/sim/robotsim", "only tests need it"},
	{"render/...", "internal/sim/robotsim", "render reads the repository, nothing else"},
	{"render/...", "internal/sim/talossim/...", "render reads the repository, nothing else"},
	{"render/...", "internal/sim/kubesim", "render reads the repository, nothing else"},
	{"render/...", "os/exec", "render runs no programs"},
	{"render/internal/model", "os", "it is pure: sources are passed in"},
	{"render/internal/model", "context", "it is pure: nothing in it waits"},
	{"render/internal/addons", "os", "sources are passed in"},
	{"render/internal/compile", "os", "sources are passed in"},
	{"render/internal/compile", "context", "nothing in it waits"},
	{"render/internal/explain", "os", "it is pure: what was traced is passed in"},
	{"render/internal/cleartext", "os", "sources are passed in"},
	{"render/internal/residue", "os", "it is pure: configurations are passed in"},
	{"render/internal/fit", "os", "it is pure: what was read is passed in"},
	{"render/internal/fit", "context", "it is pure: nothing in it waits"},
	{"render/internal/foreign", "os", "folders are passed in"},
	{"render/internal/toolrepo", "os", "it is pure: what was rendered is passed in"},
	{"render/internal/toolrepo", "context", "it is pure: nothing in it waits"},
	{"render/internal/options", "os", "it is pure: a model is all that it needs"},
	{"render/internal/options", "context", "it is pure: nothing in it waits"},
	{"apply/...", "os/exec", "apply holds the token, which no list of processes may show"},
	{"apply/plan/...", "net/http", "plan is pure"},
	{"apply/plan/...", "crypto/rand", "randomness is passed in"},
	{"apply/plan/...", "apply/internal/...", "planners know no executor"},
	{"apply/plan", "apply/plan/...", "the vocabulary knows no planner"},
	{"apply/preflight", "net/http", "preflight is pure"},
	{"apply/summary", "net/http", "it is pure"},
	{"apply/plan/kube/...", "time", "clocks are for those who execute plans"},
	{"apply/plan/upgrade", "net", "it is pure"},
	{"apply/plan/upgrade", "time", "clocks are for those who execute plans"},
	{"apply/plan/nodes/...", "net", "it is pure"},
	{"apply/plan/nodes/...", "time", "clocks are for those who execute plans"},
	{"schemas/...", "net/http", "schemas are data"},
	{"schemas/...", "os/exec", "schemas are data"},
	{"internal/...", "net/http", "leaves are shared with render"},
	{"internal/...", "os/exec", "leaves are shared with render"},
	{"render/...", "crypto/rand", "randomness is passed in"},
	{"internal/...", "crypto/rand", "randomness is passed in"},
	{"schemas/...", "crypto/rand", "randomness is passed in"},
	{"render/...", "math/rand/...", "randomness is passed in"},
	{"internal/...", "math/rand/...", "randomness is passed in"},
	{"schemas/...", "math/rand/...", "randomness is passed in"},
}

// spared are the imports that a part of what is forbidden above may have.
var spared = []struct {
	part, imported, reason string
}{
	{"apply/internal/execute/executetest", "internal/sim/hetznersim", "only tests import it"},
	{"internal/sim/hetznersim/...", "net/http", "it is an API over HTTP, and render may not import it"},
	{"internal/sim/kubesim/faultmachine", "net/http", "only tests import it: it stands before an API over HTTP"},
	{"internal/generate", "math/rand/v2", "all that it makes follows from a seed, and it is for tests"},
	{"internal/sim/kubesim", "net/http", "it is an API over HTTP, and render may not import it"},
	{"internal/sim/robotsim", "net/http", "it is an API over HTTP, and render may not import it"},
	{"internal/sim/talossim", "net/http", "its control planes serve that API, and render may not import it"},
	{"internal/charttest", "net/http", "it is for tests: a repository of charts over HTTP"},
	{"render/internal/chartfetch", "net/http", "it gets charts for the commands that are asked to; rendering does not call it"},
	{"internal/sim/talossim/simtest", "crypto/rand", "only tests import it, and no key that it makes is compared"},
}

// light are the packages whose tests must not build a heavy library, not even
// through another package of the module.
var light = []string{
	"apply/internal/access", "apply/ledger", "apply/output", "apply/summary", "apply/wayin", "apply/plan/kube", "apply/plan/kube/kubetree", "apply/plan/nodes", "apply/plan/nodes/bootstrap", "apply/plan/nodes/newonce", "apply/plan/nodes/nodeconfig", "apply/plan", "apply/plan/cloud", "apply/plan/lineage", "apply/plan/review", "apply/plan/upgrade", "apply/preflight",
	"internal/atomicfile", "internal/diag", "internal/etcdsafety", "internal/rendered", "internal/scaffold", "internal/secret", "internal/yamlerror", "internal/yamltext",
	"render/internal/address", "render/internal/config", "render/internal/envelope", "render/internal/infra",
	"render/internal/catalogue", "render/internal/chartlock", "render/internal/gitops", "render/internal/graph", "render/internal/leak", "render/internal/layer", "render/internal/legacy", "render/internal/ownership", "render/internal/pools", "render/internal/reuse",
	"render/internal/references", "render/internal/secretsfile", "render/internal/subst", "render/internal/tree", "render/internal/yamledit",
	"schemas",
}

var heavy = []string{"internal/sopsage", "render/internal/machine", "render/internal/addon/...", "render/internal/kubeschema"}

func TestParts(t *testing.T)     { report(t, checkParts(sources(t))) }
func TestOwners(t *testing.T)    { report(t, checkOwners(sources(t))) }
func TestForbidden(t *testing.T) { report(t, checkForbidden(sources(t))) }
func TestLight(t *testing.T)     { report(t, checkLight(sources(t))) }

func checkParts(all []source) (violations []string) {
	own := map[string]bool{}
	for _, s := range all {
		own[s.dir] = true
	}
	for _, s := range all {
		i := slices.IndexFunc(parts, func(p part) bool { return within(s.dir, p.packages) })
		if i < 0 {
			violations = append(violations, s.line(s.file.Name)+": the package belongs to no part of the module; see parts in internal/archtest")
			continue
		}
		s.imports(func(spec *ast.ImportSpec, imported string) {
			if !own[imported] || withinAny(imported, parts[i].may) || s.test && mayInTest(s.dir, imported) {
				return
			}
			violations = append(violations, fmt.Sprintf("%s: %s must not import %s; it may import %s",
				s.line(spec), s.dir, imported, strings.Join(parts[i].may, ", ")))
		})
	}
	return violations
}

func checkOwners(all []source) (violations []string) {
	for _, s := range all {
		if s.test {
			continue
		}
		s.imports(func(spec *ast.ImportSpec, imported string) {
			for _, o := range owners {
				if !within(imported, o.library) {
					continue
				}
				if !withinAny(s.dir, o.owner) {
					violations = append(violations, fmt.Sprintf("%s: only %s may import %s",
						s.line(spec), strings.Join(append(slices.Clone(o.owner), "tests"), " and "), imported))
				}
				return // the first line that fits decides
			}
		})
	}
	return violations
}

func checkForbidden(all []source) (violations []string) {
	for _, s := range all {
		if s.test {
			continue
		}
		s.imports(func(spec *ast.ImportSpec, imported string) {
			for _, e := range spared {
				if within(s.dir, e.part) && within(imported, e.imported) {
					return
				}
			}
			for _, f := range forbidden {
				if within(s.dir, f.part) && within(imported, f.imported) {
					violations = append(violations, fmt.Sprintf("%s: %s must not import %s: %s", s.line(spec), s.dir, imported, f.reason))
				}
			}
		})
	}
	return violations
}

func checkLight(all []source) (violations []string) {
	graph := map[string]map[string]bool{}
	for _, s := range all {
		if graph[s.dir] == nil {
			graph[s.dir] = map[string]bool{}
		}
		if !s.test {
			s.imports(func(_ *ast.ImportSpec, imported string) { graph[s.dir][imported] = true })
		}
	}
	for _, from := range light {
		if graph[from] == nil {
			violations = append(violations, from+": there is no such package; see light in internal/archtest")
			continue
		}
		if chain := reach(graph, from, nil); chain != nil {
			violations = append(violations, fmt.Sprintf("%s must stay light: %s", from, strings.Join(chain, " imports ")))
		}
	}
	return violations
}

// reach returns a chain of imports from a package to a heavy one, or nil.
func reach(graph map[string]map[string]bool, at string, before []string) []string {
	if slices.Contains(before, at) {
		return nil
	}
	chain := append(slices.Clone(before), at)
	if withinAny(at, heavy) {
		return chain
	}
	for _, next := range slices.Sorted(maps.Keys(graph[at])) {
		if found := reach(graph, next, chain); found != nil {
			return found
		}
	}
	return nil
}

func TestImportRules(t *testing.T) {
	all := code(t, map[string]string{
		"apply/a.go":                       "package apply\nimport _ \"github.com/talosgen/talosgen/render\"\n",
		"apply/a_test.go":                  "package apply\nimport _ \"github.com/talosgen/talosgen/testenv/kubeenv\"\n",
		"testenv/kubeenv/a.go":             "package kubeenv\n",
		"render/b_test.go":                 "package render\nimport (\n_ \"github.com/talosgen/talosgen/testenv/kubeenv\"\n_ \"github.com/talosgen/talosgen/testenv/toolenv\"\n)\n",
		"testenv/toolenv/a.go":             "package toolenv\n",
		"cmd/talosgen/a.go":                "package main\nimport (\n_ \"github.com/talosgen/talosgen/render\"\n_ \"github.com/urfave/cli/v2\"\n)\n",
		"extra/a.go":                       "package extra\n",
		"render/a.go":                      "package render\nimport (\n_ \"os/exec\"\n_ \"filippo.io/age/armor\"\n_ \"github.com/talosgen/talosgen/internal/b\"\n)\n",
		"render/a_test.go":                 "package render\nimport (\n_ \"os/exec\"\n_ \"filippo.io/age\"\n_ \"github.com/talosgen/talosgen/apply\"\n)\n",
		"internal/b/b.go":                  "package b\nimport _ \"math/rand/v2\"\n",
		"render/internal/machine/a.go":     "package machine\nimport (\n_ \"github.com/siderolabs/talos/pkg/machinery/config/merge\"\n_ \"github.com/siderolabs/talos/pkg/machinery/client\"\n)\n",
		"render/internal/secretsfile/a.go": "package secretsfile\nimport _ \"github.com/talosgen/talosgen/internal/sopsage\"\n",
	})
	expect(t, checkParts(all),
		"apply/a.go:2: apply must not import render",
		"extra/a.go:1: the package belongs to no part",
		"render/a_test.go:5: render must not import apply",
		"render/b_test.go:3: render must not import testenv/kubeenv")
	expect(t, checkOwners(all),
		"render/a.go:4: only internal/sopsage and tests may import filippo.io/age/armor",
		"render/internal/machine/a.go:4: only apply/internal/node and tests may import github.com/siderolabs/talos/pkg/machinery/client")
	expect(t, checkForbidden(all),
		"internal/b/b.go:2: internal/b must not import math/rand/v2: randomness is passed in",
		"render/a.go:3: render must not import os/exec: render runs no programs")
	want := "render/internal/secretsfile must stay light: render/internal/secretsfile imports internal/sopsage"
	if got := checkLight(all); !slices.Contains(got, want) {
		t.Errorf("%q is not in %q", want, got)
	}
}
