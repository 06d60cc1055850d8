package health

import (
	"errors"
	"testing"

	"github.com/talosgen/talosgen/apply/internal/node"
)

// TestListMembers is the table of a cluster with one of everything.
func TestListMembers(t *testing.T) {
	f := wellFacts()
	for i := range 3 {
		f.Nodes[i].Etcd.Members = append(f.Nodes[i].Etcd.Members,
			node.Member{ID: 0xa4, Learner: true}, node.Member{ID: 0xa5, Hostname: "cp-\x1b5"})
		s := &f.Nodes[i].Etcd.Status
		s.Size, s.RaftIndex, s.Applied = 20_500_000, 120, 119
	}
	f.Nodes[1].Etcd.Status.Errors = []string{"memberID:162 alarm:NOSPACE"}
	f.Nodes[2].Etcd = Etcd{Err: errors.New("its etcd is Failed\n  hint")}
	f.Nodes = append(f.Nodes,
		Node{Name: "cp-4", ControlPlane: true, Err: errors.New("does not answer")},
		Node{Name: "cp-6", ControlPlane: true, Etcd: Etcd{Status: node.EtcdStatus{Member: 0xff}}})
	const want = `NODE      MEMBER  ROLE      SIZE     TERM  INDEX  APPLIED  REMARKS
-         a4      learner   -        -     -      -        no control plane answers for it
cp-1      a1      follower  20.5 MB  3     120    119
cp-2      a2      leader    20.5 MB  3     120    119      memberID:162 alarm:NOSPACE
cp-3      a3      ?         -        -     -      -        its etcd is Failed
cp-\x1b5  a5      ?         -        -     -      -        no control plane answers for it
cp-4      -       -         -        -     -      -        does not answer
cp-6      -       -         -        -     -      -        its etcd is no member of any list
`
	if got := ListMembers(f).String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestComplete: a quorum without one of its members is not all of etcd.
func TestComplete(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Facts)
		want   bool
	}{
		"well":            {func(*Facts) {}, true},
		"a node is down":  {func(f *Facts) { f.Nodes[1].Err = errors.New("does not answer") }, false},
		"its etcd is":     {func(f *Facts) { f.Nodes[1].Etcd.Err = errors.New("its etcd is Failed") }, false},
		"no member of it": {func(f *Facts) { f.Nodes = append(f.Nodes, Node{Name: "cp-4", ControlPlane: true}) }, false},
		"a member of another": {func(f *Facts) {
			for i := range 3 {
				f.Nodes[i].Etcd.Members = append(f.Nodes[i].Etcd.Members, node.Member{ID: 0xa5, Hostname: "cp-5"})
			}
		}, false},
	} {
		f := wellFacts()
		c.change(&f)
		if got := ListMembers(f).Complete(); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
