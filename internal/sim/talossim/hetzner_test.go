package talossim_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"golang.org/x/crypto/ssh"
	"google.golang.org/grpc/codes"

	"github.com/talosgen/talosgen/internal/sim/hetznersim"
	"github.com/talosgen/talosgen/internal/sim/talossim"
)

// project is a fleet behind the servers of a project at Hetzner Cloud.
type project struct {
	*world
	api      *hetznersim.Sim
	snapshot int64
}

func newProject(t *testing.T) *project {
	t.Helper()
	w := newWorld(t)
	p := &project{world: w, api: hetznersim.New(hetznersim.Options{Clock: w.fleet.Clock(), Machines: talossim.NewServers(w.fleet, nil)})}
	p.snapshot = p.api.AddSnapshot("Talos", "x86", 10, map[string]string{"os": "talos", "talos_version": "v1.13.9"})
	return p
}

type object = map[string]any

// call calls the API, and returns what is at a path of the answer.
func (p *project) call(method, path string, body object, at ...string) any {
	p.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		p.t.Fatal(err)
	}
	r := httptest.NewRequest(method, "/v1"+path, bytes.NewReader(text))
	r.Header.Set("Authorization", "Bearer "+p.api.Token())
	r.Header.Set("Content-Type", "application/json")
	rec := httptest.NewRecorder()
	p.api.ServeHTTP(rec, r)
	if rec.Code >= http.StatusBadRequest {
		p.t.Fatalf("%s %s: %s", method, path, rec.Body)
	}
	var answer any
	if err := json.Unmarshal(rec.Body.Bytes(), &answer); err != nil && len(at) > 0 {
		p.t.Fatal(err)
	}
	for _, key := range at {
		answer = answer.(object)[key]
	}
	return answer
}

// settle lets actions and machines come to an end.
func (p *project) settle() {
	p.t.Helper()
	for range 20 {
		p.pass(30 * time.Second)
		p.api.Settle()
	}
}

func (p *project) server(name string, more object) string {
	p.t.Helper()
	body := object{"name": name, "server_type": "cx23", "location": "fsn1", "image": p.snapshot}
	for k, v := range more {
		body[k] = v
	}
	id := p.call(http.MethodPost, "/servers", body, "server", "id")
	p.settle()
	return fmt.Sprintf("/servers/%.0f", id)
}

// TestServers: what happens to servers happens to machines.
func TestServers(t *testing.T) {
	p := newProject(t)
	path := p.server("cp-1", nil)
	m := p.fleet.Machine("cp-1")
	expect(t, "made", m.Stage(), "maintenance")
	at := p.call(http.MethodGet, path, nil, "server", "public_net", "ipv4", "ip").(string)
	conn, err := p.fleet.Dial(t.Context(), at+":50000")
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
	p.call(http.MethodPost, path+"/actions/poweroff", nil)
	p.settle()
	expect(t, "off", m.Stage(), "")
	p.call(http.MethodPost, path+"/actions/poweron", nil)
	p.settle()
	expect(t, "on", m.Stage(), "maintenance")
	p.call(http.MethodPost, path+"/actions/enable_rescue", object{})
	p.settle()
	p.call(http.MethodPost, path+"/actions/reset", nil)
	p.settle()
	expect(t, "rescue system", m.Stage(), "")
	p.call(http.MethodPost, path+"/actions/rebuild", object{"image": p.snapshot, "user_data": p.cluster.ControlPlane("cp-1")})
	p.settle()
	expect(t, "rebuilt, with a configuration", p.fleet.Machine("cp-1").Stage(), "booting")
	p.call(http.MethodDelete, path, nil)
	p.settle()
	if p.fleet.Machine("cp-1") != nil {
		t.Error("it is deleted, and there")
	}
	p.server("other", object{"image": "debian-13"})
	if p.fleet.Machine("other") != nil {
		t.Error("a server without Talos is in the fleet")
	}
}

