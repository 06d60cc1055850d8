package access

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
)

func request(existing string) Request {
	return Request{Context: "dev", Lifetime: 12 * time.Hour, File: "config", Existing: []byte(existing), Now: now, Random: rand.Reader}
}

// blob is base64 of PEM.
var blob = regexp.MustCompile(`LS0tLS1[A-Za-z0-9+/=]+`)

// readable is a file without its certificates and keys.
func readable(f *File) string { return blob.ReplaceAllString(f.Content.Reveal(), "<PEM>") }

func TestTalosconfig(t *testing.T) {
	a := newAuthority(t, "ed25519")
	for _, tt := range []struct{ name, existing, want string }{
		{"new", "", `context: dev
contexts:
    dev:
        endpoints:
            - 10.0.0.1
        ca: <PEM>
        crt: <PEM>
        key: <PEM>
`},
		{"as talosctl leaves it", "context: \"\"\ncontexts: {}\n", `context: dev
contexts:
    dev:
        endpoints:
            - 10.0.0.1
        ca: <PEM>
        crt: <PEM>
        key: <PEM>
`},
		{"others and comments stay", `# mine
context: other # the usual one
contexts:
  # the old cluster
  other:
    endpoints: [192.0.2.1] # by VPN
    ca: YQ==
  dev:
    nodes:
    - 10.0.0.1
    target: 192.0.2.9
    auth:
      basic: {username: a, password: b}
    proxy-url: http://proxy # needed
`, `# mine
context: dev # the usual one
contexts:
  # the old cluster
  other:
    endpoints: [192.0.2.1] # by VPN
    ca: YQ==
  dev:
    nodes:
    - 10.0.0.1
    proxy-url: http://proxy # needed
    endpoints:
    - 10.0.0.1
    ca: <PEM>
    crt: <PEM>
    key: <PEM>
`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f, err := a.Talosconfig(request(tt.existing), "os:admin", []string{"10.0.0.1"})
			if err != nil {
				t.Fatal(err)
			}
			if got := readable(f); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

func TestKubeconfig(t *testing.T) {
	a := newAuthority(t, "ecdsa")
	for _, tt := range []struct{ name, existing, want string }{
		{"new", "", `apiVersion: v1
kind: Config
clusters:
- cluster:
    server: https://api.example.com:6443
    certificate-authority-data: <PEM>
    tls-server-name: kubernetes
  name: dev
users:
- user:
    client-certificate-data: <PEM>
    client-key-data: <PEM>
  name: admin@dev
contexts:
- context:
    cluster: dev
    user: admin@dev
  name: dev
current-context: dev
`},
		{"as kubectl leaves it", "apiVersion: v1\nclusters: null\ncontexts: []\ncurrent-context: \"\"\nkind: Config\npreferences: {}\nusers: null\n", `apiVersion: v1
clusters:
- cluster:
    server: https://api.example.com:6443
    certificate-authority-data: <PEM>
    tls-server-name: kubernetes
  name: dev
contexts:
- context:
    cluster: dev
    user: admin@dev
  name: dev
current-context: dev
kind: Config
preferences: {}
users:
- user:
    client-certificate-data: <PEM>
    client-key-data: <PEM>
  name: admin@dev
`},
		{"others and comments stay", `apiVersion: v1
kind: Config
clusters:
    # the old one
    - name: other
      cluster: {server: "https://192.0.2.1"}
contexts:
    - name: dev
      context:
          cluster: dev
          namespace: team # mine
          user: somebody
users:
    - name: admin@dev
      user:
          token: abc
current-context: other
`, `apiVersion: v1
kind: Config
clusters:
    # the old one
    - name: other
      cluster: {server: "https://192.0.2.1"}
    - cluster:
        server: https://api.example.com:6443
        certificate-authority-data: <PEM>
        tls-server-name: kubernetes
      name: dev
contexts:
    - name: dev
      context:
        cluster: dev
        namespace: team # mine
        user: admin@dev
users:
    - name: admin@dev
      user:
        client-certificate-data: <PEM>
        client-key-data: <PEM>
current-context: dev
`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f, err := a.Kubeconfig(request(tt.existing), Server{URL: "https://api.example.com:6443", TLSName: "kubernetes"}, kubernetesAdmin)
			if err != nil {
				t.Fatal(err)
			}
			if got := readable(f); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

// make is one of the two kinds of files.
var makes = map[string]func(*Authority, Request) (*File, error){
	"talosconfig": func(a *Authority, r Request) (*File, error) {
		return a.Talosconfig(r, "os:admin", []string{"10.0.0.1"})
	},
	"kubeconfig": func(a *Authority, r Request) (*File, error) {
		return a.Kubeconfig(r, Server{URL: "https://10.0.0.1:6443", TLSName: "kubernetes"}, kubernetesAdmin)
	},
}

func TestKeptUntilNearItsEnd(t *testing.T) {
	for name, makeFile := range makes {
		t.Run(name, func(t *testing.T) {
			a := newAuthority(t, "ed25519")
			first, err := makeFile(a, request(""))
			if err != nil {
				t.Fatal(err)
			}
			for _, tt := range []struct {
				after time.Duration
				kept  bool
			}{{time.Hour, true}, {9 * time.Hour, false}} {
				r := request(first.Content.Reveal() + "# a comment,  as it is\n")
				r.Now = now.Add(tt.after)
				again, err := makeFile(a, r)
				if err != nil {
					t.Fatal(err)
				}
				same := again.Content.Reveal() == string(r.Existing)
				if again.Kept != tt.kept || same != tt.kept {
					t.Errorf("after %v: kept %v, same bytes %v", tt.after, again.Kept, same)
				}
			}
		})
	}
}

// TestNamesThatLookLikeNumbers: a name is a text whatever it looks like.
func TestNamesThatLookLikeNumbers(t *testing.T) {
	r := request("")
	r.Context = "123"
	for name, makeFile := range makes {
		f, err := makeFile(newAuthority(t, "ed25519"), r)
		if err != nil || !strings.Contains(f.Content.Reveal(), `context: "123"`) {
			t.Errorf("%s: %v\n%s", name, err, readable(f))
		}
	}
}

func TestAnotherCluster(t *testing.T) {
	for name, makeFile := range makes {
		t.Run(name, func(t *testing.T) {
			first, err := makeFile(newAuthority(t, "ed25519"), request(""))
			if err != nil {
				t.Fatal(err)
			}
			a, r := newAuthority(t, "ed25519"), request(first.Content.Reveal())
			if _, err := makeFile(a, r); err == nil || diag.CodeOf(err) != diag.Conflict || !strings.Contains(err.Error(), `config: has a context "dev" already, of another cluster`) {
				t.Errorf("got %v", err)
			}
			r.Replace = true
			second, err := makeFile(a, r)
			if err != nil || second.Kept || second.Content.Reveal() == first.Content.Reveal() {
				t.Errorf("not replaced: %v", err)
			}
		})
	}
	const elsewhere = "contexts:\n- name: dev\n  context: {cluster: kind-dev, user: me}\n"
	if _, err := makes["kubeconfig"](newAuthority(t, "ecdsa"), request(elsewhere)); diag.CodeOf(err) != diag.Conflict {
		t.Errorf("a context of another cluster: %v", err)
	}
}

func TestBrokenFiles(t *testing.T) {
	const canary = "qzxkanarivogl95token"
	for name, makeFile := range makes {
		for _, tt := range []struct{ text, want string }{
			{"a: [" + canary + "\nb: {", "config:2"},
			{"- " + canary, "config:1: is not a mapping"},
			{"a: 1\n---\nb: 2\n", "config: holds more than one document"},
			{"contexts: 5\nclusters: 5\n", " is not a"},
		} {
			_, err := makeFile(newAuthority(t, "ed25519"), request(tt.text))
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), canary) {
				t.Errorf("%s of %q: %v", name, tt.text, err)
			}
		}
	}
}

// TestHandshake shows a kubeconfig to a server that asks for a client's
// certificate, at an address that its own does not hold.
func TestHandshake(t *testing.T) {
	a := newAuthority(t, "ecdsa")
	clients := x509.NewCertPool()
	clients.AddCert(a.certificate)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte(r.TLS.PeerCertificates[0].Subject.String()))
	}))
	clock := func() time.Time { return now }
	server.TLS = &tls.Config{
		ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: clients, Time: clock,
		Certificates: []tls.Certificate{serverCertificate(t, a, "kubernetes")},
	}
	server.StartTLS()
	defer server.Close()
	f, err := a.Kubeconfig(request(""), Server{URL: server.URL, TLSName: "kubernetes"}, kubernetesAdmin)
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		Clusters []struct {
			Cluster struct {
				Server string `yaml:"server"`
				CA     string `yaml:"certificate-authority-data"`
				Name   string `yaml:"tls-server-name"`
			} `yaml:"cluster"`
		} `yaml:"clusters"`
		Users []struct {
			User struct {
				Crt string `yaml:"client-certificate-data"`
				Key string `yaml:"client-key-data"`
			} `yaml:"user"`
		} `yaml:"users"`
	}
	if err := yaml.Unmarshal([]byte(f.Content.Reveal()), &config); err != nil {
		t.Fatal(err)
	}
	cluster, user := config.Clusters[0].Cluster, config.Users[0].User
	pair, err := tls.X509KeyPair(decode64(user.Crt), decode64(user.Key))
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(decode64(cluster.CA))
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{
		RootCAs: roots, Certificates: []tls.Certificate{pair}, ServerName: cluster.Name, Time: clock,
	}}}
	response, err := client.Get(cluster.Server)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var body strings.Builder
	if _, err := io.Copy(&body, response.Body); err != nil || body.String() != "CN=admin,O=system:masters" {
		t.Errorf("the server sees %q, %v", body.String(), err)
	}
}

// serverCertificate is one that the authority signs for a name.
func serverCertificate(t *testing.T, a *Authority, name string) tls.Certificate {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), DNSNames: []string{name}, NotBefore: now.Add(-time.Hour), NotAfter: now.Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, public, a.key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: private}
}
