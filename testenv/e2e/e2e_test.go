package main

import (
	"bufio"
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/talosgen/talosgen/testenv/internal/child"
	"github.com/talosgen/talosgen/testenv/toolenv"
)

// runVariable makes the test program a run, with these arguments, one in a line.
const runVariable = "TALOSGEN_E2E_RUN"

const scriptsDir = "../../internal/sim/hetznersim/testdata/conformance"

func TestMain(m *testing.M) {
	if os.Getenv(runVariable) != "" {
		os.Args = append(os.Args[:1], strings.Split(os.Getenv(runVariable), "\n")...)
		main()
		return
	}
	os.Exit(m.Run())
}

// bed is a simulated project, with something between it and a run that notes
// requests and may interfere.
type bed struct {
	t     *testing.T
	run   *run
	out   *safeBuffer
	proxy string // of the project, by which servers are reached

	mu        sync.Mutex
	writes    []string // the requests that do more than read
	interfere func(w http.ResponseWriter, r *http.Request) (done bool)
}

// safeBuffer is a buffer that several programs write to.
type safeBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

// Write appends.
func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

func newBed(t *testing.T) *bed {
	t.Helper()
	t.Parallel()
	talosgen := toolenv.Talosgen(t)
	b := &bed{t: t, out: &safeBuffer{}}
	endpoint, token := b.simulate(talosgen)
	front := httptest.NewServer(b.front(endpoint))
	t.Cleanup(front.Close)
	scripts, err := readScripts(scriptsDir)
	if err != nil {
		t.Fatal(err)
	}
	work := t.TempDir()
	api := front.URL + "/v1"
	env := append(variables(os.Environ(), work), "HCLOUD_ENDPOINT="+api, "HCLOUD_TOKEN="+token, "TALOSGEN_PROXY="+b.proxy)
	b.run = &run{
		project: &project{endpoint: api, token: token, client: http.DefaultClient, sleep: sleep},
		repo:    &repository{talosgen: talosgen, work: work, env: env, out: b.out},
		cluster: newClusterName(time.Now(), 0xcafe), out: b.out, now: time.Now, scripts: scripts,
		options: options{maxMonth: 30, leftovers: time.Hour},
	}
	return b
}

// simulate starts a simulated project that lasts as long as the test.
func (b *bed) simulate(talosgen string) (endpoint, token string) {
	b.t.Helper()
	cmd := exec.Command(talosgen, "sim", "--speed", "0")
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		err = child.Start(cmd)
	}
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	said := map[string]string{}
	for lines := bufio.NewScanner(stdout); len(said) < 3 && lines.Scan(); {
		name, value, _ := strings.Cut(strings.TrimPrefix(lines.Text(), "export "), "=")
		said[name] = value
	}
	b.proxy = said["TALOSGEN_PROXY"]
	return said["HCLOUD_ENDPOINT"], said["HCLOUD_TOKEN"]
}

// front passes requests on to the project.
func (b *bed) front(endpoint string) http.Handler {
	target, err := url.Parse(strings.TrimSuffix(endpoint, "/v1"))
	if err != nil || target.Host == "" {
		b.t.Fatalf("the simulator is at %q: %v", endpoint, err)
	}
	behind := httputil.NewSingleHostReverseProxy(target)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b.mu.Lock()
		interfere := b.interfere
		if r.Method != http.MethodGet {
			b.writes = append(b.writes, r.Method+" "+r.URL.Path)
		}
		b.mu.Unlock()
		if interfere != nil && interfere(w, r) {
			return
		}
		behind.ServeHTTP(w, r)
	})
}

// wantNothingLeft wants the project to be as it was made: with nothing in it.
func (b *bed) wantNothingLeft() {
	b.t.Helper()
	all, err := b.run.project.objects(context.Background())
	if err != nil || len(all) > 0 {
		b.t.Errorf("there is %v %v", all, err)
	}
}

// wantOutput wants patterns in the output, in this order.
func (b *bed) wantOutput(patterns ...string) {
	b.t.Helper()
	text := b.out.String()
	for _, p := range patterns {
		at := regexp.MustCompile("(?m)" + p).FindStringIndex(text)
		if at == nil {
			b.t.Fatalf("%q is not in the output, or too early:\n%s", p, b.out)
		}
		text = text[at[1]:]
	}
	if strings.Contains(b.out.String(), b.run.project.token) {
		b.t.Error("the token is in the output")
	}
}

// isServerOrder reports whether talosgen asks for a server. The conformance scripts
// do too, and get none.
func isServerOrder(r *http.Request) bool {
	return r.Method == http.MethodPost && r.URL.Path == "/v1/servers" && strings.HasPrefix(r.UserAgent(), "talosgen/")
}

func TestWholeRun(t *testing.T) {
	b := newBed(t)
	if err := b.run.all(t.Context()); err != nil {
		t.Errorf("%v\n%s", err, b.out)
	}
	b.wantOutput(`^leftovers: ok`, `^cost: ok`, `^conformance: ok`, `^  image amd64: taking the snapshot`, `^image: ok`,
		`9 to create`, `^apply: ok`, `^verify: ok`, `^drift: ok`, `labels.nodepool  drifted -> worker`, `^change: ok`, `^verify change: ok`,
		`7 to delete`, `^destroy: ok`, `^nothing left: ok`)
	b.wantNothingLeft()
}

