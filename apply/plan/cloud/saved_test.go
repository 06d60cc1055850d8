package cloud_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/apply/internal/execute/executetest"
	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/apply/plan/cloud/plantest"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/schemas"
)

// everything agrees to everything.
var everything = executetest.Everything

// project is what there is at Hetzner.
type project struct{ Observed cloud.Observed }

func mustMake(t *testing.T, desired schemas.Infrastructure, m *project, policy plan.Consent) *cloud.Plan {
	t.Helper()
	p, err := cloud.Make(desired, m.Observed, policy)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// scaled is a cluster of one worker that is to have two, and a type that is to
// change.
func scaled(t *testing.T) (schemas.Infrastructure, *project) {
	t.Helper()
	spec := plantest.Spec{Cluster: "prod", ControlPlanes: 1, Pools: []plantest.Pool{{Name: "w", Offset: 10, Count: 1, Size: 0, Groups: true}}, API: true, FloatingIP: true, DNS: true}
	m := &project{executetest.Stand(t, executetest.Infrastructure(spec))}
	spec.Pools[0].Count = 2
	return executetest.Infrastructure(spec), m
}

func save(t *testing.T, p *cloud.Plan) *cloud.Saved {
	t.Helper()
	text, err := plan.Encode(p.Saved())
	if err != nil {
		t.Fatal(err)
	}
	s, err := load(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// load reads a saved plan as apply does.
func load(text []byte) (*cloud.Saved, error) {
	var s cloud.Saved
	if err := plan.Decode("plan.json", text, &s); err != nil {
		return nil, err
	}
	return &s, s.Check("plan.json")
}

// executable reports whether nothing is refused and every consent is given.
func executable(p *cloud.Plan) bool {
	return len(p.Refusals) == 0 && !slices.ContainsFunc(p.Changes, func(c cloud.Change) bool { return !c.Allowed })
}

// A saved plan can be executed as long as what it reads is as it was.
func TestResume(t *testing.T) {
	for _, tt := range []struct {
		name  string
		drift func(m *project, d *schemas.Infrastructure)
		stale string // empty: it can be resumed
	}{
		{"nothing", func(*project, *schemas.Infrastructure) {}, ""},
		{"another server was labelled", func(m *project, _ *schemas.Infrastructure) {
			m.Observed.Servers[0].Labels = map[string]string{"cluster": "prod", "managed-by": "talosgen"}
		}, ""},
		{"a load balancer lost its targets", func(m *project, _ *schemas.Infrastructure) { m.Observed.LoadBalancers[0].Targets = nil }, ""},
		{"the type is sold out", func(m *project, _ *schemas.Infrastructure) {
			for i, s := range m.Observed.Catalogue.ServerTypes {
				if s.Name == "cpx12" {
					for j := range s.Locations {
						m.Observed.Catalogue.ServerTypes[i].Locations[j].Available = false
					}
				}
			}
		}, ""},
		{"the server is there", func(m *project, _ *schemas.Infrastructure) {
			m.Observed.Servers = append(m.Observed.Servers, cloud.Server{Meta: cloud.Meta{ID: 1, Name: "prod-w-2"}})
		}, "server/prod-w-2 is there now"},
		{"the placement group is gone", func(m *project, _ *schemas.Infrastructure) {
			m.Observed.PlacementGroups = m.Observed.PlacementGroups[:1]
			m.Observed.Servers[1].PlacementGroup = 0
		}, "placement-group/prod-w-pg-1 is gone"},
		{"the network changed", func(m *project, _ *schemas.Infrastructure) { m.Observed.Networks[0].IPRange = "10.0.0.0/15" }, "network/prod has changed"},
		{"the subnet changed", func(m *project, _ *schemas.Infrastructure) {
			m.Observed.Networks[0].Subnets[2].NetworkZone = "us-east"
		}, "subnet/10.0.80.0/25 has changed"},
		{"the image is gone", func(m *project, _ *schemas.Infrastructure) {
			m.Observed.Images = slices.DeleteFunc(m.Observed.Images, func(i cloud.Image) bool { return i.Type == "snapshot" })
		}, "is gone"},
		{"infrastructure.yaml changed", func(_ *project, d *schemas.Infrastructure) { d.Network.Protected = true }, "infrastructure.yaml has changed"},
		{"another cluster", func(_ *project, d *schemas.Infrastructure) { d.Cluster = "dev" }, "it is a plan of another cluster, not of dev"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			desired, m := scaled(t)
			saved := save(t, mustMake(t, desired, m, plan.Consent{}))
			tt.drift(m, &desired)
			p, err := saved.Resume(desired, m.Observed, plan.Consent{})
			if tt.stale != "" {
				if err == nil || !strings.Contains(err.Error(), tt.stale) || diag.CodeOf(err) != diag.Conflict {
					t.Fatalf("%v, exit code %d", err, diag.CodeOf(err))
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if len(p.Changes) != 1 || p.Changes[0].Key != "server/prod-w-2" {
				t.Errorf("it does something that was not reviewed:\n%s", p)
			}
			if !executable(p) {
				t.Errorf("it cannot be executed:\n%s", p)
			}
		})
	}
}

// What was agreed to when the plan was made is in it; more can be agreed to
// later.
func TestResumeKeepsConsent(t *testing.T) {
	desired, m := scaled(t)
	desired.Servers = slices.DeleteFunc(desired.Servers, func(s schemas.InfraServer) bool { return s.Pool == "w" })
	desired.PlacementGroups = desired.PlacementGroups[:1]
	for _, tt := range []struct {
		saved, more plan.Consent
		want        bool
	}{
		{plan.Consent{}, plan.Consent{}, false},
		{plan.Consent{Allow: []string{"prod-w-1"}}, plan.Consent{}, true},
		{plan.Consent{}, plan.Consent{AllowDestroy: true}, true},
	} {
		p, err := save(t, mustMake(t, desired, m, tt.saved)).Resume(desired, m.Observed, tt.more)
		if err != nil {
			t.Fatal(err)
		}
		if executable(p) != tt.want {
			t.Errorf("%+v, %+v: executable %v", tt.saved, tt.more, executable(p))
		}
	}
}

// What is adopted and what is kept of others' labels is known only beside what there is:
// a plan with it can be resumed like any other.
func TestResumeAdopted(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(m *project, d *schemas.Infrastructure)
		policy plan.Consent
	}{
		"labels of others that stay": {change: func(m *project, d *schemas.Infrastructure) {
			d.KeepOthers = true
			m.Observed.Servers[1].Labels = map[string]string{"cluster": "prod", "managed-by": "talosgen", "team": "web"}
			m.Observed.Networks[0].Labels["owner"] = "terraform"
		}},
		"a network that is taken over": {change: func(m *project, _ *schemas.Infrastructure) {
			m.Observed.Networks[0].Labels = nil
		}, policy: plan.Consent{Adopt: []string{"network/prod"}}},
	} {
		t.Run(name, func(t *testing.T) {
			desired, m := scaled(t)
			tt.change(m, &desired)
			made := mustMake(t, desired, m, tt.policy)
			if len(made.Changes) == 0 || !executable(made) {
				t.Fatalf("there is nothing to resume:\n%s", made)
			}
			p, err := save(t, made).Resume(desired, m.Observed, plan.Consent{})
			if err != nil {
				t.Fatal(err)
			}
			if p.String() != made.String() {
				t.Errorf("it became\n%s\nof\n%s", p, made)
			}
		})
	}
}

// What is refused about the whole stays refused.
func TestResumeKeepsRefusals(t *testing.T) {
	desired, m := scaled(t)
	desired.Servers = desired.Servers[1:]
	p, err := save(t, mustMake(t, desired, m, everything)).Resume(desired, m.Observed, everything)
	if err != nil {
		t.Fatal(err)
	}
	if executable(p) || len(p.Refusals) != 1 {
		t.Errorf("%+v", p.Refusals)
	}
}

// A file does not decide what is done: what was written into it by hand makes
// it stale.
func TestResumeEdited(t *testing.T) {
	desired, m := scaled(t)
	good, err := plan.Encode(mustMake(t, desired, m, plan.Consent{}).Saved())
	if err != nil {
		t.Fatal(err)
	}
	for _, edit := range []struct{ old, new string }{
		{`"action": "create"`, `"action": "delete"`},
		{`"to": "prod-w-pg-1"`, `"to": "other"`},
		{`"image": `, `"image": 9`},
		{`"server/prod-w-2"`, `"server/prod-w-3"`},
		{`"apiVersion"`, `"apiVersion"`},
	} {
		saved, err := load([]byte(strings.Replace(string(good), edit.old, edit.new, 1)))
		if err != nil {
			t.Fatal(err)
		}
		_, err = saved.Resume(desired, m.Observed, plan.Consent{})
		if edited := edit.old != edit.new; edited != (err != nil) || edited && !strings.Contains(err.Error(), "something else would happen to server/prod-w-") {
			t.Errorf("%s: %v", edit.new, err)
		}
	}
}

func TestResumeDestroy(t *testing.T) {
	desired, m := scaled(t)
	p, err := cloud.Destroy(desired, m.Observed, plan.Consent{})
	if err != nil {
		t.Fatal(err)
	}
	saved := save(t, p)
	session := map[string]string{"cluster": "prod", "managed-by": "talosgen", "component": "session"}
	m.Observed.Firewalls = append(m.Observed.Firewalls, cloud.Firewall{Meta: cloud.Meta{ID: 1, Name: "prod-session", Labels: session}})
	again, err := saved.Resume(desired, m.Observed, plan.Consent{})
	if err != nil || again.String() != p.String() {
		t.Fatalf("%v\n%s", err, again)
	}

	// What a run left was seen, and is removed by whoever takes the lock.
	left, err := cloud.Destroy(desired, m.Observed, plan.Consent{})
	if err != nil || left.String() == p.String() {
		t.Fatalf("%v\n%s", err, left)
	}
	sessions := m.Observed.Firewalls
	m.Observed.Firewalls = sessions[:len(sessions)-1]
	again, err = save(t, left).Resume(desired, m.Observed, plan.Consent{})
	if err != nil || again.String() != p.String() {
		t.Fatalf("%v\n%s", err, again)
	}
	m.Observed.Firewalls = m.Observed.Firewalls[:0]
	if _, err := saved.Resume(desired, m.Observed, plan.Consent{}); err == nil || !strings.Contains(err.Error(), "firewall/prod is gone") {
		t.Error(err)
	}
	m.Observed.Firewalls = sessions
	m.Observed.Servers[0].Labels = map[string]string{"team": "x"}
	if _, err := saved.Resume(desired, m.Observed, plan.Consent{}); err == nil || !strings.Contains(err.Error(), "server/prod-control-plane-1 has changed") {
		t.Error(err)
	}
}

func TestLoadErrors(t *testing.T) {
	desired, m := scaled(t)
	good, err := plan.Encode(mustMake(t, desired, m, plan.Consent{}).Saved())
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, text, want string }{
		{"empty", "", "plan.json: this is no saved plan: EOF"},
		{"other JSON", "[]", "this is no saved plan: json: cannot unmarshal array"},
		{"unknown field", strings.Replace(string(good), `"desired"`, `"wanted"`, 1), `this is no saved plan: json: unknown field "wanted"`},
		{"more", string(good) + "{}", "this is no saved plan: something follows after the plan"},
		{"other version", strings.Replace(string(good), "v1alpha1", "v9", 1), `the plan has the version "talosgen.dev/plan/v9", this talosgen reads talosgen.dev/plan/v1alpha1`},
		{"no plan", `{"apiVersion":"talosgen.dev/plan/v1alpha1"}`, "the file holds no plan"},
		{"an empty plan", `{"apiVersion":"talosgen.dev/plan/v1alpha1","plan":{}}`, "the file holds no plan"},
	} {
		if _, err := load([]byte(tt.text)); err == nil || !strings.Contains(err.Error(), tt.want) || diag.CodeOf(err) != diag.Input {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

// canary is in everything that may be secret or long.
const canary = "CANARY-4711"

// User data is a digest wherever a plan is written.
func TestPlansHoldNoUserData(t *testing.T) {
	desired, m := scaled(t)
	for i := range desired.Servers {
		desired.Servers[i].UserData = canary
	}
	p := mustMake(t, desired, m, plan.Consent{})
	saved, err1 := plan.Encode(p.Saved())
	text, err2 := plan.Encode(p)
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	for name, out := range map[string]string{"text": p.String(), "json": string(text), "file": string(saved)} {
		if strings.Contains(out, canary) {
			t.Errorf("%s holds user data", name)
		}
		if !strings.Contains(out, "digest ") {
			t.Errorf("%s does not mention user data", name)
		}
	}
}

// Names and labels of others cannot write to the terminal.
func TestPlansPrintNoControlCharacters(t *testing.T) {
	desired, m := scaled(t)
	m.Observed.Servers[0].Labels["team"] = "\x1b[2J\nserver"
	if out := mustMake(t, desired, m, plan.Consent{}).String(); strings.Contains(out, "\x1b") || !strings.Contains(out, `\x1b[2J\nserver`) {
		t.Errorf("%q", out)
	}
}

// Equal inputs make equal plans, to the byte.
func TestPlansAreDeterministic(t *testing.T) {
	desired, m := scaled(t)
	first, err := plan.Encode(mustMake(t, desired, m, plan.Consent{}).Saved())
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		again, err := plan.Encode(mustMake(t, desired, m, plan.Consent{}).Saved())
		if err != nil || !bytes.Equal(first, again) {
			t.Fatalf("%v\n%s\n%s", err, first, again)
		}
	}
}

// A file that can be read is written the same, and whatever is in it, nothing
// is done that is not planned anew.
func FuzzLoad(f *testing.F) {
	for _, seed := range []string{"", "{}", `{"apiVersion":"talosgen.dev/plan/v1alpha1","plan":{"cluster":"prod","reads":[{"key":"server/x"},{"key":"subnet/10.0.0.0/8"},{"key":"x"}],"changes":[{"key":"server/x","action":"delete"}]}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := load(text)
		if err != nil {
			return
		}
		out, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := load(out); err != nil {
			t.Fatal(err)
		}
		p, err := s.Resume(schemas.Infrastructure{Cluster: "prod", Provider: schemas.Hetzner}, plantest.Empty(), plan.Consent{})
		if err == nil && len(p.Changes) > 0 {
			t.Errorf("a file makes changes:\n%s", p)
		}
	})
}
