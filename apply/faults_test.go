package apply

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/apply/progress"
	"github.com/talosgen/talosgen/internal/sim/hetznersim/faultproxy"
	"github.com/talosgen/talosgen/schemas"
)

// list reads what a project has of a kind, past the faults.
func (s *site) list(kind string) []map[string]any {
	s.Helper()
	request := httptest.NewRequest(http.MethodGet, "/v1/"+kind+"?per_page=50", nil)
	request.Header.Set("Authorization", "Bearer "+s.sim.Token())
	answer := httptest.NewRecorder()
	s.sim.ServeHTTP(answer, request)
	var body map[string]json.RawMessage
	var found []map[string]any
	if err := json.Unmarshal(answer.Body.Bytes(), &body); err != nil {
		s.Fatal(err)
	}
	if err := json.Unmarshal(body[kind], &found); err != nil {
		s.Fatal(err)
	}
	return found
}

// post makes a call without a body, past the faults.
func (s *site) post(path string) {
	s.Helper()
	request := httptest.NewRequest(http.MethodPost, "/v1"+path, http.NoBody)
	request.Header.Set("Authorization", "Bearer "+s.sim.Token())
	answer := httptest.NewRecorder()
	if s.sim.ServeHTTP(answer, request); answer.Code >= 300 {
		s.Fatalf("%s: %s", path, answer.Body)
	}
}

func itoa(id float64) string { return strconv.FormatInt(int64(id), 10) }

// noStage is a stage that nobody is told of.
func noStage() progress.Stage { return progress.Begin(nil, "", 0) }

// running wants every server to run.
func (s *site) running() {
	s.Helper()
	s.fleet.Settle()
	for _, server := range s.list("servers") {
		if server["status"] != "running" {
			s.Errorf("the server %s is %s", server["name"], server["status"])
		}
	}
}

// unnoted wants every server to run, and no note of one that was off.
func (s *site) unnoted() {
	s.Helper()
	s.running()
	for _, server := range s.list("servers") {
		if labels, _ := json.Marshal(server["labels"]); strings.Contains(string(labels), schemas.LabelOff) {
			s.Errorf("the server %s has the labels %s", server["name"], labels)
		}
	}
}

// cordoned are the nodes that take no pods.
func (s *site) cordoned() (names []any) {
	s.Helper()
	for _, node := range s.fleet.Kubernetes("cp-1").All("Node") {
		spec, _ := node["spec"].(map[string]any)
		if spec["unschedulable"] == true {
			names = append(names, node["metadata"].(map[string]any)["name"])
		}
	}
	return names
}

// oneRescale is a cluster of one control plane that is to get another type.
func oneRescale(t *testing.T) (*site, Policy) {
	s := newSite(t)
	s.tree("cp-1", "worker-1")
	s.mustApply(Policy{})
	s.kind = "cpx32"
	s.tree("cp-1", "worker-1")
	s.faults.Clear()
	return s, Policy{Consent: plan.Consent{AllowPowerOff: true}}
}

// TestLostOnTheWay loses the answer to one call that changes something, before and
// after its effect, for each such call of a run that makes a cluster and of one
// that gives its servers another type: no stage then executes what was planned
// before. The run ends as without, and does nothing twice that turns a server off.
func TestLostOnTheWay(t *testing.T) {
	for _, c := range []struct {
		name, path string
		begin      func(*testing.T) (*site, Policy)
	}{
		{"a server is made", "/servers", func(t *testing.T) (*site, Policy) {
			s := newSite(t)
			s.tree("cp-1", "worker-1")
			return s, Policy{}
		}},
		{"another type", "/servers/*/actions/change_type", oneRescale},
		{"shut down for it", "/servers/*/actions/shutdown", oneRescale},
		{"on again after it", "/servers/*/actions/poweron", oneRescale},
	} {
		for name, as := range map[string]faultproxy.Effect{"before": faultproxy.LostBefore(), "after": faultproxy.LostAfter()} {
			t.Run(c.name+", "+name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					s, policy := c.begin(t)
					s.faults.Inject(faultproxy.Fault{Method: http.MethodPost, Path: c.path, As: as})
					s.mustApply(policy)
					s.unnoted()
					for _, once := range []string{"/servers/*/actions/shutdown", "/servers/*/actions/change_type"} {
						if got := s.faults.Requests(http.MethodPost, once); len(got) > 4 {
							t.Errorf("%d requests for two servers: %v", len(got), got)
						}
					}
					s.faults.Clear()
					if p, _ := s.mustApply(Policy{}); !p.Empty() {
						t.Errorf("then\n%s", p)
					}
				})
			})
		}
	}
}

