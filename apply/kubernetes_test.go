package apply

import (
	"context"
	"crypto/rand"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/apply/plan"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	kubeplan "github.com/talosgen/talosgen/apply/plan/kube"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/apply/progress"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/schemas"
	"github.com/talosgen/talosgen/testenv/kubeenv"
)

// TestKubernetesStage plans before there is a cluster, makes everything once
// there is one, and finds nothing to do the second time.
func TestKubernetesStage(t *testing.T) {
	c := kubeenv.Start(t, kubeenv.Own())
	env, _ := realCluster(t, c, bootstrapObjects)
	var reported []string
	s := newSession(env, nil, Cloud{
		Clock: liveClock{}, Builder: Builder{Random: rand.Reader}, Notify: func(e progress.Event) { reported = append(reported, e.Stage+" "+e.Step+" "+e.Text) },
		Nodes: Nodes{Dial: func(ctx context.Context, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", strings.TrimPrefix(c.URL, "https://"))
		}},
	})
	desired, err := s.objects.desired(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.objects.read.Items = slices.DeleteFunc(desired.Items, func(i kubeplan.Item) bool { return i.Object.IsSecret() })
	before := &Plan{Plan: &cloudplan.Plan{Cluster: "demo"}}
	if err := s.kube.plan(t.Context(), before, Policy{}); err != nil {
		t.Fatal(err)
	}
	if before.Kubernetes.API || before.Empty() || !before.Executable() || before.Counts().Add != 2 {
		t.Fatalf("before there is anything: %s", before)
	}
	// Nobody waits for what cannot come: no control plane is made.
	nowhere := &Report{Left: &Plan{Plan: &cloudplan.Plan{Cluster: "demo"}}}
	if err := s.kube.execute(t.Context(), &run{report: nowhere, agreed: before}); diag.CodeOf(err) != diag.NotReady || !strings.Contains(err.Error(), "no control plane is known that could serve it") {
		t.Fatalf("without a control plane: %v", err)
	}
	server := cloudplan.Server{
		Meta:        cloudplan.Meta{ID: 1, Name: "demo-worker-1", Labels: map[string]string{"cluster": "demo", "managed-by": "talosgen", "role": "controlplane"}},
		PublicIPv4:  cloudplan.PublicIP{IP: "203.0.113.7"},
		PrivateNets: []cloudplan.PrivateNet{{IP: "10.0.1.11"}},
	}
	there := &cloudplan.Plan{Cluster: "demo", Observed: cloudplan.Observed{Servers: []cloudplan.Server{server}}}
	r := &Report{Left: &Plan{Plan: there}}
	if err := s.kube.execute(t.Context(), &run{report: r, agreed: before}); err != nil {
		t.Fatalf("%v\n%s", err, strings.Join(reported, "\n"))
	}
	if len(r.Objects) != 2 || !r.Left.Kubernetes.InSync() {
		t.Errorf("%d objects were made, left is %s", len(r.Objects), r.Left.Kubernetes)
	}
	again := &Plan{Plan: there}
	if err := s.kube.plan(t.Context(), again, Policy{}); err != nil || !again.Kubernetes.API || !again.Empty() {
		t.Errorf("the second time (%v): %s", err, again)
	}
	text := strings.Join(reported, "\n") + before.String()
	if strings.Contains(text, canaryToken) || strings.Contains(text, "PRIVATE KEY") {
		t.Error("a secret was told")
	}
	// Somebody changes an object after the plan was agreed to: it stays theirs.
	c.Apply(t, "helm", true, "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: kube-system}, data: {x: other}}")
	err = s.finish(t.Context(), &run{report: r, agreed: again})
	if diag.CodeOf(err) != diag.Conflict || !strings.Contains(err.Error(), "ConfigMap/kube-system/settings: fields of it are of helm") {
		t.Errorf("what others changed: %v", err)
	}
}

// TestSomePlane: Kubernetes is planned where a control plane can be talked to, or
// will be once etcd is bootstrapped.
func TestSomePlane(t *testing.T) {
	k := &kubeReach{inventory: &inventory{infra: &schemas.Infrastructure{Servers: []schemas.InfraServer{
		{Name: "cp-1", Role: schemas.RoleControlPlane}, {Name: "worker-1", Role: schemas.RoleWorker},
	}}}}
	for name, c := range map[string]struct {
		nodes nodeplan.Plan
		want  bool
	}{
		"all are well":            {nodeplan.Plan{}, true},
		"no control plane":        {nodeplan.Plan{Unreachable: []string{"cp-1"}}, false},
		"it waits for bootstrap":  {nodeplan.Plan{Unreachable: []string{"cp-1"}, Steps: []nodeplan.Step{{Action: nodeplan.Bootstrap}}}, true},
		"it is refused":           {nodeplan.Plan{Refusals: []plan.Note{{Key: "node/cp-1"}}}, false},
		"only the worker is away": {nodeplan.Plan{Unreachable: []string{"worker-1"}}, true},
	} {
		if got := k.usable(&Plan{Plan: &cloudplan.Plan{}, Nodes: &c.nodes}); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestEdited: an object that somebody has edited keeps nobody from the changes of
// other sections, and is an error when they are done; one that Flux looks after
// keeps everybody from everything.
func TestEdited(t *testing.T) {
	object := kubeplan.Step{Key: "ConfigMap/kube-system/ccm", Action: kubeplan.Conflict, Allowed: true, Reason: "fields of it are of others"}
	flux := demoPlan([]cloudplan.Change{change(cloudplan.Create, "network/demo", true)}, nil, []kubeplan.Step{object})
	if flux.Executable() || !flux.Refused() || diag.CodeOf(notExecutable(flux)) != diag.Conflict || flux.Edited() != nil {
		t.Errorf("Flux looks after it: %v, %v", notExecutable(flux), flux.Edited())
	}
	object.Conflicts = []kubeplan.FieldConflict{{Manager: "kubectl-edit", Fields: []string{"data.x"}}}
	p := demoPlan([]cloudplan.Change{change(cloudplan.Create, "network/demo", true)}, nil, []kubeplan.Step{object})
	p.Nodes.Unreachable, p.Nodes.Warnings = []string{"demo-2"}, []plan.Note{{Key: "node/demo-2", Text: "it is not reached"}}
	if !p.Executable() || p.Refused() || p.Empty() {
		t.Errorf("somebody has edited it, and nothing can be done: %v", notExecutable(p))
	}
	if err := p.remains(); diag.CodeOf(err) != diag.NotReady || !strings.Contains(err.Error(), "fields of it are of others") || !strings.Contains(err.Error(), "it is not reached") {
		t.Errorf("what remains is %v", err)
	}
}
