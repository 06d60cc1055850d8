package apply

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/sim/hetznersim/faultproxy"
)

// TestLastRule: a firewall that is to have no rules gets none, whoever has added
// some.
func TestLastRule(t *testing.T) {
	b := newBench(t, demoInfrastructure)
	b.apply(Policy{})
	rule := `    rules:
      - {description: ping, direction: in, protocol: icmp, sourceIps: [0.0.0.0/0]}
`
	b.render(strings.Replace(demoInfrastructure, rule, "", 1))
	if got := keys(b.apply(Policy{}).Done); len(got) != 1 || got[0] != "update firewall/demo" {
		t.Errorf("done %v", got)
	}
	if p := b.plan(b.connect(), Policy{}); !p.Empty() {
		t.Errorf("then\n%s", p)
	}
}

// TestOffWhenPlanned: a control plane that is off when the plan is made is switched
// on by it, and configured in the same run.
func TestOffWhenPlanned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t)
		s.tree("cp-1", "worker-1")
		s.mustApply(Policy{})
		for _, server := range s.list("servers") {
			s.powerOff(server)
		}
		s.more = []string{"  sysctls: {vm.swappiness: \"10\"}"}
		s.tree("cp-1", "worker-1")
		_, r := s.mustApply(Policy{})
		if steps := stepNames(r); strings.Count(steps, "configure") != 2 {
			t.Errorf("%v, %s", keys(r.Done), steps)
		}
		if p, _ := s.mustApply(Policy{}); !p.Empty() {
			t.Errorf("then\n%s", p)
		}
	})
}

// powerOff switches a server off by hand.
func (s *site) powerOff(server map[string]any) {
	s.Helper()
	id, _ := server["id"].(float64)
	s.post("/servers/" + itoa(id) + "/actions/poweroff")
	s.fleet.Settle()
}

// TestAccessStaysOpen: that session access could not be closed is an error, the next
// plan says that it is there, and the next run removes it.
func TestAccessStaysOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t)
		s.tree("cp-1", "worker-1")
		session := s.session()
		p, err := session.Plan(t.Context(), Policy{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := session.Apply(t.Context(), p, Policy{}, s.owner()); err != nil {
			t.Fatal(err)
		}
		s.faults.Inject(faultproxy.Fault{Method: http.MethodDelete, Path: "/firewalls/*", Times: -1, As: faultproxy.Page(http.StatusServiceUnavailable)})
		if err := session.Close(context.Background()); diag.CodeOf(err) != diag.Remote || !strings.Contains(err.Error(), "it still lets ann-desk in") {
			t.Errorf("error %v", err)
		}
		s.faults.Clear()
		p, r, err := s.apply(Policy{})
		if err != nil || !p.Empty() || len(r.Done) > 0 {
			t.Errorf("%v\n%s", err, p)
		}
		if text := p.String(); !strings.Contains(text, "session access of another run") {
			t.Errorf("it is not said in\n%s", text)
		}
		s.closed()
	})
}

// TestDestroyFindsALock: where nothing is left but the lock of a run that may live,
// that is an error; and the lock goes once its time is over.
func TestDestroyFindsALock(t *testing.T) {
	b := newBench(t, demoInfrastructure)
	if _, err := b.connect().lock.place.acquire(t.Context(), Owner{Name: "bob@laptop", Run: "9"}, noStage()); err != nil {
		t.Fatal(err)
	}
	destroy := func() error {
		s := b.connect()
		p, err := s.PlanDestroy(t.Context(), Policy{})
		if err != nil || !p.Empty() {
			t.Fatal(err, p)
		}
		_, err = s.Apply(t.Context(), p, Policy{}, Owner{Name: "ann@desk", Run: "1"})
		return err
	}
	if err := destroy(); diag.CodeOf(err) != diag.Conflict || !strings.Contains(err.Error(), "bob-laptop holds it") || !strings.HasSuffix(err.Error(), "\n  if you are sure that it is dead: talosgen unlock demo") {
		t.Errorf("error %v", err)
	}
	b.clock.Advance(time.Hour)
	if err := destroy(); err != nil {
		t.Error(err)
	}
	if holder, err := b.connect().Holder(t.Context()); holder != nil || err != nil {
		t.Errorf("%+v, %v", holder, err)
	}
}

