package apply

import (
	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/apply/progress"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
)

// during applies, and does something as soon as a run tells of an event.
func (s *site) during(policy Policy, event string, do func()) (*Report, error) {
	s.Helper()
	session := s.session()
	notify, done := session.log.notify, false
	session.log.notify = func(e progress.Event) {
		notify(e)
		if text := e.Stage + " " + e.Step + " " + string(e.State); text == event && !done {
			done = true
			do()
		}
	}
	p, err := session.Plan(s.Context(), policy)
	if err != nil {
		s.Fatal(err)
	}
	r, err := session.Apply(s.Context(), p, policy, s.owner())
	if !done {
		s.Errorf("%q was not told:\n%s", event, s.told.String())
	}
	if err := session.Close(s.Context()); err != nil {
		s.Error(err)
	}
	return r, err
}

// named is the server with a name.
func (s *site) named(name string) map[string]any {
	s.Helper()
	for _, server := range s.list("servers") {
		if server["name"] == name {
			return server
		}
	}
	return nil
}

// TestGivenAway: a server that somebody gives to another cluster while its node is
// taken out of this one is not deleted: what is done after the nodes was planned
// after them.
func TestGivenAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t)
		s.tree("cp-1", "worker-1", "worker-2")
		s.mustApply(Policy{})
		s.tree("cp-1", "worker-1")
		r, err := s.during(Policy{Consent: plan.Consent{Allow: []string{"worker-2"}}}, "nodes delete-node worker-2 done", func() {
			id, _ := s.named("worker-2")["id"].(float64)
			body := strings.NewReader(`{"labels": {"cluster": "another"}}`)
			request := httptest.NewRequest(http.MethodPut, "/v1/servers/"+itoa(id), body)
			request.Header.Set("Authorization", "Bearer "+s.sim.Token())
			answer := httptest.NewRecorder()
			if s.sim.ServeHTTP(answer, request); answer.Code >= 300 {
				t.Errorf("%s", answer.Body)
			}
		})
		if err != nil || len(r.Done) > 0 || s.named("worker-2") == nil {
			t.Errorf("%v, done %v, and it is %v", err, keys(r.Done), s.named("worker-2"))
		}
		if deleted := s.faults.Requests(http.MethodDelete, "/servers/*"); len(deleted) > 0 {
			t.Errorf("deleted: %v", deleted)
		}
	})
}

// TestNothingTwice: what a run has done before it changes nodes it does not do again
// when it comes to what waits for them.
func TestNothingTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t)
		s.tree("cp-1", "worker-1", "worker-2")
		s.mustApply(Policy{})
		s.kind = "cpx32"
		s.tree("cp-1", "worker-1")
		s.faults.Clear()
		_, r := s.mustApply(Policy{Consent: plan.Consent{AllowPowerOff: true, Allow: []string{"worker-2"}}})
		for what, want := range map[string]int{"shutdown": 2, "change_type": 2, "poweron": 2} {
			if got := s.faults.Requests(http.MethodPost, "/servers/*/actions/"+what); len(got) != want {
				t.Errorf("%d times %s, want %d: %v", len(got), what, want, got)
			}
		}
		if got := s.faults.Requests(http.MethodDelete, "/servers/*"); len(got) != 1 || len(r.Done) != 3 {
			t.Errorf("deleted %v, done %v", got, keys(r.Done))
		}
	})
}
