package health

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/talosgen/talosgen/apply/internal/node"
)

// fakeSource answers for a node, and notes what it was asked.
type fakeSource struct {
	etcd  string // the state of its etcd; empty: it has none
	fails string // the question that fails

	mu    sync.Mutex
	asked []string
}

func (s *fakeSource) ask(what string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, what)
	if s.fails == what {
		return errors.New(what + " failed")
	}
	return nil
}

func (s *fakeSource) Version(context.Context) (string, error) { return "v1.14.1", s.ask("version") }

func (s *fakeSource) Status(context.Context) (node.Status, error) {
	return node.Status{Stage: node.StageRunning}, s.ask("status")
}

func (s *fakeSource) Services(context.Context) ([]node.Service, error) {
	services := []node.Service{{Name: "apid", State: "Running"}}
	if s.etcd != "" {
		services = append(services, node.Service{Name: "etcd", State: s.etcd, Message: "pulling"})
	}
	return services, s.ask("services")
}

func (s *fakeSource) Members(context.Context) ([]node.Member, error) {
	return []node.Member{{ID: first, Hostname: "cp-1"}}, s.ask("members")
}

func (s *fakeSource) EtcdStatus(context.Context) (node.EtcdStatus, error) {
	return node.EtcdStatus{Member: first, Leader: first}, s.ask("etcd status")
}

// TestCollect is what is asked of a node, and what is known of it then.
func TestCollect(t *testing.T) {
	for _, test := range []struct {
		name    string
		source  *fakeSource
		plane   bool
		asked   string
		err     string
		etcdErr string
	}{
		{"a worker", &fakeSource{}, false, "version status services", "", ""},
		{"a control plane", &fakeSource{etcd: "Running"}, true, "version status services members etcd status", "", ""},
		{"before it is bootstrapped", &fakeSource{etcd: "Preparing"}, true, "version status services", "", "node n: its etcd is Preparing (pulling)"},
		{"without etcd", &fakeSource{}, true, "version status services", "", "node n: it has no etcd"},
		{"away", &fakeSource{fails: "version"}, true, "version", "version failed", ""},
		{"gone on the way", &fakeSource{fails: "services"}, true, "version status services", "services failed", ""},
		{"etcd does not answer", &fakeSource{etcd: "Running", fails: "members"}, true, "version status services members", "", "members failed"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := Collector{
				Targets:    []Target{{Name: "n", ControlPlane: test.plane, Source: test.source}},
				Kubernetes: func(context.Context) ([]KubeNode, error) { return []KubeNode{{Name: "n"}}, nil },
			}.Collect(t.Context())
			n := f.Nodes[0]
			if got := strings.Join(test.source.asked, " "); got != test.asked {
				t.Errorf("asked %q, want %q", got, test.asked)
			}
			if text(n.Err) != test.err || text(n.Etcd.Err) != test.etcdErr {
				t.Errorf("errors %q and %q", text(n.Err), text(n.Etcd.Err))
			}
			if len(f.Kubernetes.Nodes) != 1 {
				t.Errorf("Kubernetes: %+v", f.Kubernetes)
			}
		})
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestCollectNobody is a node that cannot even be asked.
func TestCollectNobody(t *testing.T) {
	f := Collector{
		Targets:    []Target{{Name: "n", ControlPlane: true, Err: errors.New("there is no server")}},
		Kubernetes: func(context.Context) ([]KubeNode, error) { return nil, errors.New("no") },
	}.Collect(t.Context())
	if text(f.Nodes[0].Err) != "there is no server" || text(f.Kubernetes.Err) != "no" {
		t.Errorf("%+v", f)
	}
}

// TestCollectMany asks more nodes than at once, each once, and keeps their order.
func TestCollectMany(t *testing.T) {
	const many = 5 * parallel
	var targets []Target
	for range many {
		targets = append(targets, Target{Name: strings.Repeat("n", len(targets)+1), Source: &fakeSource{}})
	}
	f := Collector{Targets: targets, Kubernetes: func(context.Context) ([]KubeNode, error) { return nil, nil }}.Collect(t.Context())
	for i, n := range f.Nodes {
		if n.Name != targets[i].Name || n.Version == "" || len(targets[i].Source.(*fakeSource).asked) != 3 {
			t.Fatalf("node %d: %+v", i, n)
		}
	}
}
