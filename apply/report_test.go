package apply

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/talosgen/talosgen/apply/internal/health"
	"github.com/talosgen/talosgen/apply/plan"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	kubeplan "github.com/talosgen/talosgen/apply/plan/kube"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/apply/plan/nodes/nodeconfig"
	"github.com/talosgen/talosgen/apply/summary"
)

// demoCommands write commands as a shell has them.
var demoCommands = summary.Commands{
	Again: func(more ...string) string {
		return strings.Join(append([]string{"talosgen apply demo --yes"}, more...), " ")
	},
	Of: func(name string, more ...string) string {
		return strings.Join(append([]string{"talosgen", name, "demo"}, more...), " ")
	},
}

func change(action cloudplan.Action, key plan.Key, allowed bool) cloudplan.Change {
	return cloudplan.Change{Action: action, Key: key, Kind: cloudplan.Kind(strings.Split(string(key), "/")[0]), Allowed: allowed}
}

func step(action nodeplan.Action, node string, allowed bool) nodeplan.Step {
	return nodeplan.Step{Key: plan.Key(string(action) + "/" + node), Action: action, Node: node, Allowed: allowed}
}

// demoPlan is a plan of all sections.
func demoPlan(changes []cloudplan.Change, steps []nodeplan.Step, objects []kubeplan.Step) *Plan {
	return &Plan{
		Plan:  &cloudplan.Plan{Cluster: "demo", Changes: changes},
		Nodes: &nodeplan.Plan{Cluster: "demo", Steps: steps}, Kubernetes: &kubeplan.Plan{Cluster: "demo", API: true, Steps: objects},
	}
}

// oldVersions is the status of two nodes with an older Talos, one of them with an
// older Kubernetes.
func oldVersions() *Status {
	s := &Status{Objects: &kubeplan.Plan{}, Nodes: []NodeStatus{
		{Name: "demo-1", Wanted: true, Registered: true, Ready: true, Talos: "v1.13.9", WantTalos: "v1.14.1", Kubelet: "v1.36.3", Want: "v1.36.4"},
		{Name: "demo-2", Wanted: true, Registered: true, Ready: true, Talos: "v1.13.9", WantTalos: "v1.14.1", Kubelet: "v1.36.4", Want: "v1.36.4"},
	}}
	s.differences(time.Time{}, nil)
	return s
}

