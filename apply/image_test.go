package apply

import (
	"context"
	"fmt"
	"io"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/talosgen/talosgen/apply/image"
	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/apply/progress"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/sim/hetznersim"
	"github.com/talosgen/talosgen/internal/sim/rescuesim"
)

// talosInfrastructure is two servers, for each architecture one, that need
// images.
const talosInfrastructure = smallInfrastructure + `
images:
  - {architecture: x86, selector: "os=talos,talos_version=v1.14.1", build: true, url: "https://factory.test/image/3765/v1.14.1/hcloud-amd64.raw.xz",
     labels: {os: talos, talos_version: v1.14.1, managed-by: talosgen}, builderType: cpx11, builderLocation: ash}
  - {architecture: arm, selector: "os=talos,talos_version=v1.14.1", build: true, url: "https://factory.test/image/3765/v1.14.1/hcloud-arm64.raw.xz",
     labels: {os: talos, talos_version: v1.14.1, managed-by: talosgen}, builderType: cax11, builderLocation: nbg1}
servers:
  - &server
    name: demo-worker-1
    role: worker
    types: [cpx22]
    locations: [fsn1]
    image: {selector: "os=talos,talos_version=v1.14.1", architecture: x86}
    publicIpv4: true
    publicIpv6: false
    labels: {cluster: demo, managed-by: talosgen, role: worker}
    protected: false
  - <<: *server
    name: demo-worker-2
    types: [cax11]
    image: {selector: "os=talos,talos_version=v1.14.1", architecture: arm}
`

// imageBench has rescue systems behind its servers.
type imageBench struct {
	*bench
	machines *rescuesim.Machines
	urls     chan string // of the downloads, as far as anybody looks
}

func newImageBench(t *testing.T) *imageBench {
	t.Helper()
	b := &imageBench{bench: newBench(t, talosInfrastructure), urls: make(chan string, 100)}
	var err error
	b.machines, err = rescuesim.New(strings.NewReader(strings.Repeat("r", 1000)), func(_ context.Context, url string) (io.ReadCloser, error) {
		select {
		case b.urls <- url:
		default:
		}
		return io.NopCloser(strings.NewReader("content of " + url)), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.machines.Close)
	b.server.Close()
	b.sim = hetznersim.New(hetznersim.Options{Clock: b.clock, Token: canaryToken, ActionTime: hetznersim.Instant, Machines: b.machines})
	b.listen()
	return b
}

func (b *imageBench) session(mirrors ...string) *Session {
	b.t.Helper()
	m, err := image.ParseMirrors(mirrors)
	if err != nil {
		b.t.Fatal(err)
	}
	return b.connect(func(c *Cloud) {
		c.Builder = Builder{Dial: b.machines.Dial, Random: strings.NewReader(strings.Repeat("k", 1000)), Mirrors: m}
	})
}

// TestApplyMakesImages: those that are missing come first, and the servers are
// made from them.
func TestApplyMakesImages(t *testing.T) {
	b := newImageBench(t)
	s := b.session("https://mirror.test/{path}")
	r, err := s.Apply(t.Context(), b.plan(s, Policy{}), Policy{}, Owner{Name: "ann@desk", Run: "1"})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"create image/os=talos,talos_version=v1.14.1/arm", "create image/os=talos,talos_version=v1.14.1/x86",
		"create server/demo-worker-1", "create server/demo-worker-2",
	}
	if got := keys(r.Done); !slices.Equal(got, want) {
		t.Errorf("done %q, want %q", got, want)
	}
	urls := []string{<-b.urls, <-b.urls}
	slices.Sort(urls)
	if got := fmt.Sprint(urls); got != "[https://mirror.test/image/3765/v1.14.1/hcloud-amd64.raw.xz https://mirror.test/image/3765/v1.14.1/hcloud-arm64.raw.xz]" {
		t.Errorf("downloaded %s", got)
	}
	servers, err := s.project.Servers(t.Context())
	if err != nil || len(servers) != 2 {
		t.Fatalf("%d servers: %v", len(servers), err)
	}
	for _, server := range servers {
		d, found := b.machines.Snapshot(server.ImageID)
		if !found || string(d.Content) != "content of "+d.URL || !strings.HasSuffix(d.URL, map[string]string{"cax11": "arm64.raw.xz", "cpx22": "amd64.raw.xz"}[server.Type]) {
			t.Errorf("%s (%s) is made from %+v", server.Name, server.Type, d)
		}
	}
	b.mu.Lock()
	noted := slices.ContainsFunc(b.told, func(e progress.Event) bool {
		return e.State == progress.Note && e.Step == "create image/os=talos,talos_version=v1.14.1/x86" && e.Text == "taking the snapshot"
	})
	b.mu.Unlock()
	if !noted {
		t.Error("nobody was told of the progress")
	}
	if uses, err := s.Images(t.Context(), []image.Environment{{Name: "demo", Infrastructure: b.env.Infrastructure}}, nil); err != nil || len(uses) != 2 || len(uses[0].By) != 2 {
		t.Errorf("uses %+v: %v", uses, err)
	}
}

