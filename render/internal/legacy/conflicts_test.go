package legacy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/siderolabs/talos/pkg/machinery/config/machine"

	"github.com/talosgen/talosgen/internal/diag"
)

// TestKindsDecide shows that a field conflicts only with what the patch meets.
func TestKindsDecide(t *testing.T) {
	worker := kindsOf(bases()[machine.TypeWorker])
	for _, tt := range []struct {
		patch string
		kinds []string
		want  int
	}{
		{"cluster: {apiServer: {env: {A: b}}}", nil, 1},
		{"cluster: {apiServer: {env: {A: b}}}", worker, 0},
		{"machine: {install: {disk: /dev/sda}}", worker, 1},
		{"machine: {install: {disk: /dev/sda}}", []string{"KubeletConfig"}, 0},
		{"machine: {time: {servers: [a]}}", nil, 0},
		{"machine: {time: {servers: [a]}}", []string{"TimeSyncConfig"}, 1},
		{"machine: {network: {disableSearchDomain: true}}", nil, 1},
		{"machine: {network: {disableSearchDomain: false}}", nil, 0},
		{"machine: {features: {stableHostname: false}}", nil, 0},
		{"machine: {nodeLabels: null}", nil, 0},
		{"machine: {kubelet: null}", nil, 0},
		{"machine: {kubelet: {image: null}}", nil, 1},
		{"cluster: {apiServer: {$patch: delete}}", nil, 0},
		{"cluster: {unheardOf: {a: b}}", nil, 0},
		{"[{op: remove, path: /machine/kubelet}]", nil, 0},
		{"machine: {files: []}", []string{}, 1},
		{"", nil, 0},
	} {
		got := Conflicts("p.yaml", parse(t, tt.patch), Options{Kinds: tt.kinds})
		if len(got) != tt.want {
			t.Errorf("%s beside %v: %v, want %d problems", tt.patch, tt.kinds, got, tt.want)
		}
	}
}

func TestConflictHasItsPlace(t *testing.T) {
	docs := parse(t, "machine:\n  certSANs: []\n---\ncluster:\n  proxy:\n    mode: ipvs\n")
	problems := Conflicts("patches/a.yaml", docs, Options{})
	if len(problems) != 1 || problems[0].Pos != (diag.Pos{File: "patches/a.yaml", Line: 6, Column: 5}) || problems[0].Code != diag.Input {
		t.Fatalf("got %+v", problems)
	}
	if text := problems[0].Error(); !strings.Contains(text, "KubeProxyConfig.mode") {
		t.Errorf("the new home is not named: %s", text)
	}
}

// TestHiddenValuesStayHidden looks for values of every legacy patch of the
// table in what is reported about it.
func TestHiddenValuesStayHidden(t *testing.T) {
	for _, tt := range homeCases {
		docs := parse(t, tt.patch)
		for _, list := range [][]*diag.Problem{
			Conflicts("p.yaml", docs, Options{HideValues: true, Workers: true}),
			second(Convert("p.yaml", docs, Options{HideValues: true, All: true})),
		} {
			for _, p := range list {
				for _, value := range []string{"c2VjcmV0", "AAECAw", "CERTIFICATE", "https://i", "k.example", "/dev/sda", "10.0.0.9", "r/k:", "pw"} {
					if strings.Contains(p.Error(), value) {
						t.Errorf("%s: %q is shown: %s", tt.patch, value, p.Error())
					}
				}
			}
		}
	}
}

func second[A, B any](_ A, b B) B { return b }

func TestLongPatchesAreNotPrinted(t *testing.T) {
	var patch strings.Builder
	patch.WriteString("machine:\n  nodeLabels:\n")
	for i := range maxHintLines {
		fmt.Fprintf(&patch, "    a%d: b\n", i)
	}
	problems := Conflicts("p.yaml", parse(t, patch.String()), Options{})
	if len(problems) != 1 || strings.Contains(problems[0].Hint, "\n") || !strings.Contains(problems[0].Hint, "convert-patch") {
		t.Errorf("got %v", problems)
	}
}

func TestSchedulingOnWorkers(t *testing.T) {
	docs := parse(t, "cluster: {allowSchedulingOnControlPlanes: false}")
	if _, problems := Convert("p.yaml", docs, Options{Workers: true}); len(problems) != 1 || !strings.Contains(problems[0].Hint, "patches/controlplane") {
		t.Errorf("workers would be tainted: %v", problems)
	}
}

func TestAliasBombIsRefused(t *testing.T) {
	bomb := "machine:\n  nodeLabels: &a0 {k: v}\n"
	for i := range 20 {
		bomb += fmt.Sprintf("  x%d: &a%d [*a%d, *a%d]\n", i, i+1, i, i)
	}
	docs := parse(t, bomb)
	out, problems := Convert("p.yaml", docs, Options{})
	if len(problems) != 1 || !strings.Contains(problems[0].Message, "aliases") || len(out) != 1 || out[0] != docs[0] {
		t.Errorf("got %v", problems)
	}
}
