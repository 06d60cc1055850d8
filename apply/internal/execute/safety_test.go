package execute_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"

	"github.com/talosgen/talosgen/apply/plan/cloud/plantest"
	"github.com/talosgen/talosgen/internal/sim/hetznersim"
)

// listener sees what is sent.
type listener struct {
	next http.RoundTripper
	hear func(r *http.Request, body []byte)
}

func (l listener) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		l.hear(r, body)
	}
	return l.next.RoundTrip(r)
}

// TestNeverOpen: a server with a public address gets its firewalls in the call
// that creates it, and does not start before it is in the network. What it is
// given has its host key.
func TestNeverOpen(t *testing.T) {
	p := newProject(t, hetznersim.Options{})
	servers := 0
	p.http = listener{p.http, func(r *http.Request, body []byte) {
		if r.Method != http.MethodPost || r.URL.Path != "/v1/servers" {
			return
		}
		var sent struct {
			Name      string
			Start     *bool `json:"start_after_create"`
			Firewalls []any
			PublicNet struct {
				IPv4 bool `json:"enable_ipv4"`
			} `json:"public_net"`
		}
		if err := json.Unmarshal(body, &sent); err != nil {
			t.Error(err)
		}
		servers++
		if sent.Start == nil || *sent.Start || (len(sent.Firewalls) == 1) != sent.PublicNet.IPv4 {
			t.Errorf("%s", body)
		}
		if strings.Contains(string(body), "${") {
			t.Errorf("%s is given %s", sent.Name, body)
		}
	}}
	p.run(infrastructure(small), everything).mustApply()
	p.destroy(small)
	infra := infrastructure(private)
	for i := range infra.Servers {
		if infra.Servers[i].HostKey != "" {
			infra.Servers[i].UserData = "#cloud-config\nkey: ${SSH_HOST_KEY}\n"
		}
	}
	p.run(infra, everything).mustApply()
	if servers != 5 {
		t.Errorf("%d servers", servers)
	}
}

// TestNoRoomToGrow: a server whose new type is sold out runs again as it was.
func TestNoRoomToGrow(t *testing.T) {
	p := newProject(t, hetznersim.Options{})
	from := plantest.Spec{Cluster: "prod", ControlPlanes: 1, Pools: []plantest.Pool{{Name: "worker", Count: 1}}}
	p.run(infrastructure(from), everything).mustApply()
	p.sim.Inject(hetznersim.Fault{Method: "POST", Path: "/servers/*/actions/change_type", Times: -1,
		As: hetznersim.Status(412, "resource_unavailable", "no room for it")})
	_, err := p.run(infrastructure(with(from, func(s *plantest.Spec) { s.Pools[0].Size = 2 })), everything).apply(context.Background())
	if want := "make it a cpx32: no room for it (resource_unavailable)"; !strings.Contains(fmt.Sprint(err), want) || !strings.Contains(fmt.Sprint(err), "cpx42") {
		t.Errorf("error %v", err)
	}
	s, _, err := p.others.Server.GetByName(context.Background(), "prod-worker-1")
	if s = must(t, s, nil, err); s.Status != hcloud.ServerStatusRunning || s.ServerType.Name != "cpx12" {
		t.Errorf("it is a %s, %s", s.ServerType.Name, s.Status)
	}
}
