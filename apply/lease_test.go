package apply

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/sim/talossim"
	"github.com/talosgen/talosgen/schemas"
)

const staticHead = `apiVersion: talosgen.dev/v1alpha1
cluster: demo
provider: static
kubernetesApi: {endpoint: "https://10.0.0.10:6443", tlsServerName: kubernetes.default.svc, certSans: []}
access: {mode: direct}
machines:
`

// newStaticSite is a site with machines that exist already, in maintenance mode.
func newStaticSite(t *testing.T, names ...string) *site {
	t.Helper()
	s := newSite(t)
	s.static = true
	for i, name := range names {
		s.fleet.Add(talossim.Spec{Name: name, Public: []string{fmt.Sprintf("192.0.2.%d", i+1)}, Installed: true}).PowerOn()
	}
	if err := s.fleet.Clock().Sleep(t.Context(), time.Minute); err != nil {
		t.Fatal(err)
	}
	s.staticTree(names...)
	return s
}

// staticTree renders an environment with these machines.
func (s *site) staticTree(names ...string) {
	s.Helper()
	files := map[string]string{"rules.yaml": s.ops.encrypted(s.TB, "rules.yaml", "", "a", canaryToken)}
	infra := staticHead
	for i, name := range names {
		role, config := "worker", s.keys.Worker(name, s.more...)
		if strings.HasPrefix(name, "cp") {
			role, config = "controlplane", s.keys.ControlPlane(name, s.more...)
		}
		infra += fmt.Sprintf("  - {name: %s, role: %s, pool: x, match: {}, address: 192.0.2.%d/24, installDisk: \"\"}\n", name, role, i+1)
		files["nodes/"+name+".yaml"] = config
	}
	files[schemas.InfrastructureFile] = infra
	env, err := s.ops.open(s.TB, s.ops.sealed(s.TB, files))
	if err != nil {
		s.Fatal(err)
	}
	s.env = env
}

// holder is whom the Lease of the cluster names.
func (s *site) holder() string {
	lease := s.fleet.Kubernetes("cp-1").Get("Lease", "kube-system", "demo-apply-lock")
	spec, _ := lease["spec"].(map[string]any)
	return fmt.Sprint(spec["holderIdentity"])
}

// TestStaticLock: machines that exist already have a lock as soon as their
// Kubernetes serves; before, a run says that it has none.
func TestStaticLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStaticSite(t, "cp-1", "worker-1")
		s.mustApply(Policy{})
		if reported := s.told.String(); !strings.Contains(reported, "lock lock note no Kubernetes API answers that could keep it") {
			t.Errorf("told\n%s", reported)
		}
		s.more = []string{"  sysctls: {vm.swappiness: \"10\"}"}
		s.staticTree("cp-1", "worker-1")
		s.told.Reset()
		_, r := s.mustApply(Policy{})
		if steps := stepNames(r); strings.Count(steps, "configure") != 2 || strings.Contains(s.told.String(), "lock note") {
			t.Errorf("%s\n%s", steps, s.told.String())
		}
		if h := s.holder(); h != "" {
			t.Errorf("held by %q afterwards", h)
		}

		// While a run has it, others are refused, and may look who has it.
		s.more = nil
		s.staticTree("cp-1", "worker-1")
		ann, bob := s.session(), s.session()
		err := ann.lock.locked(t.Context(), Owner{Name: "ann@desk", Run: "x1"}, func() error {
			if _, _, err := s.apply(Policy{}); diag.CodeOf(err) != diag.Conflict || !strings.Contains(err.Error(), "lock demo-apply-lock: ann@desk holds it") || !strings.HasSuffix(err.Error(), "talosgen unlock demo") {
				t.Errorf("beside another run: (%d) %v", diag.CodeOf(err), err)
			}
			if h, err := bob.Holder(t.Context()); err != nil || h == nil || h.Owner != "ann@desk" || h.Run != "x1" {
				t.Errorf("held by %+v (%v)", h, err)
			}
			if h, err := bob.Unlock(t.Context()); err != nil || h == nil || s.holder() != "" {
				t.Errorf("freed from %+v (%v), held by %q", h, err, s.holder())
			}
			s.mustApply(Policy{})
			if err := s.fleet.Clock().Sleep(t.Context(), 10*time.Minute); err != nil {
				return err
			}
			return ann.lock.held.keep(t.Context())
		})
		if diag.CodeOf(err) != diag.Conflict || !strings.Contains(err.Error(), "this run does not hold it any more") {
			t.Errorf("after it was freed: %v", err)
		}

		// With the control plane away nobody can be asked.
		s.fleet.Machine("cp-1").PowerOff()
		if _, err := bob.Holder(t.Context()); diag.CodeOf(err) != diag.Remote || !strings.Contains(err.Error(), "the Kubernetes API that keeps it does not answer") {
			t.Errorf("without an API: %v", err)
		}
	})
}

// TestStaticLockStays: a run that cannot give the lock back, since the API is away,
// ends as it would, and says until when the lock keeps other runs out.
func TestStaticLockStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStaticSite(t, "cp-1", "worker-1")
		s.mustApply(Policy{})
		session := s.session()
		s.told.Reset()
		failed := errors.New("what the run was for")
		var taken time.Time
		err := session.lock.locked(t.Context(), s.owner(), func() error {
			taken = s.fleet.Clock().Now()
			s.fleet.Machine("cp-1").PowerOff()
			return failed
		})
		if !errors.Is(err, failed) || strings.Contains(err.Error(), "lock") {
			t.Errorf("it ended with %v", err)
		}
		reported := s.told.String()
		_, warning, _ := strings.Cut(reported, "lock release the lock failed ")
		var until time.Time
		for word := range strings.FieldsSeq(warning) {
			if at, perr := time.Parse(time.RFC3339, strings.TrimRight(word, ",:")); perr == nil {
				until = at
			}
		}
		if lasts := until.Sub(taken); lasts < 14*time.Minute || lasts > 15*time.Minute || !strings.Contains(warning, "; to remove it before: talosgen unlock demo") {
			t.Errorf("it was taken at %s, told\n%s", taken, reported)
		}
	})
}

// TestStaticTwoAtOnce: two runs at once make one etcd of machines that exist
// already, and call it once, though there is no lock yet that keeps one of them out:
// a second call could stop what had just begun, until a reboot.
func TestStaticTwoAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStaticSite(t, "cp-1", "cp-2", "cp-3", "worker-1")
		var both sync.WaitGroup
		for range 2 {
			session := s.session()
			owner := s.owner()
			both.Go(func() {
				if p, err := session.Plan(t.Context(), Policy{}); err == nil {
					_, _ = session.Apply(t.Context(), p, Policy{}, owner) // one of them may meet the other
				}
			})
		}
		both.Wait()
		if p, _ := s.mustApply(Policy{}); len(p.Nodes.Unreachable) > 0 {
			t.Errorf("away: %v", p.Nodes.Unreachable)
		}
		if p, _ := s.mustApply(Policy{}); !p.Empty() {
			t.Errorf("then\n%s", p)
		}
		calls := 0
		for _, c := range s.fleet.Calls() {
			if c.Method == "Bootstrap" {
				calls++
			}
		}
		if calls != 1 {
			t.Errorf("called %d times\n%s", calls, s.told.String())
		}
	})
}