// TestStepFails lets the change fail: no third server is to be had.
func TestStepFails(t *testing.T) {
	b := newBed(t)
	var servers atomic.Int32
	b.interfere = func(w http.ResponseWriter, r *http.Request) bool {
		if !isServerOrder(r) {
			return false
		}
		if servers.Add(1) <= 3 { // the builder of the image is one of them
			return false
		}
		http.Error(w, `{"error": {"code": "resource_limit_exceeded", "message": "server limit exceeded", "details": null}}`, http.StatusForbidden)
		return true
	}
	err := b.run.all(t.Context())
	if err == nil || !strings.Contains(err.Error(), "change: talosgen apply e2e --yes: exit code 5") {
		t.Errorf("%v\n%s", err, b.out)
	}
	b.wantOutput(`^change: FAILED`, `^=== clean up`, `the lock is not held`, `to delete`, `^clean up: ok`)
	b.wantNothingLeft()
}

// TestInterrupted interrupts the run while talosgen makes servers.
func TestInterrupted(t *testing.T) {
	b := newBed(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	b.interfere = func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.Contains(r.URL.Path, "/placement_groups") && r.Method == http.MethodPost {
			cancel()
		}
		return false
	}
	if err := b.run.all(ctx); err == nil {
		t.Error("no error")
	}
	b.wantOutput(`^apply: FAILED`, `^clean up: ok`)
	b.wantNothingLeft()
}

// TestDestroyIsBroken lets talosgen's destroy fail: the run removes what it made
// by itself, and says so.
func TestDestroyIsBroken(t *testing.T) {
	b := newBed(t)
	steps := b.run.repo.talosgen
	fake := filepath.Join(t.TempDir(), "talosgen")
	text := "#!/bin/sh\ncase \" $* \" in *' destroy '*) echo destroy is broken >&2; exit 5;; esac\nexec '" + steps + "' \"$@\"\n"
	if err := os.WriteFile(fake, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	b.run.repo.talosgen = fake
	if err := b.run.all(t.Context()); err == nil {
		t.Error("no error")
	}
	b.wantOutput(`^destroy: FAILED`, `^removed server \d+ `, `^removed network \d+ `, `^clean up: FAILED`)
	b.wantNothingLeft()
}

func TestTooExpensive(t *testing.T) {
	b := newBed(t)
	b.run.options.maxMonth = 1
	err := b.run.all(t.Context())
	if err == nil || !regexp.MustCompile(`^cost: \d+\.\d\d EUR a month is more than 1.00; -max-month allows more$`).MatchString(err.Error()) {
		t.Errorf("%v\n%s", err, b.out)
	}
	if len(b.writes) > 0 {
		t.Errorf("something was made: %v", b.writes)
	}
	b.wantNothingLeft()
}

// TestKilled kills a run, with the talosgen that it runs, while it makes the
// cluster. Another run does not begin as long as the first one may be at work;
// then it removes what the first one left.
func TestKilled(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("elsewhere talosgen outlives the run that is killed")
	}
	b := newBed(t)
	reached, killed := make(chan bool), make(chan bool)
	var orders atomic.Int32
	b.interfere = func(_ http.ResponseWriter, r *http.Request) bool {
		if isServerOrder(r) && orders.Add(1) == 2 { // the first one is the builder of the image
			close(reached)
			<-killed
		}
		return false // the server is made all the same
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(slices.Clone(b.run.repo.env), "TMPDIR="+t.TempDir(),
		runVariable+"=-talosgen\n"+b.run.repo.talosgen+"\n-scripts\n"+scriptsDir)
	cmd.Stderr = b.out
	if err := child.Start(cmd); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case <-reached:
	case err := <-ended:
		t.Fatalf("it was to be killed: %v\n%s", err, b.out)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-ended
	close(killed)

	b.writes = nil
	err := b.run.all(t.Context())
	if err == nil || !regexp.MustCompile(`^leftovers: talosgen-e2e-\S+ began \S+ ago and may be at work`).MatchString(err.Error()) {
		t.Errorf("%v", err)
	}
	if len(b.writes) > 0 {
		t.Errorf("something was changed: %v", b.writes)
	}
	b.run.options.leftovers = 0
	if err := b.run.collect(t.Context()); err != nil {
		t.Error(err)
	}
	b.wantOutput(`^removed server \d+ .*, which an earlier run left`, `^removed network `, `^removed image `)
	b.wantNothingLeft()
}

func TestWithoutToken(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "HCLOUD_TOKEN=", runVariable+"=-scripts\n"+scriptsDir)
	text, err := cmd.CombinedOutput()
	if err == nil || !regexp.MustCompile(`^e2e: HCLOUD_TOKEN is not set: .*\n$`).Match(text) {
		t.Errorf("%v %q", err, text)
	}
}