// TestRefusedWhileOff: whatever a change of the type is refused with, no server
// stays off, and no node stays cordoned.
func TestRefusedWhileOff(t *testing.T) {
	for name, as := range map[string]faultproxy.Effect{
		"resource_limit_exceeded": faultproxy.Refuse(http.StatusForbidden, "resource_limit_exceeded"),
		"invalid_server_type":     faultproxy.Refuse(http.StatusUnprocessableEntity, "invalid_server_type"),
		"resource_unavailable":    faultproxy.Refuse(http.StatusUnprocessableEntity, "resource_unavailable"),
		"forbidden":               faultproxy.Refuse(http.StatusForbidden, "forbidden"),
		"maintenance":             faultproxy.Refuse(http.StatusServiceUnavailable, "maintenance"),
		"a page":                  faultproxy.Page(http.StatusBadGateway),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, policy := oneRescale(t)
				s.faults.Inject(faultproxy.Fault{Method: http.MethodPost, Path: "/servers/*/actions/change_type", Times: -1, As: as})
				if _, _, err := s.apply(policy); err == nil {
					t.Fatal("the type was changed")
				}
				s.unnoted()
				s.closed()
				s.faults.Clear()
				if err := s.fleet.Clock().Sleep(t.Context(), 3*time.Minute); err != nil { // it boots
					t.Fatal(err)
				}
				if nodes := s.cordoned(); len(nodes) > 0 {
					t.Errorf("cordoned: %v", nodes)
				}
				s.mustApply(policy)
				s.unnoted()
			})
		})
	}
}

// TestInterruptedWhileOff: who interrupts a run while a server is off on purpose,
// leaves none that is off.
func TestInterruptedWhileOff(t *testing.T) {
	for _, at := range []string{"shutdown", "change_type", "poweron"} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, policy := oneRescale(t)
				ctx, interrupt := context.WithCancel(t.Context())
				s.faults.Inject(faultproxy.Fault{Method: http.MethodPost, Path: "/servers/*/actions/" + at, As: faultproxy.After(interrupt)})
				session := s.session()
				p, err := session.Plan(t.Context(), policy)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := session.Apply(ctx, p, policy, s.owner()); err == nil {
					t.Error("it was not interrupted")
				}
				if err := session.Close(ctx); err != nil {
					t.Error(err)
				}
				s.running()
				s.closed()
				s.mustApply(policy)
				s.unnoted()
			})
		})
	}
}

// TestKilledWhileOff: the run after one that died while a server was off on
// purpose switches it on, whether or not somebody agrees to what it was off for.
func TestKilledWhileOff(t *testing.T) {
	for _, at := range []string{"shutdown", "change_type", "poweron"} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, policy := oneRescale(t)
				ctx, kill := context.WithCancel(t.Context())
				s.faults.Inject(faultproxy.Fault{Method: http.MethodPost, Path: "/servers/*/actions/" + at, As: faultproxy.After(func() {
					kill()
					s.faults.Inject(faultproxy.Fault{Times: -1, As: faultproxy.LostBefore()})
				})})
				session := s.session()
				p, err := session.Plan(t.Context(), policy)
				if err != nil {
					t.Fatal(err)
				}
				_, err = session.Apply(ctx, p, policy, s.owner())
				if err == nil {
					t.Error("it was not killed")
				}
				s.faults.Clear()
				s.fleet.Settle()
				on := func(server map[string]any) bool { return server["status"] != "off" }
				if off := slices.DeleteFunc(s.list("servers"), on); (len(off) > 0) != (at == "shutdown") {
					t.Errorf("the dead run has left off: %v", off)
				}
				if err := s.fleet.Clock().Sleep(t.Context(), 3*time.Hour); err != nil {
					t.Fatal(err)
				}
				if p, _, err := s.apply(Policy{}); err == nil && at == "shutdown" {
					t.Errorf("nobody agreed to\n%s", p)
				}
				s.running()
				s.mustApply(policy)
				s.unnoted()
			})
		})
	}
}
