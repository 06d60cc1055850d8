package summary

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
)

var update = flag.Bool("update", false, "write the golden files anew")

// made are things that a run did with many objects.
func made(stage, action, format string, n int) (items []Item) {
	for i := range n {
		items = append(items, Item{Stage: stage, Action: action, Object: fmt.Sprintf(format, i+1)})
	}
	return items
}

func stages(named ...any) (all []Stage) {
	for i := 0; i < len(named); i += 3 {
		all = append(all, Stage{Stage: named[i].(string), Took: named[i+1].(time.Duration), Requests: named[i+2].(Requests)})
	}
	return all
}

// of is a report of stages.
func of(s Summary, all []Stage) Summary {
	var took time.Duration
	s.Environment, s.Cluster = "prod", "prod"
	s.Stages, took, s.Requests = Fold(all)
	s.Seconds = took.Seconds()
	return s
}

// runs are reports, each with a golden file.
var runs = map[string]Summary{
	"in-sync": of(Summary{
		Outcome: InSync, RequestsLeft: 3500,
		Cost: &Cost{"EUR", cloudplan.Price{Net: "20.97", Gross: "24.9543"}, cloudplan.Price{Net: "20.97", Gross: "24.9543"}},
	}, stages("observe", 1100*time.Millisecond, Requests{Hetzner: 20, Nodes: 12})),
	"first": of(Summary{
		Outcome: Done, RequestsLeft: 3390,
		Done: append(append(append(append(
			made(Infrastructure, "create", "server/prod-worker-%d", 100),
			Item{Stage: Images, Action: "create", Object: "image/os=talos,talos_schematic_id=ce4c980550dd2ab1b17bbf2b08801c7e,talos_version=v1.14.1/x86"}),
			made(Nodes, "configure", "prod-worker-%d", 3)...),
			Item{Stage: Bootstrap, Action: "bootstrap", Object: "etcd"}, Item{Stage: Nodes, Action: "health", Object: "cluster"}),
			Item{Stage: Kubernetes, Action: "create", Object: "DaemonSet/kube-system/cilium"}, Item{Stage: Flux, Action: "create", Object: "GitRepository/flux-system/talosgen"}),
		Cost: &Cost{"EUR", cloudplan.Price{Net: "0.00", Gross: "0.00"}, cloudplan.Price{Net: "20.966", Gross: "24.954"}},
		Next: []Command{{"talosgen kubeconfig prod", "access for kubectl"}},
	}, stages("observe", 800*time.Millisecond, Requests{Hetzner: 18}, "lock", time.Second, Requests{Hetzner: 3},
		"nodes", time.Second, Requests{Nodes: 2}, "infrastructure", 71*time.Second, Requests{Hetzner: 80},
		"nodes", 5*time.Minute, Requests{Nodes: 41}, "kubernetes", time.Minute, Requests{Kubernetes: 120})),
	"interrupted": of(Summary{
		Outcome: Interrupted, RequestsLeft: -1,
		Done: made(Infrastructure, "create", "server/prod-worker-%d", 1),
		Left: append(made(Infrastructure, "update", "server/prod-control-plane-%d", 2), Item{Stage: Nodes, Action: "reboot", Object: "prod-worker-1"}),
		Cost: &Cost{"EUR", cloudplan.Price{Net: "1", Gross: "1.19"}, cloudplan.Price{Net: "2", Gross: "2.38"}},
		Next: []Command{{"talosgen apply prod --yes", "goes on where this run stopped"}},
	}, stages("observe", time.Second, Requests{}, "infrastructure", time.Second, Requests{})),
	"pending": of(Summary{
		Outcome: Done, RequestsLeft: 10,
		Done: made(Nodes, "stage", "prod-worker-%d", 2),
		Pending: append([]Pending{
			{Held, "node prod-worker-1", "KubeletConfig image: ghcr.io/siderolabs/kubelet:v1.36.3 -> ghcr.io/siderolabs/kubelet:v1.36.4 waits for an upgrade", ""},
			{Status, "", "Kustomization flux-system/talosgen is not ready: it depends on something that is not ready either, and so on", ""},
		}, many(Unreachable, 10)...),
		Next: []Command{{"talosgen status prod", "what Flux waits for"}},
	}, stages("observe", time.Second, Requests{Kubernetes: 3})),
	"failed": of(Summary{Outcome: Failed, RequestsLeft: -1}, stages("observe", time.Second, Requests{})),
	"refused": of(Summary{
		Outcome: Refused, RequestsLeft: -1, Next: []Command{{"talosgen apply prod --allow server/prod-worker-3", "with consent"}},
	}, stages("observe", time.Second, Requests{})),
}

func many(kind string, n int) (all []Pending) {
	for i := range n {
		all = append(all, Pending{kind, fmt.Sprintf("node prod-worker-%d", i+1), "it is not reached", "see its console"})
	}
	return all
}

func TestString(t *testing.T) {
	for name, s := range runs {
		t.Run(name, func(t *testing.T) {
			got := s.String()
			for line := range strings.Lines(got) {
				if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > columns {
					t.Errorf("%d columns: %s", n, line)
				}
			}
			file := filepath.Join("testdata", name+".txt")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// TestStringMovesNothing: what a cluster says of itself cannot move the cursor of
// a terminal.
func TestStringMovesNothing(t *testing.T) {
	s := Summary{Outcome: Done, Pending: []Pending{{Kind: Status, Text: "Kustomization apps is not ready: \x1b[2Jall is well"}}}
	if got := s.String(); strings.Contains(got, "\x1b") || !strings.Contains(got, `\x1b[2Jall is well`) {
		t.Errorf("it prints %q", got)
	}
}

// TestFold puts the rounds of a stage together, and loses nothing.
func TestFold(t *testing.T) {
	folded, took, requests := Fold(stages(
		"nodes", time.Second, Requests{Nodes: 1}, "kubernetes", time.Minute, Requests{Kubernetes: 2}, "nodes", 2*time.Second, Requests{Nodes: 3, Hetzner: 4},
	))
	if len(folded) != 2 || folded[0].Stage != "nodes" || folded[0].Seconds != 3 || folded[0].Requests != (Requests{Nodes: 4, Hetzner: 4}) {
		t.Errorf("folded %+v", folded)
	}
	if took != 63*time.Second || requests != (Requests{Hetzner: 4, Nodes: 4, Kubernetes: 2}) {
		t.Errorf("in all %s, %+v", took, requests)
	}
}

// TestShortened: names lose the API groups of their kinds before anything else, and all of
// a row alike.
func TestShortened(t *testing.T) {
	for _, c := range []struct{ names, want string }{
		{"GitRepository.source.toolkit.fluxcd.io/flux-system/a", "GitRepository.source.toolkit.fluxcd.io/flux-system/a"},
		{"Role.rbac/a Kustomization.kustomize.toolkit.fluxcd.io/flux-system/talosgen-crds", "Role/a Kustomization/flux-system/talosgen-crds"},
		{"server/acme-production-eu-central-northern-europe-control-plane-1", "server/acme-production-eu…rn-europe-control-plane-1"},
	} {
		if got := strings.Join(shortened(strings.Fields(c.names), 52), " "); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}
