package review

import (
	"strings"
	"testing"

	"github.com/talosgen/talosgen/apply/plan"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	kubeplan "github.com/talosgen/talosgen/apply/plan/kube"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/apply/plan/nodes/nodeconfig"
)

// A node and its server are one, what is refused is not also counted as a change, and
// what takes consent is counted once. Friction 9.
func TestCounts(t *testing.T) {
	server := func(name string, action cloudplan.Action, class cloudplan.Class, allowed bool) cloudplan.Change {
		consent := map[bool]plan.ConsentKind{false: plan.ConsentDestroy}[allowed]
		return cloudplan.Change{Consent: consent, Key: cloudplan.KeyOf(cloudplan.KindServer, name), Kind: cloudplan.KindServer, Name: name, Action: action, Class: class, Allowed: allowed}
	}
	step := func(action nodeplan.Action, name string, allowed bool, changes ...nodeconfig.Change) nodeplan.Step {
		return nodeplan.Step{Action: action, Node: name, Role: nodeplan.Worker, Allowed: allowed, Changes: changes}
	}
	udev := nodeconfig.Change{Document: "v1alpha1", Path: "machine.udev", Action: nodeconfig.Add, To: "{}", Class: nodeconfig.Reboot}
	r := Review{
		Cluster: "prod", AtOnce: 2,
		Cloud: &cloudplan.Plan{Cluster: "prod", Changes: []cloudplan.Change{
			server("new", cloudplan.Create, cloudplan.InPlace, true), server("gone", cloudplan.Delete, cloudplan.InPlace, false),
			server("larger", cloudplan.Update, cloudplan.PowerOff, true), server("moved", cloudplan.Update, cloudplan.Refused, true),
		}, Refusals: []plan.Note{{Key: "server/moved", Text: "it cannot move"}}},
		Nodes: &nodeplan.Plan{Cluster: "prod", Steps: []nodeplan.Step{
			step(nodeplan.Configure, "new", true),
			step(nodeplan.Drain, "larger", true), step(nodeplan.Stage, "larger", true, udev), step(nodeplan.Reboot, "larger", true),
			step(nodeplan.Drain, "other", true), step(nodeplan.Stage, "other", true, udev), step(nodeplan.Reboot, "other", true),
			step(nodeplan.Drain, "gone", false), step(nodeplan.DeleteNode, "gone", false),
		}},
		Kubernetes: &kubeplan.Plan{Cluster: "prod", Steps: []kubeplan.Step{
			{Key: "ConfigMap/a/b", Action: kubeplan.Replace, Allowed: false}, {Key: "ConfigMap/a/c", Action: kubeplan.Unchanged, Allowed: true},
			{Key: "ConfigMap/a/d", Action: kubeplan.TransferOwnership, Allowed: true}, {Key: "ConfigMap/a/e", Action: kubeplan.Conflict, Allowed: true},
		}},
		Last: func(c cloudplan.Change) bool { return c.Action == cloudplan.Delete },
	}
	want := Counts{Add: 1, Change: 3, Replace: 1, Destroy: 1, Reboot: 2, PowerOff: 1, AtOnce: 2, NeedConsent: 2, Refused: 1, Conflicts: 1}
	if got := r.Counts(); got != want {
		t.Errorf("it is\n%+v, want\n%+v", got, want)
	}
	const line = "Plan: 1 to add, 3 to change in place, 1 to replace, 1 to destroy; 1 server is powered off; " +
		"2 nodes reboot, at most 2 workers at once; 2 need consent; 1 refused; 1 in conflict"
	text := r.String()
	if !strings.HasSuffix(text, line+"\n") {
		t.Errorf("the last line is not\n%s\nin\n%s", line, text)
	}
	// The node leaves before its server goes, and consent is asked for once.
	if drain, gone := strings.Index(text, "- node/gone"), strings.Index(text, "- server/gone"); drain < 0 || gone < drain || strings.Count(text, "--allow server/gone") != 1 || strings.Contains(text, "--allow gone") {
		t.Errorf("%s", text)
	}
	if len(r.Removals()) != 0 {
		t.Errorf("removals: %v", r.Removals())
	}
	// Without the infrastructure the name of the node is what consent is given to.
	r.Cloud = nil
	if got := r.Removals(); len(got) != 1 || got[0] != "gone" || !strings.Contains(r.String(), "--allow gone\n") {
		t.Errorf("removals: %v", got)
	}
}

// What one, two and more members of etcd mean is said in words.
func TestDisturbs(t *testing.T) {
	for voters, want := range map[int]string{
		0: "1 control plane node stops: whether etcd goes on is not known",
		1: "1 control plane node stops: no Kubernetes API and no etcd meanwhile; pods go on",
		2: "1 control plane node stops: etcd has no quorum meanwhile, so the Kubernetes API changes nothing; pods go on",
		3: "1 control plane node stops: etcd keeps its quorum, with 2 of 3 members",
	} {
		r := Review{Cluster: "prod", Nodes: &nodeplan.Plan{Cluster: "prod", Voters: voters, Steps: []nodeplan.Step{
			{Action: nodeplan.Stage, Node: "cp-1", Role: nodeplan.ControlPlane, Allowed: true},
			{Action: nodeplan.Reboot, Node: "cp-1", Role: nodeplan.ControlPlane, Allowed: true},
		}}}
		if text := r.String(); !strings.Contains(text, "disturbs:\n  "+want+"\n") {
			t.Errorf("%d members: %q is not in\n%s", voters, want, text)
		}
	}
}
