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
		{"a rotation is under way", Status{Environment: "dev", Cluster: "demo", Version: "v1.37.0", Nodes: []NodeStatus{ready}, Objects: &kubeplan.Plan{}, Rotations: []string{"kubernetes-ca"}},
			[]string{"rotations:\n  kubernetes-ca  under way: see talosgen rotate dev kubernetes-ca --status\n", "\nas in Git\n"}, nil},
		{"the age of a certificate", Status{Cluster: "demo", Version: "v1.37.0", Nodes: []NodeStatus{ready}, Objects: &kubeplan.Plan{}, Certificates: []CertificateStatus{
			{Name: "Talos authority", Begins: fixedTime.AddDate(-1, 0, 0), Expires: fixedTime.AddDate(9, 0, 0)}}},
			[]string{"  Talos authority  until " + fixedTime.AddDate(9, 0, 0).UTC().Format(time.DateOnly) + "  since " + fixedTime.AddDate(-1, 0, 0).UTC().Format(time.DateOnly) + "\n"}, nil},
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

// TestSupportOfStatus: each version that runs once, that of the API and those of Talos of
// nodes that are there; the end of support is no difference from Git.
func TestSupportOfStatus(t *testing.T) {
	at := time.Date(2026, 11, 26, 0, 0, 0, 0, time.UTC)
	s := Status{Cluster: "demo", Version: "v1.33.2", Nodes: []NodeStatus{
		{Name: "a", Registered: true, Ready: true, Wanted: true, Talos: "v1.12.1"}, {Name: "b", Registered: true, Ready: true, Wanted: true, Talos: "v1.12.1"},
		{Name: "c", Unknown: true, Talos: "v1.11.0"},
	}}
	s.support(at)
	s.differences(at, nil)
	want := "support:\n  Kubernetes v1.33.2  ended on 2026-06-28\n  Talos v1.12.1       ended when 1.13 was released\nas in Git\n" + notCompared + "\n"
	if got := s.String(); !strings.HasSuffix(got, want) {
		t.Errorf("got\n%s\nwant at its end\n%s", got, want)
	}
}
