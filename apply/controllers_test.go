package apply

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/schemas"
)

// operatorAddress is the public address of whoever destroys.
const operatorAddress = "198.51.100.7"

// testCluster is a Kubernetes API with an autoscaler, which makes a server
// whenever it is looked at, until it is stopped.
type testCluster struct {
	bench   *bench
	status  int // of every answer, if not 0
	stopped bool
	made    int
	cert    []byte // PEM of its authority
	key     []byte
	server  *httptest.Server
	nodes   Nodes
	dialled string
}

func newTestCluster(t *testing.T) *testCluster {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "kubernetes"},
		NotBefore: fixedTime.Add(-time.Hour), NotAfter: fixedTime.AddDate(1, 0, 0),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		DNSNames: []string{"kubernetes"},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	c := &testCluster{
		cert: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		key:  pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}),
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(c.cert)
	c.server = httptest.NewUnstartedServer(c)
	c.server.TLS = &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}},
		ClientCAs:    roots, ClientAuth: tls.RequireAndVerifyClientCert,
		Time: func() time.Time { return fixedTime },
	}
	c.server.StartTLS()
	t.Cleanup(c.server.Close)
	return c
}

// dial leads to the API, once the firewall lets in who asks.
func (c *testCluster) dial(ctx context.Context, address string) (net.Conn, error) {
	_, port, err := net.SplitHostPort(address)
	if err != nil || port != apiPort {
		return nil, fmt.Errorf("nobody listens at %s", address)
	}
	request := httptest.NewRequest(http.MethodGet, c.bench.url+"/firewalls", nil)
	request.Header.Set("Authorization", "Bearer "+c.bench.sim.Token())
	answer := httptest.NewRecorder()
	c.bench.sim.ServeHTTP(answer, request)
	if !strings.Contains(answer.Body.String(), operatorAddress+"/32") {
		return nil, errors.New("the firewall lets nobody in")
	}
	c.dialled = address
	return (&net.Dialer{}).DialContext(ctx, "tcp", c.server.Listener.Addr().String())
}

func (c *testCluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	const object = `{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"namespace": "kube-system", "name": "autoscaler"}, "status": {"replicas": %[1]d},
		"spec": {"replicas": %[1]d, "template": {"spec": {"containers": [{"image": "registry.k8s.io/autoscaling/cluster-autoscaler:v1.35.0"}]}}}}`
	if who := r.TLS.PeerCertificates[0].Subject; who.String() != "CN=admin,O=system:masters" || c.status != 0 {
		w.WriteHeader(max(c.status, http.StatusForbidden))
		return
	}
	if !c.stopped {
		c.makeServer()
	}
	if r.Method == http.MethodPatch {
		c.stopped = true
	}
	w.Header().Set("Content-Type", "application/json")
	replicas := 1
	if c.stopped {
		replicas = 0
	}
	switch {
	case strings.HasSuffix(r.URL.Path, "/apps/v1/deployments"):
		fmt.Fprintf(w, `{"apiVersion": "apps/v1", "kind": "DeploymentList", "items": [`+object+`]}`, replicas)
	case strings.HasSuffix(r.URL.Path, "/apps/v1/daemonsets"):
		fmt.Fprint(w, `{"apiVersion": "apps/v1", "kind": "DaemonSetList", "items": []}`)
	default:
		fmt.Fprintf(w, object, replicas)
	}
}

func (c *testCluster) makeServer() {
	b := c.bench
	c.made++
	body := fmt.Sprintf(`{"name": "demo-auto-%d", "server_type": "cpx22", "location": "fsn1", "image": "debian-13",
		"labels": {"hcloud/node-group": "demo-auto", "cluster": "demo"}}`, c.made)
	b.post("/servers", body)
}

// post makes something in the project, as somebody else.
func (b *bench) post(path, body string) {
	request := httptest.NewRequest(http.MethodPost, b.url+path, strings.NewReader(body))
	request.Header.Set("Authorization", "Bearer "+b.sim.Token())
	request.Header.Set("Content-Type", "application/json")
	answer := httptest.NewRecorder()
	b.sim.ServeHTTP(answer, request)
	if answer.Code != http.StatusCreated {
		b.t.Errorf("%s: %d %s", path, answer.Code, answer.Body)
	}
}

