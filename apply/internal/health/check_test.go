package health

import (
	"errors"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/apply/internal/node"
)

// member ids of the control planes of [wellFacts].
const (
	first node.MemberID = iota + 0xa1
	second
	third
)

// wellFacts are those of three control planes and a worker that are well.
func wellFacts() Facts {
	var f Facts
	members := []node.Member{{ID: first, Hostname: "cp-1"}, {ID: second, Hostname: "cp-2"}, {ID: third, Hostname: "cp-3"}}
	for i, name := range []string{"cp-1", "cp-2", "cp-3", "w-1"} {
		n := Node{Name: name, ControlPlane: name != "w-1", Version: "v1.14.1", Status: node.Status{Stage: node.StageRunning}}
		for _, s := range []string{"apid", "containerd", "etcd", "kubelet", "machined", "trustd"} {
			if n.ControlPlane || s != "etcd" && s != "trustd" {
				n.Services = append(n.Services, node.Service{Name: s, State: "Running", Checked: true, Healthy: true})
			}
		}
		if n.ControlPlane {
			n.Etcd = Etcd{Members: append([]node.Member(nil), members...), Status: node.EtcdStatus{Member: members[i].ID, Leader: second, RaftTerm: 3}}
		}
		f.Nodes = append(f.Nodes, n)
		f.Kubernetes.Nodes = append(f.Kubernetes.Nodes, KubeNode{Name: name, Ready: true})
	}
	return f
}

func (f *Facts) unmet(i int, name, reason string) {
	f.Nodes[i].Status.State.Unmet = append(f.Nodes[i].Status.State.Unmet, node.Unmet{Name: name, Reason: reason})
}

func (f *Facts) set(i int, service string, change func(*node.Service)) {
	for j := range f.Nodes[i].Services {
		if f.Nodes[i].Services[j].Name == service {
			change(&f.Nodes[i].Services[j])
		}
	}
}

// loseNetwork is a cluster without a CNI.
func loseNetwork(f *Facts) {
	for i := range f.Kubernetes.Nodes {
		f.Kubernetes.Nodes[i].Ready, f.Kubernetes.Nodes[i].NoNetwork = false, true
		f.Kubernetes.Nodes[i].Message = "cni plugin not initialized"
	}
}

var errAway = errors.New("node cp-3: read its version: does not answer\n  is it running?")

