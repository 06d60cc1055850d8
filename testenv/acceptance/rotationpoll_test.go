//go:build linux

package acceptance

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"go.yaml.in/yaml/v4"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/protobuf/types/known/emptypb"
	"k8s.io/client-go/rest"

	"github.com/talosgen/talosgen/testenv/talosenv"
)

// access is what a person has at a moment: a kubeconfig and a talosconfig.
type access struct {
	name              string
	kubernetes, talos *tls.Config
}

// access writes both files, as the operator does, and reads them.
func (r *rotating) access() access {
	r.t.Helper()
	kubernetes, err := rest.TLSConfigFor(r.kubeconfig())
	if err != nil {
		r.t.Fatal(err)
	}
	file := filepath.Join(r.t.TempDir(), "talosconfig")
	r.must("talosconfig", "lab", "--output", file)
	talos, err := talosTLS(file)
	if err != nil {
		r.t.Fatal(err)
	}
	return access{"of " + time.Now().Format(time.TimeOnly), kubernetes, talos}
}

// talosTLS reads the current context of a talosconfig.
func talosTLS(file string) (*tls.Config, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var config struct {
		Context  string                    `yaml:"context"`
		Contexts map[string]map[string]any `yaml:"contexts"`
	}
	if err := yaml.Unmarshal(text, &config); err != nil {
		return nil, err
	}
	field := func(name string) []byte {
		value, _ := config.Contexts[config.Context][name].(string)
		data, _ := base64.StdEncoding.DecodeString(value)
		return data
	}
	pair, err := tls.X509KeyPair(field("crt"), field("key"))
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(field("ca")) {
		return nil, errors.New("the talosconfig has no authority")
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, RootCAs: roots, MinVersion: tls.VersionTLS12}, nil
}

// poller asks both APIs all along, with what people have: the Kubernetes API at one control
// plane after the other, as behind a load balancer, and the Talos API of each node.
type poller struct {
	r      *rotating
	cancel context.CancelFunc
	ended  chan struct{}

	mu      sync.Mutex
	people  []access
	silent  map[string]time.Time // since when somebody gets no answer of what is asked
	longest map[string]time.Duration
	asked   int
	failed  int
	reasons map[string]int
}

// retried is how long one who gets no answer asks again.
const retried = 10 * time.Second

// poll begins to ask.
func (r *rotating) poll(first access) *poller {
	ctx, cancel := context.WithCancel(r.t.Context())
	p := &poller{r: r, cancel: cancel, ended: make(chan struct{}), people: []access{first},
		silent: map[string]time.Time{}, longest: map[string]time.Duration{}, reasons: map[string]int{}}
	go func() {
		defer close(p.ended)
		ticker := time.NewTicker(300 * time.Millisecond)
		defer ticker.Stop()
		for ctx.Err() == nil {
			p.round(ctx)
			select {
			case <-ticker.C:
			case <-ctx.Done():
			}
		}
	}()
	r.t.Cleanup(p.end)
	return p
}

// use lets people have other files.
func (p *poller) use(people ...access) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.people = people
	clear(p.silent)
}

func (p *poller) end() {
	p.cancel()
	<-p.ended
}

// stop ends it, and wants each question to have been answered, if need be again.
func (p *poller) stop() {
	p.r.t.Helper()
	p.end()
	const least = 200
	p.r.t.Logf("asked %d times, without an answer %d times: %v; longest without: %v", p.asked, p.failed, p.reasons, p.longest)
	if p.asked < least {
		p.r.t.Errorf("asked %d times only", p.asked)
	}
	for what, longest := range p.longest {
		if longest > retried {
			p.r.t.Errorf("%s: no answer for %s", what, longest)
		}
	}
}

// round asks everything once.
func (p *poller) round(ctx context.Context) {
	p.mu.Lock()
	people := p.people
	p.mu.Unlock()
	for _, a := range people {
		var err error
		for _, n := range p.r.bed.ControlPlanes {
			if err = a.askKubernetes(ctx, p.r.bed, n); err == nil {
				break
			}
		}
		p.note(ctx, "Kubernetes, files "+a.name, err)
		for _, n := range p.r.bed.Nodes() {
			p.note(ctx, "Talos of "+n.Name+", files "+a.name, a.askTalos(ctx, p.r.bed, n))
		}
	}
}

// note counts an answer.
func (p *poller) note(ctx context.Context, what string, err error) {
	if ctx.Err() != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked++
	if err == nil {
		delete(p.silent, what)
		return
	}
	p.failed++
	p.reasons[err.Error()]++
	if p.silent[what].IsZero() {
		p.silent[what] = time.Now()
	}
	p.longest[what] = max(p.longest[what], time.Since(p.silent[what]))
}

// answered is how long an answer may take.
const answered = 5 * time.Second

// askKubernetes lists nodes, over a connection of its own.
func (a access) askKubernetes(ctx context.Context, bed *talosenv.Cluster, n *talosenv.Node) error {
	transport := &http.Transport{DialContext: bed.Dial, TLSClientConfig: a.kubernetes.Clone(), DisableKeepAlives: true}
	client := http.Client{Transport: transport, Timeout: answered}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+n.Address.String()+":6443/api/v1/nodes", nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", n.Name, response.Status)
	}
	return nil
}

// askTalos asks a node for its version, over a connection of its own.
func (a access) askTalos(ctx context.Context, bed *talosenv.Cluster, n *talosenv.Node) error {
	ctx, cancel := context.WithTimeout(ctx, answered)
	defer cancel()
	connection, err := grpc.NewClient("passthrough:///"+n.Address.String()+":50000", grpc.WithTransportCredentials(credentials.NewTLS(a.talos.Clone())),
		grpc.WithContextDialer(func(ctx context.Context, address string) (net.Conn, error) { return bed.Dial(ctx, "tcp", address) }))
	if err != nil {
		return err
	}
	defer connection.Close()
	_, err = machine.NewMachineServiceClient(connection).Version(ctx, &emptypb.Empty{})
	return err
}
