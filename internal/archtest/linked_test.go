package archtest

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
)

// unlinked are packages that the program must do without. Each was linked once,
// through a library of which talosgen uses another part (decision 0018).
var unlinked = []struct{ packages, reason string }{
	{"google.golang.org/grpc/xds/...", "Google's client for Cloud Storage brings it, which sops alone would use"},
	{"github.com/envoyproxy/go-control-plane/...", "it comes with grpc/xds: 4 MB of code that no command runs"},
	{"go.opentelemetry.io/otel/sdk/...", "talosgen measures nothing that it sends away"},
	{"gopkg.in/yaml.v2", "go.yaml.in/yaml/v2 is the same parser, and is linked"},
	{"github.com/goccy/go-yaml/parser", "internal/absent/goccy takes the place of the module: other parsers of YAML are linked"},
	{"go.mongodb.org/mongo-driver/bson/bsoncodec", "internal/absent/mongo takes the place of the module: nothing speaks BSON"},
	{"k8s.io/kubectl/...", "fluxcd/pkg/ssa brings it, of which only its package normalize is used"},
	{"sigs.k8s.io/controller-runtime/...", "it comes with fluxcd/pkg/ssa"},
	{"k8s.io/client-go/informers/...", "it comes with fluxcd/pkg/ssa, and takes as long to compile as a tenth of the program"},
	{"github.com/aws/aws-sdk-go-v2/service/s3/types", "internal/absent/s3 takes the place of the module: sops alone would use it"},
	{"github.com/felixge/httpsnoop", "internal/absent/otelhttp takes the place of the module that brings it: nothing is measured"},
	{"k8s.io/client-go/kubernetes/fake", "it is for tests"},
	{"net/http/httptest", "it is for tests"},
}

// TestLinked keeps out of the program what costs size and start, and what no
// command uses.
func TestLinked(t *testing.T) {
	list := exec.Command("go", "list", "-deps", "./cmd/talosgen")
	list.Dir = "../.."
	text, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	packages := strings.Fields(string(text))
	if len(packages) < 500 {
		t.Fatalf("only %d packages: this looks at another program", len(packages))
	}
	report(t, checkLinked(packages))
}

func checkLinked(packages []string) (violations []string) {
	for _, p := range packages {
		for _, u := range unlinked {
			if within(p, u.packages) {
				violations = append(violations, fmt.Sprintf("%s must not be linked: %s; `go list -deps` and `go mod why` say what brings it", p, u.reason))
			}
		}
	}
	return violations
}

func TestLinkedRules(t *testing.T) {
	expect(t, checkLinked([]string{"fmt", "google.golang.org/grpc", "google.golang.org/grpc/xds/internal", "net/http/httptest"}),
		"google.golang.org/grpc/xds/internal must not be linked: ",
		"net/http/httptest must not be linked: ")
}
