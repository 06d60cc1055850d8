package apply

import (
	"strings"
	"testing"
	"time"

	kubeplan "github.com/talosgen/talosgen/apply/plan/kube"
)

// TestStatusOfPart: what the Kubernetes API did not say is neither missing nor as in
// Git, and the rest is said.
func TestStatusOfPart(t *testing.T) {
	unknown := NodeStatus{Name: "w-1", Wanted: true, Unknown: true, Want: "v1.37.0", WantTalos: "v1.14.1"}
	ready := NodeStatus{Name: "w-1", Wanted: true, Registered: true, Ready: true}
	expired := CertificateStatus{Name: "Talos API of w-1", Expires: fixedTime.Add(-time.Hour)}
	for _, tt := range []struct {
		name      string
		status    Status
		want, not []string
	}{
		{"no answer", Status{Cluster: "demo", Problem: "no route to host", Nodes: []NodeStatus{unknown}},
			[]string{"demo: Kubernetes not known: no route to host\n", "  w-1  not known\n", "what could be looked at is as in Git\n"},
			[]string{"missing", "not in the cluster", "objects", "differs"}},
		{"an answer, and no more", Status{Cluster: "demo", Problem: "500", Version: "v1.37.0", Nodes: []NodeStatus{ready}},
			[]string{"demo: Kubernetes v1.37.0, not known further: 500\n", "  w-1  ready\n"}, []string{"objects", "\nas in Git"}},
		{"something else differs", Status{Cluster: "demo", Problem: "500", Nodes: []NodeStatus{unknown}, Certificates: []CertificateStatus{expired}},
			[]string{"differs from Git:\n  the certificate of the Talos API of w-1 has expired"}, []string{"as in Git\n"}},
		{"all", Status{Cluster: "demo", Version: "v1.37.0", Nodes: []NodeStatus{ready}, Objects: &kubeplan.Plan{}},
			[]string{"demo: Kubernetes v1.37.0\n", "\nas in Git\n", "objects:\n"}, []string{"not known"}},
		{"Flux is behind", Status{Cluster: "demo", Version: "v1.37.0", Nodes: []NodeStatus{ready}, Flux: []FluxStatus{
			{Name: "a", There: true, Ready: true, Revision: "main@sha1:1"}, {Name: "b", There: true, Ready: true, Revision: "main@sha1:2"},
			{Name: "c", There: true, Ready: true, Revision: "main@sha1:1"}, {Name: "d", There: true, Ready: true, Current: true, Revision: "main@sha1:3"},
		}},
			[]string{"  Kustomizations a, c applied main@sha1:1, and the tree here is another\n  Kustomization b applied main@sha1:2, and the tree here is another\n"}, []string{"sha1:3, and"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := tt.status
			s.differences(fixedTime, nil)
			text := s.String()
			for _, want := range tt.want {
				if !strings.Contains(text, want) {
					t.Errorf("no %q in\n%s", want, text)
				}
			}
			for _, not := range tt.not {
				if strings.Contains(text, not) {
					t.Errorf("%q in\n%s", not, text)
				}
			}
		})
	}
}