// TestCheck changes one thing of a cluster that is well: what is not ok then.
func TestCheck(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*Facts)
		except string
		want   []string
	}{
		{"well", func(*Facts) {}, "", nil},
		{"a node does not answer", func(f *Facts) { f.Nodes[3] = Node{Name: "w-1", Err: errAway} }, "", []string{
			"failed: node reached: w-1: node cp-3: read its version: does not answer"}},
		{"a node that does not count", func(f *Facts) { f.Nodes[3] = Node{Name: "w-1", Err: errAway} }, "w-1", nil},
		{"a node still boots", func(f *Facts) { f.Nodes[0].Status.Stage = node.StageBooting }, "", []string{
			"failed: stage running: cp-1: it is booting"}},
		{"a clock is wrong", func(f *Facts) { f.unmet(1, "time", "time is not synced") }, "", []string{
			"failed: time in sync: cp-2: time is not synced"}},
		{"a static pod is not ready", func(f *Facts) { f.unmet(1, "staticPods", "kube-system/kube-apiserver-cp-2 not ready") }, "", []string{
			"failed: control plane pods ready: cp-2: kube-system/kube-apiserver-cp-2 not ready"}},
		{"the network is not ready", func(f *Facts) { f.unmet(3, "network", "waiting on: hostname") }, "", []string{
			"failed: network ready: w-1: waiting on: hostname"}},
		{"a service fails its check", func(f *Facts) {
			f.set(3, "kubelet", func(s *node.Service) { s.Healthy, s.Message = false, "connection\nrefused" })
		}, "", []string{"failed: services healthy: w-1: kubelet is not healthy (connection refused)"}},
		{"a service is not up", func(f *Facts) { f.set(3, "containerd", func(s *node.Service) { s.State = "Failed" }) }, "", []string{
			"failed: services healthy: w-1: containerd is Failed"}},
		{"a service without a check", func(f *Facts) {
			f.set(3, "machined", func(s *node.Service) { s.Checked, s.Healthy = false, false })
		}, "", nil},
		{"a service that was to run once", func(f *Facts) { f.set(3, "containerd", func(s *node.Service) { s.State = "Finished" }) }, "", nil},
		{"a service that must run has ended", func(f *Facts) { f.set(3, "kubelet", func(s *node.Service) { s.State = "Finished" }) }, "", []string{
			"failed: services healthy: w-1: kubelet is Finished"}},
		{"a service is missing", func(f *Facts) { f.Nodes[3].Services = f.Nodes[3].Services[1:] }, "", []string{
			"failed: services healthy: w-1: apid is missing"}},
		{"no etcd anywhere", func(f *Facts) {
			for i := range 3 {
				f.Nodes[i].Etcd = Etcd{Err: errors.New("its etcd is Preparing")}
			}
		}, "", []string{"failed: etcd quorum: no control plane can be asked: cp-1: its etcd is Preparing"}},
		{"one member is dead", func(f *Facts) { f.Nodes[2] = Node{Name: "cp-3", ControlPlane: true, Err: errAway} }, "cp-3", nil},
		{"two members are dead", func(f *Facts) {
			f.Nodes[2] = Node{Name: "cp-3", ControlPlane: true, Err: errAway}
			f.Nodes[1].Etcd = Etcd{Err: errors.New("its etcd is Failed")}
		}, "cp-3", []string{
			"failed: etcd quorum: 1 of 3 members are healthy, 2 are needed",
			"failed: etcd members agree: cp-2: it cannot be asked: its etcd is Failed"}},
		{"members without a leader", func(f *Facts) {
			f.Nodes[0].Etcd.Status.Leader = 0
			f.Nodes[1].Etcd.Status.Leader = 0
		}, "", []string{
			"failed: etcd quorum: 1 of 3 members are healthy, 2 are needed", "failed: etcd leader: cp-1 sees none"}},
		{"two leaders", func(f *Facts) { f.Nodes[2].Etcd.Status.Leader = third }, "", []string{
			"failed: etcd leader: cp-1 sees a2, and cp-3 sees a3"}},
		{"two terms", func(f *Facts) { f.Nodes[2].Etcd.Status.RaftTerm = 4 }, "", []string{
			"failed: etcd leader: cp-1 is in term 3, and cp-3 in term 4"}},
		{"lists differ", func(f *Facts) { f.Nodes[1].Etcd.Members = f.Nodes[1].Etcd.Members[:2] }, "", []string{
			"failed: etcd members agree: cp-1 has cp-1, cp-2, cp-3, and cp-2 has cp-1, cp-2"}},
		{"a member without a vote", func(f *Facts) {
			for i := range 3 {
				f.Nodes[i].Etcd.Members[2].Learner = true
			}
		}, "", []string{"failed: etcd members are control planes: cp-3 has no vote yet"}},
		{"a control plane without a member", func(f *Facts) {
			f.Nodes = append(f.Nodes, Node{Name: "cp-4", ControlPlane: true, Err: errAway})
		}, "", []string{
			"failed: node reached: cp-4: node cp-3: read its version: does not answer",
			"failed: etcd members are control planes: cp-4 has no member",
			"failed: Kubernetes nodes registered: cp-4: Kubernetes does not know it"}},
		{"a member of nobody", func(f *Facts) { f.Nodes = append(f.Nodes[:2], f.Nodes[3]) }, "", []string{
			"failed: etcd members are control planes: member a3 (cp-3) belongs to no control plane"}},
		{"a member that is to go", func(f *Facts) { f.Nodes = append(f.Nodes[:2], f.Nodes[3]) }, "cp-3", nil},
		{"a member of an earlier node of the same name", func(f *Facts) { f.Nodes[2].Etcd.Status.Member = 0xff }, "", []string{
			"failed: etcd members are control planes: cp-3 has no member, member a3 (cp-3) belongs to no control plane"}},
		{"an alarm", func(f *Facts) { f.Nodes[1].Etcd.Status.Errors = []string{"memberID:162 alarm:NOSPACE"} }, "", []string{
			"failed: etcd alarms: cp-2: memberID:162 alarm:NOSPACE"}},
		{"the API is silent", func(f *Facts) {
			f.Kubernetes = Kubernetes{Err: errors.New("192.0.2.1:6443: refuses connections\n  hint")}
		}, "", []string{
			"failed: Kubernetes API: 192.0.2.1:6443: refuses connections"}},
		{"a node is not registered", func(f *Facts) { f.Kubernetes.Nodes = f.Kubernetes.Nodes[:3] }, "", []string{
			"failed: Kubernetes nodes registered: w-1: Kubernetes does not know it"}},
		{"a node is not ready", func(f *Facts) { f.Kubernetes.Nodes[3] = KubeNode{Name: "w-1", Message: "kubelet\nis \x1b[1mill"} }, "", []string{
			"failed: Kubernetes nodes ready: w-1: kubelet is \\x1b[1mill"}},
		{"there is no CNI", loseNetwork, "", []string{"skipped: Kubernetes nodes ready: there is no CNI yet: no node can be ready"}},
		{"there is no CNI, and one is ill besides", func(f *Facts) {
			loseNetwork(f)
			f.Kubernetes.Nodes[3].NoNetwork = false
		}, "", []string{
			"failed: Kubernetes nodes ready: cp-1: cni plugin not initialized",
			"failed: Kubernetes nodes ready: cp-2: cni plugin not initialized",
			"failed: Kubernetes nodes ready: cp-3: cni plugin not initialized",
			"failed: Kubernetes nodes ready: w-1: cni plugin not initialized"}},
		{"the CNI fails on one", func(f *Facts) {
			f.Kubernetes.Nodes[3] = KubeNode{Name: "w-1", NoNetwork: true, Message: "cni plugin not initialized"}
		}, "", []string{"failed: Kubernetes nodes ready: w-1: cni plugin not initialized"}},
		{"a node is cordoned", func(f *Facts) { f.Kubernetes.Nodes[3].Cordoned = true }, "", []string{
			"warning: Kubernetes nodes ready: w-1: it is cordoned: no pods are placed on it"}},
		{"an upgrade goes on", func(f *Facts) { f.Nodes[3].Version = "v1.13.9" }, "", []string{
			"warning: Talos versions: several: v1.13.9 on w-1; v1.14.1 on cp-1, cp-2, cp-3"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := wellFacts()
			test.change(&f)
			report := Check(f, test.except)
			var got []string
			for _, r := range report.Results {
				if r.State != OK {
					got = append(got, string(r.State)+": "+r.String())
				}
			}
			if strings.Join(got, "\n") != strings.Join(test.want, "\n") {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
			failed := strings.Contains(strings.Join(test.want, "\n"), "failed: ")
			if report.Well() == failed || (len(report.Failures()) == 0) == failed {
				t.Errorf("well: %v", report.Well())
			}
		})
	}
}

// TestReport is the table that people see.
func TestReport(t *testing.T) {
	f := wellFacts()
	f.Nodes[3].Status.Stage = "rebooting"
	f.unmet(0, "time", "time is not synced")
	loseNetwork(&f)
	const want = `STATE    CHECK                            NODE      DETAIL
ok       node reached                     all 4
failed   stage running                    w-1       it is rebooting
ok       stage running                    3 others
failed   time in sync                     cp-1      time is not synced
ok       time in sync                     2 others
ok       network ready                    all 3
ok       services healthy                 all 4
ok       etcd quorum                      -         3 of 3 members are healthy, 2 are needed
ok       etcd members agree               -         cp-1, cp-2, cp-3
ok       etcd members are control planes  -
ok       etcd leader                      -         cp-2
ok       etcd alarms                      -         none
ok       control plane pods ready         all 3
ok       Kubernetes API                   -
ok       Kubernetes nodes registered      all 4
skipped  Kubernetes nodes ready           -         there is no CNI yet: no node can be ready
ok       Talos versions                   -         v1.14.1
`
	if got := Check(f).String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