func TestReport(t *testing.T) {
	network, server := change(cloudplan.Create, "network/demo", true), change(cloudplan.Create, "server/demo-1", true)
	image := change(cloudplan.Create, "image/talos", true)
	configure, boot := step(nodeplan.Configure, "demo-1", true), step(nodeplan.Bootstrap, nodeplan.Etcd, true)
	cni := kubeplan.Step{Key: "DaemonSet/kube-system/cilium", Action: kubeplan.Create, Stage: kubeplan.CNI, Allowed: true}
	source := kubeplan.Step{Key: "GitRepository/flux-system/talosgen", Action: kubeplan.Create, Stage: kubeplan.Sources, Allowed: true}
	edited := kubeplan.Step{
		Key: "ConfigMap/kube-system/ccm", Action: kubeplan.Conflict, Stage: kubeplan.Provider, Allowed: true, Reason: "fields of it are of kubectl-edit",
		Conflicts: []kubeplan.FieldConflict{{Manager: "kubectl-edit", Fields: []string{"data.x"}}},
	}
	upgradeLeft := demoPlan(nil, nil, nil)
	upgradeLeft.Nodes.Upgrade = &nodeplan.Upgrade{Talos: &nodeplan.Move{From: "1.13.9", To: "1.14.1", Nodes: 2, ControlPlanes: 1}}
	whole := func() *Plan {
		return demoPlan([]cloudplan.Change{network, image, server}, []nodeplan.Step{configure, boot}, []kubeplan.Step{cni, source})
	}
	priced := func(p *Plan, before, after string) *Plan {
		p.Cost = cloudplan.Cost{Currency: "EUR", Lines: []cloudplan.CostLine{{}}, Before: cloudplan.Price{Net: before, Gross: before}, After: cloudplan.Price{Net: after, Gross: after}}
		return p
	}
	for name, test := range map[string]struct {
		report Report
		err    error
		want   string
	}{
		"nothing to do": {
			report: Report{Agreed: demoPlan(nil, nil, nil), Left: demoPlan(nil, nil, nil)},
			want:   "demo: nothing to do (1.0 s)\n",
		},
		"all stages": {
			report: Report{
				Agreed: priced(whole(), "0", "2.5"), Left: priced(demoPlan(nil, nil, nil), "2.5", "2.5"),
				Done: []cloudplan.Change{network, image, server}, Steps: []nodeplan.Step{configure, boot}, Objects: []kubeplan.Step{cni, source},
			},
			want: `demo: done in 1.0 s
  infrastructure  2 created: network/demo, server/demo-1
  images          1 created: image/talos
  nodes           1 configured: demo-1
  bootstrap       1 bootstrapped: etcd
  kubernetes      1 created: DaemonSet/kube-system/cilium
  flux            1 created: GitRepository/flux-system/talosgen
cost of a month: 0.00 -> 2.50 EUR net, 0.00 -> 2.50 gross
next:
  talosgen kubeconfig demo
      access to the new cluster, for kubectl
`,
		},
		"Flux is for somebody else to install": {
			report: Report{
				Agreed: demoPlan([]cloudplan.Change{network}, nil, nil), Done: []cloudplan.Change{network},
				Left: demoPlan(nil, nil, []kubeplan.Step{{Key: "Secret/flux-system/sops-age", Action: kubeplan.Blocked, Stage: kubeplan.Keys,
					Reason: "there is no namespace flux-system, and the tree does not make it: Flux is not installed yet"}}),
			},
			want: `demo: done in 1.0 s
  infrastructure  1 created: network/demo
pending:
  Secret/flux-system/sops-age: there is no namespace flux-system, and the tree
    does not make it: Flux is not installed yet; run this again when that is
    there
`,
		},
		"an error before the later stages": {
			report: Report{Agreed: whole(), Done: []cloudplan.Change{network}, Left: &Plan{Plan: &cloudplan.Plan{Changes: []cloudplan.Change{server}}}},
			err:    errors.New("broken"),
			want: `demo: failed after 1.0 s; what was done stays
  infrastructure  1 created: network/demo
left to do:
  infrastructure  1 to create: server/demo-1
  nodes           1 to configure: demo-1
  bootstrap       1 to bootstrap: etcd
  kubernetes      1 to create: DaemonSet/kube-system/cilium
  flux            1 to create: GitRepository/flux-system/talosgen
next:
  talosgen apply demo --yes
      goes on where this run stopped
`,
		},
		"an error before anything was done": {
			report: Report{Agreed: demoPlan([]cloudplan.Change{network}, nil, nil)},
			err:    errors.New("broken"),
			want: `demo: failed after 1.0 s
left to do:
  infrastructure  1 to create: network/demo
next:
  talosgen apply demo --yes
      goes on where this run stopped
`,
		},
		"interrupted": {
			report: Report{Agreed: demoPlan([]cloudplan.Change{network, server}, nil, nil), Done: []cloudplan.Change{network}},
			err:    context.Canceled,
			want: `demo: interrupted after 1.0 s; what was done stays
  infrastructure  1 created: network/demo
left to do:
  infrastructure  1 to create: server/demo-1
next:
  talosgen apply demo --yes
      goes on where this run stopped
`,
		},
		"consent is missing": {
			report: Report{Agreed: demoPlan([]cloudplan.Change{change(cloudplan.Delete, "server/demo-2", false)}, []nodeplan.Step{step(nodeplan.DeleteNode, "demo-2", false)},
				[]kubeplan.Step{{Key: "Job/default/a", Action: kubeplan.Replace}})},
			err: errors.New("it needs consent"),
			want: `demo: nothing was changed
left to do:
  infrastructure  1 to delete: server/demo-2
  nodes           1 to delete-node: demo-2
  kubernetes      1 to replace: Job/default/a
next:
  talosgen apply demo --yes --allow server/demo-2 --allow Job/default/a
      agrees to what needs consent
`,
		},
		"refused": {
			report: Report{Agreed: &Plan{Plan: &cloudplan.Plan{Changes: []cloudplan.Change{change(cloudplan.Delete, "server/demo-2", false)}, Refusals: []plan.Note{{Key: "server/demo-1"}}}}},
			err:    errors.New("it must not be done"),
			want:   "demo: nothing was changed\nleft to do:\n  infrastructure  1 to delete: server/demo-2\n",
		},
		"nodes that must not be taken out": {
			report: Report{refused: true},
			err:    errors.New("it must not be removed"),
			want:   "demo: nothing was changed\n",
		},
		"what dead runs left could not be removed": {
			report: Report{Agreed: demoPlan(nil, nil, nil), Left: &Plan{Plan: &cloudplan.Plan{}, Nodes: &nodeplan.Plan{
				Unreachable: []string{"demo-2"}, Warnings: []plan.Note{{Key: "node/demo-2", Text: "it is not reached"}},
			}}},
			err: errors.New("Hetzner refuses"),
			want: `demo: failed after 1.0 s
pending:
  node demo-2: it is not reached
next:
  talosgen apply demo --yes
      goes on where this run stopped
`,
		},
		"nodes are away, and versions held": {
			report: Report{ended: true, Agreed: demoPlan(nil, nil, nil), Left: &Plan{Plan: &cloudplan.Plan{}, Nodes: &nodeplan.Plan{
				Unreachable: []string{"demo-2"},
				Warnings:    []plan.Note{{Key: "node/demo-2", Text: "it is not reached", Hint: "see its console"}, {Key: "node/demo-3", Text: "its change needs a reboot, and is left"}},
				Held: []nodeplan.Held{{Node: "demo-1", Change: nodeconfig.Change{
					Action: nodeconfig.Update, Document: "KubeletConfig", Path: "image", From: "kubelet:v1.36.3", To: "kubelet:v1.36.4", Class: nodeconfig.Upgrade, Reason: "the running version is held",
				}}},
			}}},
			err: errors.New("node demo-2: it is not reached"),
			want: `demo: nothing to do (1.0 s)
pending:
  node demo-1: ~ KubeletConfig image: kubelet:v1.36.3 -> kubelet:v1.36.4 (the
    running version is held)
  node demo-2: it is not reached; see its console
  node demo-3: its change needs a reboot, and is left
next:
  talosgen health demo
      says more about the nodes
`,
		},
		"staged": {
			report: Report{Agreed: demoPlan(nil, nil, nil), Left: demoPlan(nil, nil, nil), Steps: []nodeplan.Step{step(nodeplan.Stage, "demo-1", true)}},
			want: `demo: done in 1.0 s
  nodes  1 staged: demo-1
pending:
  node demo-1: its configuration is staged, and takes effect when it reboots
next:
  talosgen apply demo
      reboots the nodes one after the other, instead of you
`,
		},
		"verified": {
			report: Report{Agreed: demoPlan(nil, nil, nil), Left: demoPlan(nil, nil, nil), Steps: []nodeplan.Step{configure}, verified: verified{
				health: &health.Report{Results: []health.Result{
					{Check: health.Services, Node: "demo-1", State: health.Failed, Text: "kubelet is not healthy"},
					{Check: health.Quorum, State: health.OK},
					{Check: health.Ready, Node: "demo-1", State: health.Failed, Text: "no network"},
				}},
				status: &Status{Differences: []string{"node demo-1 is not ready: no network", "Kustomization flux-system/talosgen is not ready: artifact not found"}},
			}},
			want: `demo: done in 1.0 s
  nodes  1 configured: demo-1
pending:
  node demo-1: services healthy: kubelet is not healthy
  node demo-1 is not ready: no network
  Kustomization flux-system/talosgen is not ready: artifact not found
next:
  talosgen health demo --wait 10m
      waits until the cluster is healthy
  talosgen status demo
      says how far Kubernetes and Flux are
`,
		},
		"an upgrade is pending": {
			report: Report{Agreed: demoPlan(nil, nil, nil), Left: upgradeLeft, Steps: []nodeplan.Step{configure}, verified: verified{status: oldVersions()}},
			want: `demo: done in 1.0 s
  nodes  1 configured: demo-1
pending:
  cluster: talos v1.13.9 -> v1.14.1 on 2 nodes (1 control plane) waits for an
    upgrade; apply keeps the versions that run; to upgrade: talosgen upgrade
    (docs/how-to/upgrade.md)
  node demo-1 runs Kubernetes v1.36.3, Git has v1.36.4 (docs/how-to/upgrade.md)
next:
  talosgen upgrade demo --plan
      shows how the nodes get the versions that Git has
  talosgen status demo
      says how far Kubernetes and Flux are
`,
		},
		"what could not be looked at": {
			report: Report{Agreed: demoPlan(nil, nil, nil), Left: demoPlan(nil, nil, nil), Steps: []nodeplan.Step{configure}, verified: verified{
				unseen: map[string]error{"status": errors.New("no answer"), "health": nil},
			}},
			want: `demo: done in 1.0 s
  nodes  1 configured: demo-1
pending:
  the status of the cluster could not be looked at: no answer
next:
  talosgen status demo
      says how far Kubernetes and Flux are
`,
		},
		"others have edited an object": {
			report: Report{
				ended: true, Agreed: demoPlan(nil, nil, []kubeplan.Step{cni}), Objects: []kubeplan.Step{cni},
				Left: demoPlan(nil, nil, []kubeplan.Step{edited, {
					Key: "Deployment.apps/kube-system/ccm", Action: kubeplan.Blocked, After: edited.Key, Allowed: true, Reason: "until the conflict of ConfigMap/kube-system/ccm is over",
				}}),
			},
			err: errors.New("ConfigMap/kube-system/ccm: fields of it are of kubectl-edit"),
			want: `demo: done in 1.0 s
  kubernetes  1 created: DaemonSet/kube-system/cilium
pending:
  ConfigMap/kube-system/ccm: fields of it are of kubectl-edit
  Deployment.apps/kube-system/ccm: it waits until the conflict of
    ConfigMap/kube-system/ccm is over
next:
  talosgen takeover demo --plan
      says which fields talosgen could take over, to be as in Git again
`,
		},
		"an edited object, and consent is missing": {
			report: Report{Agreed: demoPlan([]cloudplan.Change{change(cloudplan.Delete, "server/demo-2", false)}, nil, []kubeplan.Step{edited})},
			err:    errors.New("it needs consent"),
			want: `demo: nothing was changed
left to do:
  infrastructure  1 to delete: server/demo-2
next:
  talosgen apply demo --yes --allow server/demo-2
      agrees to what needs consent
`,
		},
		"what the cluster made": {
			report: Report{Agreed: demoPlan(nil, nil, nil), Left: &Plan{Plan: &cloudplan.Plan{Left: []plan.Note{{Key: "volume/pvc-1", Text: "the CSI driver made it", Hint: "--allow-made"}}}}},
			want:   "demo: nothing to do (1.0 s)\npending:\n  volume/pvc-1: the CSI driver made it; --allow-made\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := test.report
			r.cluster, r.requestsLeft, r.Stages = "demo", -1, []summary.Stage{{Stage: "observe", Took: time.Second}}
			if got := r.Summary(test.err, demoCommands).String(); got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

// TestReportWithoutCommands is for whoever has nothing to go on with.
func TestReportWithoutCommands(t *testing.T) {
	r := Report{Agreed: demoPlan([]cloudplan.Change{change(cloudplan.Create, "network/demo", true)}, nil, nil)}
	if s := r.Summary(context.Canceled, summary.Commands{}); len(s.Next) > 0 || s.Next == nil || s.Outcome != "interrupted" {
		t.Errorf("%+v", s)
	}
}