// join makes the cluster that of a bench, with a control plane at its public
// address.
func (c *testCluster) join(b *bench) {
	b.t.Helper()
	c.bench = b
	c.nodes = Nodes{
		Kubernetes: true, Owner: Owner{Name: "ann@desk", Run: "2"}, Dial: c.dial,
		Own: func(context.Context) []netip.Addr { return []netip.Addr{netip.MustParseAddr(operatorAddress)} },
	}
	o := newOperators(b.t, 1)
	encode := base64.StdEncoding.EncodeToString
	ca := fmt.Sprintf("{crt: %s, key: %s}", encode(c.cert), encode(c.key))
	files := o.small(b.t)
	files[schemas.InfrastructureFile] = strings.Replace(demoInfrastructure, "role: worker\n    types", "role: controlplane\n    types", 1) + `kubernetesApi:
  endpoint: https://10.0.1.11:6443
  tlsServerName: kubernetes
access: {mode: public, currentIpv4: true}
`
	files["nodes/demo-worker-1.yaml"] = o.encrypted(b.t, "nodes/demo-worker-1.yaml",
		"version: v1alpha1\nmachine:\n  ca: "+ca+"\ncluster:\n  ca: "+ca+"\n", "token", canaryToken)
	env, err := o.open(b.t, o.sealed(b.t, files))
	if err != nil {
		b.t.Fatal(err)
	}
	b.env = env
}

// publicAddress is that of the control plane.
func (c *testCluster) publicAddress() string {
	c.bench.t.Helper()
	o, err := c.bench.connect().connect.observe(c.bench.t.Context())
	if err != nil {
		c.bench.t.Fatal(err)
	}
	for _, s := range o.Servers {
		if s.Name == "demo-worker-1" {
			return publicAddress(s)
		}
	}
	return ""
}

// told are the news of the stage, one per line.
func (c *testCluster) told() string {
	b := c.bench
	b.mu.Lock()
	defer b.mu.Unlock()
	var text bytes.Buffer
	for _, e := range b.told {
		if e.Stage == "controllers" && e.Step != "" {
			fmt.Fprintln(&text, e.State, e.Step, e.Text)
		}
	}
	return text.String()
}

// destroy destroys with all that the cluster made.
func (c *testCluster) destroy() (*Report, error) {
	c.bench.t.Helper()
	s := c.bench.connect(func(to *Cloud) { to.Builder.Random, to.Nodes = rand.Reader, c.nodes })
	defer func() {
		if err := s.Close(c.bench.t.Context()); err != nil {
			c.bench.t.Error(err)
		}
	}()
	policy := Policy{Consent: plan.Consent{Unprotect: "demo", AllowMade: true}}
	p, err := s.PlanDestroy(c.bench.t.Context(), policy)
	if err != nil {
		c.bench.t.Fatal(err)
	}
	return s.Apply(c.bench.t.Context(), p, policy, Owner{Name: "ann@desk", Run: "2"})
}

// The autoscaler makes servers after the plan was agreed to, and until it is
// stopped: they go too, and nothing is left.
func TestDestroyStopsControllers(t *testing.T) {
	b, c := newBench(t, demoInfrastructure), newTestCluster(t)
	c.join(b)
	b.apply(Policy{})
	address := c.publicAddress()
	if c.made > 0 || c.told() != "" {
		t.Errorf("apply asked the cluster: %s", c.told())
	}
	r, err := c.destroy()
	if err != nil || len(r.Left.Changes)+len(r.Left.Left) > 0 {
		t.Fatalf("left %+v (%v)", r.Left, err)
	}
	if !c.stopped || c.made == 0 {
		t.Errorf("stopped %v, made %d", c.stopped, c.made)
	}
	if want := "done stop deployment kube-system/autoscaler \n"; c.told() != want {
		t.Errorf("told %q, want %q", c.told(), want)
	}
	if c.dialled != net.JoinHostPort(address, apiPort) {
		t.Errorf("the API was asked at %s", c.dialled)
	}
	p, err := b.connect().PlanDestroy(t.Context(), Policy{Consent: plan.Consent{AllowMade: true}})
	if err != nil || len(p.Changes)+len(p.Left)+len(p.Observed.Servers) > 0 {
		t.Errorf("still there: %v (%v)", keys(p.Changes), err)
	}
	b.noToken()

	// With nothing to destroy nobody is asked.
	if _, err := c.destroy(); err != nil || strings.Count(c.told(), "\n") != 1 {
		t.Errorf("the second time: %v, told %q", err, c.told())
	}
}