// TestSnapshotNames: two snapshots within a second are two files.
func TestSnapshotNames(t *testing.T) {
	var times snapshotTimes
	now := fixedTime.Add(300 * time.Millisecond)
	first, second := times.next(now), times.next(now.Add(time.Millisecond))
	if third := times.next(now.Add(time.Minute)); first.Equal(second) || !third.Equal(fixedTime.Add(time.Minute)) {
		t.Errorf("%s, %s, %s", first, second, third)
	}
}

// TestTokenOfAnotherProject: a project without anything of the cluster, and a token
// that is not the tree's, are told of; the right project is not.
func TestTokenOfAnotherProject(t *testing.T) {
	b := newBench(t, demoInfrastructure)
	const text = "$HCLOUD_TOKEN is not the token in the tree"
	b.env.files["bootstrap/hcloud.yaml"] = []byte("apiVersion: v1\nkind: Secret\nmetadata: {name: hcloud}\nstringData: {token: one-of-another-project}\n")
	s := b.connect()
	if p := b.plan(s, Policy{}); !strings.HasPrefix(p.String(), "warning: "+text) { // friction 8: before anything else
		t.Errorf("it is not said in\n%s", p)
	}
	if p, err := s.PlanDestroy(t.Context(), Policy{}); err != nil || !strings.Contains(p.String(), text) {
		t.Errorf("it is not said in\n%s (%v)", p, err)
	}
	b.apply(Policy{})
	if p := b.plan(s, Policy{}); strings.Contains(p.String(), text) {
		t.Errorf("it is said in\n%s", p)
	}
}

// TestStaleReads: what is read lags behind by half a minute, for a whole life.
func TestStaleReads(t *testing.T) {
	for _, lag := range []time.Duration{time.Second, 10 * time.Second, 30 * time.Second} {
		t.Run(lag.String(), func(t *testing.T) {
			t.Parallel()
			b := newBench(t, demoInfrastructure)
			b.faults.Inject(faultproxy.Fault{Times: -1, As: faultproxy.Stale(lag, b.clock.Now)})
			b.apply(Policy{})
			s := b.connect()
			p, err := s.PlanDestroy(t.Context(), Policy{})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Apply(t.Context(), p, Policy{}, Owner{Name: "ann@desk", Run: "2"}); err != nil {
				t.Fatal(err)
			}
			b.faults.Clear()
			if p, err = b.connect().PlanDestroy(t.Context(), Policy{}); err != nil || len(p.Changes) > 0 {
				t.Errorf("still there: %v (%v)", keys(p.Changes), err)
			}
		})
	}
}

// TestBootstrapBudget: the record of a bootstrap that is read late does not use up
// the requests of the project, and etcd is told to begin once.
func TestBootstrapBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t)
		s.tree("cp-1", "worker-1")
		s.mustApply(Policy{Stages: []Stage{StageInfrastructure}})
		if err := s.fleet.Clock().Sleep(t.Context(), time.Minute); err != nil { // the servers boot
			t.Fatal(err)
		}
		s.faults.Clear()
		s.faults.Inject(faultproxy.Fault{Path: "/networks", Times: -1, As: faultproxy.Stale(2*time.Minute, s.fleet.Clock().Now)})
		_, _, err := s.apply(Policy{})
		if calls := strings.Count(s.told.String(), "note bootstraps cp-1"); calls != 1 {
			t.Errorf("bootstrapped %d times", calls)
		}
		if n := len(s.faults.Requests("", "")); n > 200 || err != nil {
			t.Errorf("%d requests, %v", n, err)
		}
	})
}
