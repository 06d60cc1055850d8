package apply

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/schemas"
)

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
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
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

func (c *testCluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	const object = `{"metadata": {"namespace": "kube-system", "name": "autoscaler"}, "status": {"replicas": %[1]d},
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
	replicas := 1
	if c.stopped {
		replicas = 0
	}
	switch {
	case strings.HasSuffix(r.URL.Path, "/apps/v1/deployments"):
		fmt.Fprintf(w, `{"items": [`+object+`]}`, replicas)
	case strings.HasSuffix(r.URL.Path, "/apps/v1/daemonsets"):
		fmt.Fprint(w, `{"items": []}`)
	default:
		fmt.Fprintf(w, object, replicas)
	}
}

func (c *testCluster) makeServer() {
	b := c.bench
	c.made++
	body := fmt.Sprintf(`{"name": "demo-auto-%d", "server_type": "cpx22", "location": "fsn1", "image": "debian-13",
		"labels": {"hcloud/node-group": "demo-auto", "cluster": "demo"}}`, c.made)
	request := httptest.NewRequest(http.MethodPost, b.url+"/servers", strings.NewReader(body))
	request.Header.Set("Authorization", "Bearer "+b.sim.Token())
	request.Header.Set("Content-Type", "application/json")
	answer := httptest.NewRecorder()
	b.sim.ServeHTTP(answer, request)
	if answer.Code != http.StatusCreated {
		text, _ := io.ReadAll(answer.Body)
		b.t.Errorf("the autoscaler: %d %s", answer.Code, text)
	}
}

// join makes the cluster that of a bench.
func (c *testCluster) join(b *bench, url string) {
	b.t.Helper()
	c.bench = b
	o := newOperators(b.t, 1)
	encode := base64.StdEncoding.EncodeToString
	ca := fmt.Sprintf("{crt: %s, key: %s}", encode(c.cert), encode(c.key))
	files := o.small(b.t)
	files[schemas.InfrastructureFile] = strings.Replace(demoInfrastructure, "role: worker\n    types", "role: controlplane\n    types", 1) + fmt.Sprintf(`kubernetesApi:
  endpoint: https://10.0.1.11:6443
  externalEndpoint: %s
  tlsServerName: kubernetes
  certSans: [127.0.0.1]
`, url)
	files["nodes/demo-worker-1.yaml"] = o.encrypted(b.t, "nodes/demo-worker-1.yaml",
		"version: v1alpha1\nmachine:\n  ca: "+ca+"\ncluster:\n  ca: "+ca+"\n", "token", canaryToken)
	env, err := o.open(b.t, o.sealed(b.t, files))
	if err != nil {
		b.t.Fatal(err)
	}
	b.env = env
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
	s := c.bench.connect()
	s.builder.Random = rand.Reader
	policy := Policy{Consent: Consent{Unprotect: "demo", AllowMade: true}}
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
	c.join(b, c.server.URL)
	b.apply(Policy{})
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
	p, err := b.connect().PlanDestroy(t.Context(), Policy{Consent: Consent{AllowMade: true}})
	if err != nil || len(p.Changes)+len(p.Left)+len(p.Observed.Servers) > 0 {
		t.Errorf("still there: %v (%v)", keys(p.Changes), err)
	}
	b.noToken()

	// With nothing to destroy nobody is asked.
	if _, err := c.destroy(); err != nil || strings.Count(c.told(), "\n") != 1 {
		t.Errorf("the second time: %v, told %q", err, c.told())
	}
}

// Without a name in the tree the address that Hetzner has now leads there.
func TestPublicNow(t *testing.T) {
	server := func(name, ip string) plan.Server {
		return plan.Server{Meta: plan.Meta{Name: name}, PublicIPv4: plan.PublicIP{IP: ip}}
	}
	balancer := plan.LoadBalancer{Meta: plan.Meta{Name: "api"}, PublicInterface: true, PublicIPv4: plan.PublicIP{IP: "203.0.113.9"}}
	toServers := []schemas.InfraTarget{{Kind: schemas.TargetServer, Name: "cp-1"}, {Kind: schemas.TargetServer, Name: "cp-2"}}
	for _, test := range []struct {
		name     string
		external []schemas.InfraTarget
		observed plan.Observed
		want     string
	}{
		{"load balancer", []schemas.InfraTarget{{Kind: schemas.TargetLoadBalancer, Name: "api"}},
			plan.Observed{LoadBalancers: []plan.LoadBalancer{balancer}}, "https://203.0.113.9:6443"},
		{"the first that is there", toServers, plan.Observed{Servers: []plan.Server{server("cp-2", "203.0.113.2"), server("cp-1", "")}}, "https://203.0.113.2:6443"},
		{"none is there", toServers, plan.Observed{Servers: []plan.Server{server("other", "203.0.113.3")}}, ""},
	} {
		api := schemas.InfraAPI{Endpoint: "https://10.0.0.1:6443", External: test.external}
		if got := publicNow(schemas.Infrastructure{KubernetesAPI: api}, test.observed, api); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// What cannot be stopped does not keep anybody from destroying.
func TestDestroyWithoutControllers(t *testing.T) {
	for _, test := range []struct {
		name, url string // of the API, if it is not that of the cluster
		set       func(*testCluster)
		want      string
	}{
		{"refused", "", func(c *testCluster) { c.status = 403 }, "failed stop controllers Kubernetes API: GET /apis/apps/v1/deployments?limit=250: 403 Forbidden; " + mayRace},
		{"broken", "", func(c *testCluster) { c.status = 500 }, "failed stop controllers Kubernetes API: GET /apis/apps/v1/deployments?limit=250: 500 Internal Server Error; " + mayRace},
		{"gone", "", func(c *testCluster) { c.server.Close() }, "done stop controllers not done, the Kubernetes API does not answer: "},
		{"simulated", "https://10.0.1.11:6443", func(*testCluster) {}, "done stop controllers not done: simulated servers run no Kubernetes"},
		{"nowhere", `""`, func(c *testCluster) { c.bench.env.Infrastructure.KubernetesAPI.Endpoint = "" }, "done stop controllers not done: the tree does not say where the Kubernetes API is"},
	} {
		t.Run(test.name, func(t *testing.T) {
			b, c := newBench(t, demoInfrastructure), newTestCluster(t)
			if test.url == "" {
				test.url = c.server.URL
			}
			c.join(b, test.url)
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
