package apply

import (
	"context"
	"net"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/talosgen/talosgen/apply/internal/kube"
	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/apply/plan/lineage"
	"github.com/talosgen/talosgen/internal/diag"
)

// sysctl renders an environment with machines that have a setting.
func (s *site) sysctl(value string, names ...string) {
	s.more = []string{"  sysctls: {vm.swappiness: \"" + value + "\"}"}
	s.staticTree(names...)
}

// from says which commit the tree is from, and what Git says of it.
func (s *site) from(commit string, relation lineage.Relation) {
	s.past = &History{Commit: commit, Relation: func(context.Context, string) (lineage.Relation, error) { return relation, nil }}
}

// inKubernetes is the tree that the cluster's Kubernetes has recorded.
func (s *site) inKubernetes() lineage.Tree {
	s.Helper()
	session := s.session()
	var found lineage.Tree
	err := session.connect.kube.withNotes(s.Context(), 0, func(_ *kube.Client, notes map[string]string) error {
		found = treeOf(notes)
		return nil
	})
	if err != nil {
		s.Fatal(err)
	}
	return found
}

// configured counts how often a configuration was sent.
func (s *site) configured() (n int) {
	for _, c := range s.fleet.Calls() {
		if c.Method == "ApplyConfiguration" {
			n++
		}
	}
	return n
}

// refusesTree plans and applies, and wants the tree refused before anything is sent.
func (s *site) refusesTree(policy Policy, says string) {
	s.Helper()
	before := s.configured()
	p, _, err := s.apply(policy)
	if err == nil || !strings.Contains(err.Error(), says) || !p.Refused() || p.Nodes != nil || p.Kubernetes != nil {
		s.Errorf("%v\n%s", err, p)
	}
	if sent := s.configured() - before; sent > 0 {
		s.Errorf("%d configurations were sent", sent)
	}
}

// Machines that exist already: a cluster's own Kubernetes says which tree was applied
// last. One that is older, or may be, is not sent; consent by name is enough, and no
// other is.
func TestOlderTreeOfMachinesIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStaticSite(t, "cp-1", "worker-1")
		s.from(firstCommit, lineage.Unknown) // there is no record, so Git is not asked
		s.mustApply(Policy{})
		if now := s.inKubernetes(); now.Commit != firstCommit || len(now.Seal) != sealDigits {
			t.Fatalf("recorded: %+v", now)
		}
		s.sysctl("10", "cp-1", "worker-1")
		s.from(secondCommit, lineage.Newer)
		s.mustApply(Policy{})
		if now := s.inKubernetes(); now.Commit != secondCommit {
			t.Fatalf("recorded: %+v", now)
		}

		s.sysctl("20", "cp-1", "worker-1")
		all := Policy{Consent: plan.Consent{AllowDestroy: true, AllowPowerOff: true, Allow: []string{"cp-1", "node/cp-1", "node/worker-1", "rendered/dev"}}}
		s.from(firstCommit, lineage.Older)
		s.refusesTree(all, "commit 111111111111 is older than commit 222222222222, which was applied")
		s.from(firstCommit, lineage.Unknown)
		s.refusesTree(all, "cannot be told: Git here does not know that commit")
		if err := s.session().CheckTree(t.Context()); err == nil || !strings.Contains(err.Error(), "cannot be told") {
			t.Errorf("a node would be taken out: %v", err)
		}

		s.from(firstCommit, lineage.Older)
		s.mustApply(Policy{Consent: plan.Consent{Allow: []string{lineage.Consent}}})
		if now := s.inKubernetes(); now.Commit != firstCommit {
			t.Errorf("after consent: %+v", now)
		}
		s.from(firstCommit, lineage.Unknown)
		if p, _ := s.mustApply(Policy{}); !p.Empty() {
			t.Errorf("the record is a difference:\n%s", p)
		}
	})
}

// Between the plan and the lock somebody applies what is newer.
func TestOlderTreeOfMachinesUnderTheLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStaticSite(t, "cp-1")
		s.from(firstCommit, lineage.Unknown)
		s.mustApply(Policy{})
		s.sysctl("10", "cp-1")
		s.from(secondCommit, lineage.Newer)
		session := s.session()
		p, err := session.Plan(t.Context(), Policy{})
		if err != nil || !p.Executable() || p.Empty() {
			t.Fatalf("%v\n%s", err, p)
		}
		session.record.(*clusterRecord).history.Relation = func(context.Context, string) (lineage.Relation, error) { return lineage.Older, nil }
		before := s.configured()
		_, err = session.Apply(t.Context(), p, Policy{}, s.owner())
		if diag.CodeOf(err) != diag.Conflict || !strings.Contains(err.Error(), "is older than commit") || s.configured() != before {
			t.Errorf("%v", err)
		}
		if h := s.holder(); h != "" {
			t.Errorf("held by %q afterwards", h)
		}
	})
}

// An API that does not say what was applied is not one that has no record: nothing
// is sent to nodes that live, unless somebody agrees.
func TestRecordOfMachinesThatCannotBeRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStaticSite(t, "cp-1", "worker-1")
		s.from(firstCommit, lineage.Unknown)
		s.mustApply(Policy{})
		s.sysctl("10", "cp-1", "worker-1")
		s.from(secondCommit, lineage.Newer)
		broken := func(p Policy) (*Plan, error) {
			session := s.session()
			dial := session.connect.reach.dial
			session.connect.reach.dial = func(ctx context.Context, address string) (net.Conn, error) {
				if strings.HasSuffix(address, ":"+apiPort) {
					return nil, &net.OpError{Op: "dial", Err: context.DeadlineExceeded}
				}
				return dial(ctx, address)
			}
			return session.Plan(t.Context(), p)
		}
		p, err := broken(Policy{Stages: []Stage{stageNodes}})
		if err != nil || p.Executable() || p.Nodes != nil || !strings.Contains(p.String(), "the Kubernetes API, which keeps it, does not say") {
			t.Errorf("%v\n%s", err, p)
		}
		p, err = broken(Policy{Stages: []Stage{stageNodes}, Consent: plan.Consent{Allow: []string{lineage.Consent}}})
		if err != nil || !p.Executable() || len(p.Nodes.Steps) != 2 || !strings.Contains(p.String(), "you have agreed to it") {
			t.Errorf("with consent: %v\n%s", err, p)
		}

		// Nobody keeps it who can be asked, and a worker would get what is in the tree.
		s.fleet.Machine("cp-1").PowerOff()
		s.refusesTree(Policy{}, "no control plane can be used, and they keep it")
	})
}

// A tree that is in no commit leaves the commit of the one before. What somebody
// else writes to the inventory is not touched, nor is the record by what is written
// to the inventory.
func TestNotesBesideTheInventory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStaticSite(t, "cp-1")
		s.from(firstCommit, lineage.Unknown)
		s.mustApply(Policy{})
		first := s.inKubernetes()
		s.sysctl("10", "cp-1")
		s.from("", lineage.Unknown)
		p, _ := s.mustApply(Policy{})
		if now := s.inKubernetes(); now.Commit != firstCommit || now.Seal == first.Seal {
			t.Errorf("recorded: %+v, before %+v", now, first)
		}
		if !strings.Contains(p.String(), "is not known: it is not committed as it is") {
			t.Errorf("nothing is said:\n%s", p)
		}
	})
}
