package archtest

import (
	"fmt"
	"go/ast"
	"go/token"
	"regexp"
	"testing"
)

// release is a version of Talos or Kubernetes with all three numbers. Contracts
// such as v1.13 are facts about a vocabulary, and may stand where it is known.
var release = regexp.MustCompile(`(^|[^0-9.])v?1\.(9|[1-4][0-9])\.[0-9]+($|[^0-9.])`)

// versionsMay are the places that name versions besides internal/versions.
var versionsMay = []struct{ place, reason string }{
	{"internal/versions/...", "it is the table"},
	{"testenv/...", "its modules pin the programs that tests run"},
	{"render/internal/catalogue/...", "releases of addons, which have numbers of their own"},
	{"schemas/cluster_catalogue.go", "an example of a release of an addon"},
	{"schemas/cluster_addons.go", "an example of an image of the autoscaler"},
	{"schemas/cluster_kubernetes.go", "an example of an image of CoreDNS"},
	{"internal/generate/...", "it is for tests: tags of images, of any version"},
	{"apply/plan/cloud/plantest/...", "it is for tests, whose expected plans name what it names"},
}

func TestVersions(t *testing.T) { report(t, checkVersions(sources(t))) }

// checkVersions finds versions that a new release would leave behind.
func checkVersions(all []source) (violations []string) {
	for _, s := range all {
		if s.test || mayNameVersions(s) {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if text, ok := n.(*ast.BasicLit); ok && text.Kind == token.STRING && release.MatchString(text.Value) {
				violations = append(violations, fmt.Sprintf("%s: %s names a version of Talos or Kubernetes; take it from internal/versions", s.line(n), text.Value))
			}
			return true
		})
	}
	return violations
}

func mayNameVersions(s source) bool {
	for _, m := range versionsMay {
		if within(s.dir, m.place) || s.path == m.place {
			return true
		}
	}
	return false
}

func TestVersionRules(t *testing.T) {
	expect(t, checkVersions(code(t, map[string]string{
		"a/a.go":                    "package a\nconst talos = \"v1.14.1\"\n",
		"a/a_test.go":               "package a\nconst inTest = \"v1.14.1\"\n",
		"a/b.go":                    "package a\n// 1.36.3 in a comment.\nvar k, c, ip, other = \"use 1.36.3\", \"v1.14\", \"192.1.36.3\", \"2.1.36.3\"\n",
		"a/c.go":                    "package a\ntype t struct { V string `default:\"1.36.3\"` }\n",
		"internal/versions/a.go":    "package versions\nconst k = \"1.36.3\"\n",
		"schemas/cluster_addons.go": "package schemas\nconst e = \"v1.34.5\"\n",
	})),
		"a/a.go:2: \"v1.14.1\" names a version",
		"a/b.go:3: \"use 1.36.3\" names a version",
		"a/c.go:2: `default:\"1.36.3\"` names a version")
}