// TestServersOfEtcd: deleting servers is chosen, and must not cost a quorum.
func TestServersOfEtcd(t *testing.T) {
	p := newProject(t)
	var paths []string
	for i := range 3 {
		name := fmt.Sprintf("cp-%d", i+1)
		paths = append(paths, p.server(name, object{"user_data": p.cluster.ControlPlane(name)}))
	}
	first := p.call(http.MethodGet, paths[0], nil, "server", "public_net", "ipv4", "ip").(string)
	p.must(p.adminAt(first).Bootstrap(t.Context(), &machine.BootstrapRequest{}))
	p.settle()
	expect(t, "stages", p.stages(), "running running running")
	p.call(http.MethodDelete, paths[1], nil)
	p.settle()
	p.sound()
	p.call(http.MethodDelete, paths[2], nil)
	p.settle()
	if v := strings.Join(p.fleet.Violations(), "\n"); !strings.Contains(v, "has lost its quorum: 1 of 3") {
		t.Errorf("violations %q", v)
	}
}

func newSSHKey(t *testing.T) (private string, signer ssh.Signer, public string) {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(key, "")
	if err != nil {
		t.Fatal(err)
	}
	signer, err = ssh.NewSignerFromKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(block)), signer, strings.TrimSpace(string(ssh.MarshalAuthorizedKey(signer.PublicKey())))
}

// TestGateway: a node without public addresses is reached through the gateway,
// and only through it.
func TestGateway(t *testing.T) {
	p := newProject(t)
	hostKey, host, _ := newSSHKey(t)
	_, user, public := newSSHKey(t)
	_, stranger, _ := newSSHKey(t)
	p.call(http.MethodPost, "/ssh_keys", object{"name": "me", "public_key": public})
	network := p.call(http.MethodPost, "/networks", object{"name": "demo", "ip_range": "10.0.0.0/16", "subnets": []object{
		{"type": "cloud", "ip_range": "10.0.1.0/24", "network_zone": "eu-central"},
	}}, "network", "id")
	gateway := p.server("gateway", object{"image": "debian-13", "networks": []any{network}, "ssh_keys": []string{"me"},
		"user_data": fmt.Sprintf("#cloud-config\nssh_keys:\n  ed25519_private: %q\n", hostKey)})
	at := p.call(http.MethodGet, gateway, nil, "server", "public_net", "ipv4", "ip").(string) + ":22"
	p.server("cp-1", object{"networks": []any{network}, "public_net": object{"enable_ipv4": false, "enable_ipv6": false}})
	private := p.call(http.MethodGet, "/servers?name=cp-1", nil, "servers").([]any)[0].(object)["private_net"].([]any)[0].(object)["ip"].(string)

	if _, err := p.fleet.Dial(t.Context(), private+":50000"); err == nil {
		t.Error("the node is reached from everywhere")
	}
	dial := func(as ssh.Signer) (*ssh.Client, error) {
		raw, err := p.fleet.Dial(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		conn, channels, requests, err := ssh.NewClientConn(raw, at, &ssh.ClientConfig{
			User: "root", Auth: []ssh.AuthMethod{ssh.PublicKeys(as)}, HostKeyCallback: ssh.FixedHostKey(host.PublicKey()),
		})
		if err != nil {
			return nil, err
		}
		return ssh.NewClient(conn, channels, requests), nil
	}
	if _, err := dial(stranger); err == nil {
		t.Error("a stranger is let in")
	}
	jump, err := dial(user)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := jump.DialContext(t.Context(), "tcp", private+":50000")
	if err != nil {
		t.Fatal(err)
	}
	p.must(p.bareOver(conn).Version(t.Context(), nothing))
	if _, err := jump.DialContext(t.Context(), "tcp", "10.0.1.99:50000"); err == nil {
		t.Error("nobody answers")
	}
	p.call(http.MethodPost, gateway+"/actions/poweroff", nil)
	p.settle()
	if err := jump.Wait(); err == nil {
		t.Error("the connection did not break")
	}
	p.expectCode("without the gateway", second(p.bareOver(conn).Version(t.Context(), nothing)), codes.Unavailable)
}
