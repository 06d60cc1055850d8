package talossim_test

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/siderolabs/talos/pkg/machinery/api/machine"

	"github.com/talosgen/talosgen/internal/sim/talossim"
	"github.com/talosgen/talosgen/internal/versions"
)

// kubernetes is a client of the Kubernetes API for a user's groups.
func (w *world) kubernetes(from talossim.View, groups ...string) *http.Client {
	w.t.Helper()
	certificate, key := w.cluster.SignKubernetes(w.fleet.Clock().Now().Add(-time.Minute), "me", groups...)
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		w.t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(w.cluster.KubernetesAuthority())
	transport := &http.Transport{DialContext: from.DialContext, TLSClientConfig: &tls.Config{
		RootCAs: roots, Certificates: []tls.Certificate{pair}, Time: w.fleet.Clock().Now, MinVersion: tls.VersionTLS13,
	}}
	w.t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// get is the status and the body of an answer, or why there is none.
func (w *world) get(c *http.Client, url string) string {
	w.t.Helper()
	r, err := c.Get(url)
	if err != nil {
		return err.Error()
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%d %s", r.StatusCode, text)
}

// readiness lists nodes with the status of their condition.
func (w *world) readiness(name string) string {
	w.t.Helper()
	var list []string
	for _, n := range w.fleet.Kubernetes(name).All("Node") {
		conditions := n["status"].(map[string]any)["conditions"].([]any)
		list = append(list, fmt.Sprint(n["metadata"].(map[string]any)["name"], "=", conditions[0].(map[string]any)["status"]))
	}
	return strings.Join(list, " ")
}

func TestKubernetes(t *testing.T) {
	w := newWorld(t)
	if w.fleet.Kubernetes("cp-1") != nil {
		t.Error("there is nothing yet")
	}
	w.bootstrap("cp-1", "cp-2", "cp-3")
	w.add("worker-1")
	w.apply("worker-1", w.cluster.Worker("worker-1"))
	w.pass(long)
	expect(t, "nodes", w.readiness("cp-1"), "cp-1=True cp-2=True cp-3=True worker-1=True")

	outside := w.fleet.From("")
	at := "https://" + address(1) + ":6443"
	admin := w.kubernetes(outside, "system:masters")
	expect(t, "readyz", w.get(admin, at+"/readyz"), "200 ok")
	if got := w.get(admin, at+"/api/v1/nodes/worker-1"); !strings.HasPrefix(got, "200 ") || !strings.Contains(got, `"kubeletVersion":"v`+versions.Newest().Start()+`"`) {
		t.Errorf("a node: %s", got)
	}
	if got := w.get(w.kubernetes(outside, "nobody"), at+"/api/v1/nodes"); !strings.HasPrefix(got, "403 ") {
		t.Errorf("somebody: %s", got)
	}
	if got := w.get(admin, "https://"+address(4)+":6443/readyz"); !strings.Contains(got, "connection refused") {
		t.Errorf("a worker: %s", got)
	}

	// A node that is away is not ready; one that was deleted comes back when it
	// boots; its pods are gone with it.
	w.fleet.Machine("worker-1").PowerOff()
	expect(t, "away", w.readiness("cp-1"), "cp-1=True cp-2=True cp-3=True worker-1=Unknown")
	api := w.fleet.Kubernetes("cp-1")
	api.Put(map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"namespace": "default", "name": "a"}, "spec": map[string]any{"nodeName": "worker-1"}})
	api.Remove("Node", "", "worker-1")
	expect(t, "deleted", w.readiness("cp-1"), "cp-1=True cp-2=True cp-3=True")
	if api.Get("Pod", "default", "a") != nil {
		t.Error("a pod on a node that is gone")
	}
	w.fleet.Machine("worker-1").PowerOn()
	w.pass(long)
	expect(t, "back", w.readiness("cp-1"), "cp-1=True cp-2=True cp-3=True worker-1=True")

	// Without a quorum there is no API.
	w.fleet.Machine("cp-2").PowerOff()
	w.fleet.Machine("cp-3").PowerOff()
	if got := w.get(admin, at+"/api/v1/nodes"); !strings.HasPrefix(got, "500 ") && !strings.Contains(got, "connection refused") {
		t.Errorf("without a quorum: %s", got)
	}
	w.sound()
}