// Where the control planes are can be said.
func TestDestroyAtEndpoint(t *testing.T) {
	b, c := newBench(t, demoInfrastructure), newTestCluster(t)
	c.join(b)
	b.apply(Policy{})
	c.nodes.Endpoints = map[string]string{"demo-worker-1": "192.0.2.9"}
	if r, err := c.destroy(); err != nil || len(r.Left.Changes) > 0 || !c.stopped || c.dialled != "192.0.2.9:6443" {
		t.Errorf("left %+v (%v), stopped %v, asked at %s", r.Left, err, c.stopped, c.dialled)
	}
}

// A colleague who looks at the cluster meanwhile is let in by a firewall of their
// own. It goes with the cluster, and keeps nobody from destroying it; so does what
// a run has left that died long ago.
func TestDestroyBesideSessions(t *testing.T) {
	b, c := newBench(t, demoInfrastructure), newTestCluster(t)
	c.join(b)
	b.apply(Policy{})
	session := func(name string, expires time.Time) {
		b.post("/firewalls", fmt.Sprintf(`{"name": %q, "labels": {"cluster": "demo", "managed-by": "talosgen", "component": "session", "talosgen.dev/expires": "%d"}}`, name, expires.Unix()))
	}
	session("demo-session-dead", fixedTime.Add(-time.Hour))
	polls := c.nodes.Own
	c.nodes.Own = func(ctx context.Context) []netip.Addr {
		session("demo-session-bob", fixedTime.Add(time.Hour))
		return polls(ctx)
	}
	r, err := c.destroy()
	if err != nil || len(r.Left.Changes)+len(r.Left.Left) > 0 {
		t.Errorf("left %+v (%v)", r.Left, err)
	}
	if o, err := b.connect().connect.observe(t.Context()); err != nil || len(o.Firewalls) > 0 {
		t.Errorf("still there: %+v (%v)", o.Firewalls, err)
	}
}

// What cannot be stopped does not keep anybody from destroying.
func TestDestroyWithoutControllers(t *testing.T) {
	for _, test := range []struct {
		name string
		set  func(*testCluster)
		want string
	}{
		{"refused", func(c *testCluster) { c.status = 403 }, "failed stop controllers Kubernetes API: GET /apis/apps/v1/deployments: 403 Forbidden; " + mayRace},
		{"broken", func(c *testCluster) { c.status = 500 }, "failed stop controllers Kubernetes API: GET /apis/apps/v1/deployments: 500 Internal Server Error; " + mayRace},
		{"gone", func(c *testCluster) { c.server.Close() }, "done stop controllers not done, the Kubernetes API does not answer: "},
		{"simulated", func(c *testCluster) { c.nodes.Kubernetes = false }, "done stop controllers not done: simulated servers run no Kubernetes"},
		{"nobody lets one in", func(c *testCluster) { c.nodes.Own = func(context.Context) []netip.Addr { return nil } }, "done stop controllers not done: session access to the cluster demo: your public address is not known"},
	} {
		t.Run(test.name, func(t *testing.T) {
			b, c := newBench(t, demoInfrastructure), newTestCluster(t)
			c.join(b)
			b.apply(Policy{})
			test.set(c)
			if r, err := c.destroy(); err != nil || len(r.Left.Changes) > 0 {
				t.Errorf("left %+v (%v)", r.Left, err)
			}
			if !strings.HasPrefix(c.told(), test.want) || strings.Count(c.told(), "\n") != 1 {
				t.Errorf("told %q, want %q", c.told(), test.want)
			}
			b.noToken()
			if text := fmt.Sprintf("%+v %q", b.told, b.log); strings.Contains(text, "PRIVATE KEY") || strings.Contains(text, base64.StdEncoding.EncodeToString(c.key)) {
				t.Error("a key was told")
			}
		})
	}
}