// TestDeadBuilders: apply and destroy remove what a run left that died while it
// made an image, though they need no image themselves.
func TestDeadBuilders(t *testing.T) {
	for _, how := range []string{"apply", "destroy", "build"} {
		b := newImageBench(t)
		if b.dead(b.session()) == nil {
			t.Fatal("it survived")
		}
		b.clock.Advance(15 * time.Minute) // its lock has expired
		next := b.session()
		owner, policy := Owner{Name: "bob@desk", Run: "2"}, Policy{Consent: plan.Consent{Unprotect: "demo", AllowDestroy: true}}
		var err error
		switch how {
		case "apply":
			_, err = next.Apply(t.Context(), b.plan(next, policy), policy, owner)
		case "destroy":
			p, wrong := next.PlanDestroy(t.Context(), policy)
			if wrong != nil || len(p.Changes) > 0 {
				t.Fatalf("%v: %v", p, wrong)
			}
			_, err = next.Apply(t.Context(), p, policy, owner)
		case "build":
			err = next.BuildImages(t.Context(), nil, owner)
		}
		if err != nil {
			t.Fatal(how, err)
		}
		if left := b.list("servers") + b.list("ssh_keys") + b.list("firewalls"); strings.Contains(left, `"managed-by":"talosgen","talosgen.dev`) {
			t.Errorf("%s: left over: %s", how, left)
		}
	}
}

// TestSweepLeavesTheLiving: a run that has nothing to do does not mind another
// one that is making an image.
func TestSweepLeavesTheLiving(t *testing.T) {
	b := newImageBench(t)
	s := b.session()
	if b.dead(s) == nil {
		t.Fatal("it survived")
	}
	next := b.session()
	if err := next.BuildImages(t.Context(), nil, Owner{Name: "bob@desk", Run: "2"}); err != nil {
		t.Error(err) // the lock has not expired: who holds it may live
	}
	if !strings.Contains(b.list("servers"), "talosgen-image") {
		t.Error("it removed what belongs to the other run")
	}
}

// dead runs apply, and lets it die while it makes an image.
func (b *imageBench) dead(s *Session) error {
	dying, kill := context.WithCancel(b.t.Context())
	defer kill()
	b.sim.Inject(hetznersim.Fault{Method: "POST", Path: "/servers/*/actions/create_image", As: hetznersim.Drop(), Times: -1, Then: func() {
		kill()
		// Nothing of its cleanup arrives.
		b.sim.Inject(hetznersim.Fault{Method: "DELETE", As: hetznersim.Status(403, "forbidden", "the process is dead"), Times: -1})
	}})
	_, err := s.Apply(dying, b.plan(s, Policy{}), Policy{}, Owner{Name: "ann@desk", Run: "1"})
	b.settle()
	b.sim.ClearFaults()
	return err
}

// list is a list of the project as text.
func (b *imageBench) list(what string) string {
	r := httptest.NewRequest("GET", "/v1/"+what, nil)
	r.Header.Set("Authorization", "Bearer "+secret.New(canaryToken).Reveal())
	answer := httptest.NewRecorder()
	b.sim.ServeHTTP(answer, r)
	return answer.Body.String()
}
