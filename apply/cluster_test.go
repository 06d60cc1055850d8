package apply

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/schemas"
	"github.com/talosgen/talosgen/testenv/kubeenv"
)

func TestMain(m *testing.M) { os.Exit(kubeenv.Run(m)) }

// liveClock is the real time: a real API checks certificates with it.
type liveClock struct{}

func (liveClock) Now() time.Time { return time.Now() }

func (liveClock) Sleep(ctx context.Context, _ time.Duration) error {
	select {
	case <-ctx.Done():
	case <-time.After(50 * time.Millisecond):
	}
	return ctx.Err()
}

const bootstrapObjects = `apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: kube-system}
data: {x: "1"}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: ccm, namespace: kube-system}
spec:
  replicas: 0
  selector: {matchLabels: {app: ccm}}
  template:
    metadata: {labels: {app: ccm}}
    spec: {containers: [{name: ccm, image: "example.org/ccm:1"}]}
`

// realCluster is an environment whose authority is that of a real API server.
func realCluster(t *testing.T, c *kubeenv.Cluster, manifests string) (*Environment, *Cluster) {
	t.Helper()
	o := newOperators(t, 1)
	certificate, key := c.Authority(t)
	encode := base64.StdEncoding.EncodeToString
	ca := fmt.Sprintf("{crt: %s, key: %s}", encode(certificate), encode(key))
	files := o.small(t)
	files[schemas.InfrastructureFile] = strings.Replace(demoInfrastructure, "role: worker\n    types", "role: controlplane\n    types", 1) +
		fmt.Sprintf("kubernetesApi: {endpoint: 'https://10.0.1.11:6443', externalEndpoint: '%s', tlsServerName: kubernetes, certSans: [127.0.0.1]}\n", c.URL)
	for _, name := range []string{"demo-worker-1", "demo-worker-2"} {
		file := "nodes/" + name + ".yaml"
		files[file] = o.encrypted(t, file, "version: v1alpha1\nmachine:\n  ca: "+ca+
			"\n  kubelet: {image: 'ghcr.io/siderolabs/kubelet:v1.36.4'}\ncluster:\n  ca: "+ca+"\n", "token", canaryToken)
	}
	files["bootstrap/hcloud-ccm/manifests.yaml"] = manifests
	files["bootstrap/hcloud-ccm/secret.yaml"] = o.encrypted(t, "bootstrap/hcloud-ccm/secret.yaml",
		"apiVersion: v1\nkind: Secret\nmetadata: {name: hcloud, namespace: kube-system}\n", "stringData", canaryToken)
	env, err := o.open(t, o.sealed(t, files))
	if err != nil {
		t.Fatal(err)
	}
	cluster, err := env.Kubernetes(t.Context(), KubeAccess{
		Clock: liveClock{}, Random: rand.Reader,
		Dial: func(ctx context.Context, address string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", address)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	return env, cluster
}

// TestStatusAndTakeover looks at a cluster that others began: what is not as in
// Git is said, their fields change hands, and a second look finds nothing.
func TestStatusAndTakeover(t *testing.T) {
	c := kubeenv.Start(t)
	_, cluster := realCluster(t, c, bootstrapObjects)
	c.Apply(t, "helm", false, strings.Split(bootstrapObjects, "---\n")...)
	c.Apply(t, "test", false, "{apiVersion: v1, kind: Node, metadata: {name: demo-worker-1}}", "{apiVersion: v1, kind: Node, metadata: {name: stranger}}")

	same := func(context.Context, string) (bool, error) { return true, nil }
	status, err := cluster.Status(t.Context(), same)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"node demo-worker-1 is not ready: its kubelet has not reported yet",
		"node demo-worker-2 is not in the cluster",
		"node stranger is not in Git",
		"node stranger is not ready: its kubelet has not reported yet",
		"objects: 1 to create, 2 to change",
	}
	if got := status.Differences; !slices.Equal(got[:min(len(got), len(want))], want) {
		t.Errorf("differences:\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	text := status.String()
	if !strings.Contains(text, "Kubernetes v1.36.4\n") || !strings.Contains(text, "the certificate of the Kubernetes authority expires on ") {
		t.Errorf("it prints\n%s", text)
	}
	json, err := plan.Encode(status)
	if err != nil || strings.Contains(text+string(json), canaryToken) || strings.Contains(fmt.Sprintf("%+v", status), canaryToken) {
		t.Errorf("the token is told (%v)", err)
	}

	p, err := cluster.PlanTakeover(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const wantPlan = `demo, Kubernetes: 2 to take over
provider:
  > ConfigMap/kube-system/settings
      fields of helm become those of talosgen
  > Deployment.apps/kube-system/ccm
      fields of helm become those of talosgen
`
	if p.String() != wantPlan {
		t.Errorf("the plan is\n%s\nwant\n%s", p, wantPlan)
	}
	shown(t, "talosgen takeover demo --plan", p.String())
	shown(t, "talosgen status demo", text)
	done, err := cluster.TakeOver(t.Context(), p, Owner{})
	if err != nil || len(done) != 2 {
		t.Errorf("%d done (%v)", len(done), err)
	}
	if p, err = cluster.PlanTakeover(t.Context()); err != nil || len(p.Changes()) > 0 {
		t.Errorf("there is something left (%v):\n%s", err, p)
	}
	// What Git has less goes with the next apply.
	_, less := realCluster(t, c, strings.Replace(bootstrapObjects, `data: {x: "1"}`, "data: {}", 1))
	plan, err := less.Plan(t.Context(), plan.Consent{})
	if err != nil || !strings.Contains(plan.String(), "~ ConfigMap/kube-system/settings\n      data.x: - 1\n") {
		t.Errorf("the plan is (%v)\n%s", err, plan)
	}
}

// shown checks that what the page about this shows behind a command is printed by
// it, line by line and in this order; … stands for lines that are left out.
func shown(t *testing.T, command, printed string) {
	t.Helper()
	page, err := os.ReadFile("../docs/how-to/take-over.md")
	if err != nil {
		t.Fatal(err)
	}
	_, behind, found := strings.Cut(string(page), "$ "+command+"\n")
	block, _, closed := strings.Cut(behind, "```")
	if !found || !closed {
		t.Fatalf("the page does not show %s", command)
	}
	for line := range strings.Lines(block) {
		if line = strings.TrimSpace(line); line == "…" || line == "" {
			continue
		}
		_, after, found := strings.Cut(printed, line+"\n")
		if !found {
			t.Fatalf("%s does not print %q, or not there:\n%s", command, line, printed)
		}
		printed = after
	}
}

// A cluster that is another one, or that everybody has the key of, is left alone.
func TestKubernetesRefuses(t *testing.T) {
	c := kubeenv.Start(t)
	env, _ := realCluster(t, c, bootstrapObjects)
	other := func(ctx context.Context, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", strings.TrimPrefix(c.URL, "https://"))
	}
	access := KubeAccess{Clock: liveClock{}, Random: rand.Reader, Dial: other, Server: "https://203.0.113.9:6443", Examples: env.recipients}
	if _, err := env.Kubernetes(t.Context(), access); diag.CodeOf(err) != diag.Secrets {
		t.Errorf("a tree that everybody can read: %v", err)
	}
	access.Examples, access.Clock = nil, fixedNow{time.Now().AddDate(0, 0, 2)}
	late, err := env.Kubernetes(t.Context(), access)
	if err == nil {
		_, err = late.PlanTakeover(t.Context())
	}
	if err == nil || !strings.Contains(err.Error(), "expired") {
		t.Errorf("after the authority has expired: %v", err)
	}
}

// fixedNow is a clock that stands still.
type fixedNow struct{ now time.Time }

func (c fixedNow) Now() time.Time { return c.now }

func (fixedNow) Sleep(ctx context.Context, _ time.Duration) error { return ctx.Err() }
