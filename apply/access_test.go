package apply

import (
	"slices"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/apply/internal/access"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/schemas"
)

func TestTalosEndpoints(t *testing.T) {
	servers := []schemas.InfraServer{
		{Name: "b", Role: "controlplane", PrivateIP: "10.0.0.2"},
		{Name: "w", Role: "worker", PrivateIP: "10.0.1.1"},
		{Name: "a", Role: "controlplane", PrivateIP: "10.0.0.1"},
	}
	private := []string{"10.0.0.1", "10.0.0.2"}
	name := schemas.InfraAPI{ExternalEndpoint: "https://api.example.com:6443"}
	at := func(kind string) schemas.InfraAPI {
		return schemas.InfraAPI{ExternalEndpoint: "https://203.0.113.7:6443", External: []schemas.InfraTarget{{Kind: kind}}}
	}
	balancers := []schemas.InfraLoadBalancer{{Name: "kube-api"}}
	public, onlyPrivate := schemas.InfraAccess{Mode: "public"}, schemas.InfraAccess{Mode: "private"}
	for _, tt := range []struct {
		what  string
		infra schemas.Infrastructure
		want  []string
		note  string
	}{
		{"a name for public nodes", schemas.Infrastructure{Access: public, KubernetesAPI: name, Servers: servers}, []string{"api.example.com"}, ""},
		{"a floating IP", schemas.Infrastructure{Access: public, KubernetesAPI: at(schemas.TargetFloatingIP), Servers: servers}, []string{"203.0.113.7"}, ""},
		{"a load balancer, for Kubernetes only", schemas.Infrastructure{Access: public, KubernetesAPI: at(schemas.TargetLoadBalancer), Servers: servers}, private, "--endpoints"},
		{"a name, perhaps of the load balancer", schemas.Infrastructure{Access: public, KubernetesAPI: name, LoadBalancers: balancers, Servers: servers}, private, "--endpoints"},
		{"nothing known", schemas.Infrastructure{Access: public, Servers: servers}, private, "--endpoints"},
		{"private nodes", schemas.Infrastructure{Access: onlyPrivate, KubernetesAPI: name, Servers: servers}, private, "private network"},
		{"public APIs, and nodes by the gateway", schemas.Infrastructure{
			Access: schemas.InfraAccess{Mode: "public", Jump: "demo-nat-gateway"}, KubernetesAPI: name, Servers: servers,
		}, private, ""}, // its way is told apart
		{"machines", schemas.Infrastructure{
			Access:   schemas.InfraAccess{Mode: "direct"},
			Machines: []schemas.InfraMachine{{Name: "m", Role: "controlplane", Address: "192.0.2.1/24"}, {Name: "n", Role: "controlplane"}},
		}, []string{"192.0.2.1"}, ""},
	} {
		t.Run(tt.what, func(t *testing.T) {
			got, note := talosEndpoints(tt.infra)
			if !slices.Equal(got, tt.want) || !strings.Contains(note, tt.note) || (note == "") != (tt.note == "") {
				t.Errorf("got %q, %q", got, note)
			}
		})
	}
}

func TestKubernetesServer(t *testing.T) {
	api := schemas.InfraAPI{
		Endpoint: "https://10.0.0.1:6443", ExternalEndpoint: "https://api.example.com:6443",
		TLSServerName: "kubernetes.default.svc", CertSANs: []string{"10.0.0.1", "api.example.com"},
	}
	unknown := api
	unknown.ExternalEndpoint = ""
	for _, tt := range []struct {
		what     string
		api      schemas.InfraAPI
		override string
		want     access.Server
		note     string
	}{
		{"for people", api, "", access.Server{URL: "https://api.example.com:6443"}, ""},
		{"for nodes", unknown, "", access.Server{URL: "https://10.0.0.1:6443"}, "--server"},
		{"a tunnel", api, "https://127.0.0.1:1234", access.Server{URL: "https://127.0.0.1:1234", TLSName: "kubernetes.default.svc"}, ""},
		{"without a scheme", api, "10.0.0.1:6443", access.Server{URL: "https://10.0.0.1:6443"}, ""},
	} {
		t.Run(tt.what, func(t *testing.T) {
			got, note, err := kubernetesServer(tt.api, tt.override)
			if err != nil || got != tt.want || !strings.Contains(note, tt.note) || (note == "") != (tt.note == "") {
				t.Errorf("got %+v, %q, %v", got, note, err)
			}
		})
	}
	for _, bad := range []string{"http://10.0.0.1", "https://", "https://me:secret@10.0.0.1", "%"} {
		if _, _, err := kubernetesServer(api, bad); diag.CodeOf(err) != diag.Usage || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// TestAccessWithoutControlPlane: only control planes hold what signs.
func TestAccessWithoutControlPlane(t *testing.T) {
	o := newOperators(t, 1)
	e, err := o.open(t, o.sealed(t, o.small(t)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Talosconfig(t.Context(), AccessRequest{}, "os:admin", nil); err == nil || !strings.Contains(err.Error(), "rendered/demo/infrastructure.yaml: has no control plane") {
		t.Errorf("got %v", err)
	}
}