// TestEndpoint: the address of the cluster leads to a control plane that serves.
func TestEndpoint(t *testing.T) {
	w := newWorld(t)
	for i := range 3 {
		name := fmt.Sprintf("cp-%d", i+1)
		w.fleet.Add(talossim.Spec{Name: name, Public: []string{address(i + 1)}, Private: []string{fmt.Sprintf("10.0.0.%d", i+1)}, Network: "lan", Installed: true}).PowerOn()
		w.pass(long)
		w.apply(name, w.cluster.ControlPlane(name))
		w.pass(long)
		if i == 0 {
			w.must(w.admin(name).Bootstrap(t.Context(), &machine.BootstrapRequest{}))
			w.pass(long)
		}
	}
	w.fleet.Machine("cp-1").PowerOff()
	expect(t, "from within", w.get(w.kubernetes(w.fleet.From("lan"), "system:masters"), "https://10.0.0.10:6443/readyz"), "200 ok")
	if got := w.get(w.kubernetes(w.fleet.From(""), "system:masters"), "https://10.0.0.10:6443/readyz"); !strings.Contains(got, "i/o timeout") {
		t.Errorf("from outside: %s", got)
	}
}

// TestNoCNI: nodes wait for a network.
func TestNoCNI(t *testing.T) {
	w := newWorld(t)
	w.fleet = talossim.New(talossim.Options{Random: rand.Reader, NoCNI: true})
	w.bootstrap("cp-1")
	expect(t, "nodes", w.readiness("cp-1"), "cp-1=False")
	w.fleet.Kubernetes("cp-1").Put(map[string]any{"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": map[string]any{"namespace": "kube-system", "name": "cilium"}})
	expect(t, "nodes", w.readiness("cp-1"), "cp-1=True")
}

// TestSnapshotOfKubernetes: what Kubernetes had comes back with a snapshot.
func TestSnapshotOfKubernetes(t *testing.T) {
	w := newWorld(t)
	w.bootstrap("cp-1")
	config := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"namespace": "default", "name": "kept"}}
	w.fleet.Kubernetes("cp-1").Put(config)
	data := w.snapshot("cp-1")
	w.fleet.Kubernetes("cp-1").Remove("ConfigMap", "default", "kept")
	w.fleet.Lose("cp-1")
	w.add("cp-1")
	w.apply("cp-1", w.cluster.ControlPlane("cp-1"))
	w.pass(long)
	w.upload("cp-1", data)
	w.must(w.admin("cp-1").Bootstrap(t.Context(), &machine.BootstrapRequest{RecoverEtcd: true}))
	w.pass(long)
	if w.fleet.Kubernetes("cp-1").Get("ConfigMap", "default", "kept") == nil {
		t.Error("it is lost")
	}
}

// TestConnectionsStay: requests of one client go over one connection.
func TestConnectionsStay(t *testing.T) {
	w := newWorld(t)
	w.bootstrap("cp-1")
	opened := 0
	client := w.kubernetes(w.fleet.From(""), "system:masters")
	transport := client.Transport.(*http.Transport)
	dial := transport.DialContext
	transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		opened++
		return dial(ctx, network, address)
	}
	for range 5 {
		if got := w.get(client, "https://"+address(1)+":6443/api/v1/nodes"); !strings.HasPrefix(got, "200 ") {
			t.Fatal(got)
		}
	}
	if opened != 1 {
		t.Errorf("%d connections", opened)
	}
}

// TestControllers: what is wanted through the API becomes ready, on the clock of
// the fleet; and the cloud controller says which servers nodes are.
func TestControllers(t *testing.T) {
	w := newWorld(t)
	w.fleet.Add(talossim.Spec{Name: "cp-1", Public: []string{address(1)}, Serial: "4711", Network: talossim.PrivateNetwork, Installed: true}).PowerOn()
	w.pass(long)
	w.apply("cp-1", w.cluster.ControlPlane("cp-1"))
	w.pass(long)
	w.must(w.admin("cp-1").Bootstrap(t.Context(), &machine.BootstrapRequest{}))
	w.pass(long)
	client := w.kubernetes(w.fleet.From(""), "system:masters")
	const sets = "/apis/apps/v1/namespaces/kube-system/daemonsets"
	body := `{"apiVersion":"apps/v1","kind":"DaemonSet","metadata":{"name":"hcloud-cloud-controller-manager"},"spec":{}}`
	r, err := client.Post("https://"+address(1)+":6443"+sets, "application/json", strings.NewReader(body))
	if err != nil || r.StatusCode != http.StatusCreated {
		t.Fatal(r, err)
	}
	_ = r.Body.Close()
	node := func() any {
		return w.fleet.Kubernetes("cp-1").Get("Node", "", "cp-1")["spec"].(map[string]any)["providerID"]
	}
	if id := node(); id != nil {
		t.Errorf("before anything runs the node is %v", id)
	}
	w.pass(long)
	_ = w.fleet.Kubernetes("cp-1") // what is due happens
	if id := node(); id != "hcloud://4711" {
		t.Errorf("the node is %v", id)
	}
}
