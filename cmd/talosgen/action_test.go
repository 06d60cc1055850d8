package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/testenv/toolenv"
)

// forge plays what a pipeline talks to: a place with a release, and the comments on a pull
// request, of which two pages exist.
type forge struct {
	*httptest.Server
	release []byte

	mu       sync.Mutex
	comments []comment
	writes   []string // methods and paths
}

type comment struct {
	ID   int    `json:"id"`
	Body string `json:"body"`
	User struct {
		Type string `json:"type"`
	} `json:"user"`
}

const (
	planMark    = "<!-- talosgen plan -->"
	forgeToken  = "runner"
	forgeIssues = "/api/repos/example/clusters/issues"
)

// newForge has a release that is this talosgen, and a hundred comments, of which one looks
// like that of the action and is of a person.
func newForge(t *testing.T) *forge {
	t.Helper()
	program, err := exec.LookPath("talosgen")
	if err != nil {
		t.Fatal(err)
	}
	f := &forge{release: []byte("#!/bin/sh\nexec '" + program + "' \"$@\"\n")}
	for i := range 100 {
		c := comment{ID: i + 1, Body: "looks good"}
		c.User.Type = "User"
		f.comments = append(f.comments, c)
	}
	f.comments[3].Body = planMark + "\nnot by a bot"
	mux := http.NewServeMux()
	mux.HandleFunc("GET /releases/v0.1.0/talosgen-linux-amd64", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(f.release) })
	mux.HandleFunc("GET "+forgeIssues+"/7/comments", f.list)
	mux.HandleFunc("POST "+forgeIssues+"/7/comments", f.write)
	mux.HandleFunc("PATCH "+forgeIssues+"/comments/{id}", f.write)
	f.Server = httptest.NewServer(mux)
	t.Cleanup(f.Close)
	return f
}

func (f *forge) digest() string {
	sum := sha256.Sum256(f.release)
	return hex.EncodeToString(sum[:])
}

func (f *forge) list(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	page, _ := strconv.Atoi(r.URL.Query().Get("page"))
	begin := min(max(page-1, 0)*100, len(f.comments))
	_ = json.NewEncoder(w).Encode(f.comments[begin:min(begin+100, len(f.comments))])
}

func (f *forge) write(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var sent comment
	text, err := io.ReadAll(r.Body)
	if err = errors.Join(err, json.Unmarshal(text, &sent)); err != nil || r.Header.Get("Authorization") != "Bearer "+forgeToken {
		http.Error(w, fmt.Sprint(err), http.StatusForbidden)
		return
	}
	f.writes = append(f.writes, r.Method)
	if id, err := strconv.Atoi(r.PathValue("id")); err == nil {
		f.comments[id-1].Body = sent.Body
		return
	}
	sent.ID, sent.User.Type = len(f.comments)+1, "Bot"
	f.comments = append(f.comments, sent)
}

// needs skips a test on a machine without the programs that runners of pipelines have.
func needs(t *testing.T, programs ...string) {
	t.Helper()
	for _, name := range programs {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("there is no %s, which runners have", name)
		}
	}
}

const actionFile = "../../.github/actions/talosgen/action.yaml"

// actionSteps are the steps of the action for a pull request, with inputs.
func actionSteps(t *testing.T, f *forge, inputs map[string]string) (steps []pipelineStep) {
	t.Helper()
	var action struct {
		Inputs map[string]struct {
			Default string `yaml:"default"`
		} `yaml:"inputs"`
		Runs struct {
			Steps []githubStep `yaml:"steps"`
		} `yaml:"runs"`
	}
	readYAML(t, actionFile, &action)
	context := map[string]string{
		"github.event_name": "pull_request", "github.repository": "example/clusters", "github.event.pull_request.head.repo.full_name": "example/clusters",
		"github.event.pull_request.number": "7", "github.token": forgeToken,
	}
	for name, input := range action.Inputs {
		context["inputs."+name] = expandAll(t, map[string]string{"": input.Default}, context)[""]
	}
	for name, value := range inputs {
		context[name] = value
	}
	steps = append(steps, pipelineStep{job: "talosgen", shell: githubShell(githubStep{}), script: checkoutScript})
	for _, s := range action.Runs.Steps {
		if !holds(t, s.If, context) {
			continue
		}
		env := expandAll(t, s.Env, context)
		maps.Copy(env, map[string]string{"GITHUB_API_URL": f.URL + "/api", "GITHUB_OUTPUT": "/dev/null"})
		steps = append(steps, pipelineStep{job: "talosgen", env: env, shell: githubShell(s), script: s.Run})
	}
	return steps
}

// play runs steps on a branch, with a project that is empty.
func (r *runner) play(t *testing.T, name string, steps []pipelineStep) string {
	t.Helper()
	text, err := pipelineScript(filepath.Join(r.dir, name), steps)
	if err == nil {
		err = writeFile(filepath.Join(r.dir, name+".sh"), []byte("SIM_TOKEN=$HCLOUD_TOKEN\nexport CI_REMOTE='"+filepath.Join(r.home, "remote.git")+"' CI_CHECKOUT='--detach origin/main'\n"+text))
	}
	if err != nil {
		t.Fatal(err)
	}
	return r.run("talosgen sim --speed 0 -- bash ~/runner/" + name + ".sh")
}

// newActionRunner is a repository, and a runner that downloads from a forge.
func newActionRunner(t *testing.T) (*runner, *forge) {
	t.Helper()
	needs(t, "curl", "jq", "bash")
	r := newRunner(t, "github")
	if err := os.Remove(filepath.Join(r.bin, "curl")); err != nil { // the real one talks to the forge
		t.Fatal(err)
	}
	return r, newForge(t)
}

// TestAction runs the steps of the action of this repository against a release and
// comments that are served on loopback: the plan is one comment, which a second run
// changes, and no other one is.
func TestAction(t *testing.T) {
	t.Parallel()
	r, f := newActionRunner(t)
	inputs := map[string]string{
		"inputs.version": "v0.1.0", "inputs.sha256": f.digest(), "inputs.releases": f.URL + "/releases", "inputs.hcloud-token": "'\"$SIM_TOKEN\"'",
	}
	for i := range 2 {
		if out := r.play(t, "run"+strconv.Itoa(i), actionSteps(t, f, inputs)); strings.Contains(out, "failed") {
			t.Fatalf("%s", out)
		}
		if i == 0 {
			r.must(t, "cd ~/clusters && sed -i 's/count: 2/count: 1/' envs/dev/cluster.yaml && talosgen render dev && git commit -q -a -m smaller && git push -q")
		}
	}
	if got := strings.Join(f.writes, " "); got != "POST PATCH" || len(f.comments) != 101 {
		t.Fatalf("written: %s; %d comments", got, len(f.comments))
	}
	body := f.comments[100].Body
	for _, want := range []string{planMark + "\n### talosgen plan\n", "<summary><b>dev</b>: Plan: ", "\n~~~~~~text\n", "+ server/dev-worker-1\n", "\n~~~~~~\n\n</details>\n"} {
		if !strings.Contains(body, want) {
			t.Errorf("%q is not in\n%s", want, body)
		}
	}
	if strings.Contains(body, "server/dev-worker-2") {
		t.Errorf("the comment is the one of the first run:\n%s", body)
	}
	for _, c := range f.comments[:100] {
		if c.Body != "looks good" && !strings.HasSuffix(c.Body, "not by a bot") {
			t.Errorf("the comment of somebody else was changed: %q", c.Body)
		}
	}
}

// TestActionStops: another release than the one that is named does not run, what was not
// rendered stops, and without a token nothing is planned.
func TestActionStops(t *testing.T) {
	t.Parallel()
	r, f := newActionRunner(t)
	inputs := func(more ...string) map[string]string {
		all := map[string]string{"inputs.version": "v0.1.0", "inputs.sha256": f.digest(), "inputs.releases": f.URL + "/releases"}
		for i := 0; i < len(more); i += 2 {
			all[more[i]] = more[i+1]
		}
		return all
	}
	if out := r.play(t, "other", actionSteps(t, f, inputs("inputs.sha256", strings.Repeat("0", 64)))); !strings.Contains(out, "talosgen-linux-amd64 of v0.1.0 is not what the input sha256 says\njob talosgen failed\n") {
		t.Errorf("another release: %s", out)
	}
	if out := r.play(t, "none", actionSteps(t, f, inputs("inputs.sha256", ""))); !strings.HasSuffix(out, "job talosgen failed\n") {
		t.Errorf("no digest: %s", out)
	}
	if out := r.play(t, "unplanned", actionSteps(t, f, inputs())); strings.Contains(out, "failed") || strings.Contains(out, "server/") || len(f.writes) > 0 {
		t.Errorf("without a token: %s", out)
	}
	fork := actionSteps(t, f, inputs("inputs.hcloud-token", "x", "github.event.pull_request.head.repo.full_name", "somebody/clusters"))
	if n := len(actionSteps(t, f, inputs("inputs.hcloud-token", "x"))); len(fork) != n-1 {
		t.Errorf("for a fork %d steps of %d run: nothing of it may comment", len(fork), n)
	}
	r.must(t, "cd ~/clusters && sed -i 's/count: 2/count: 3/' envs/dev/cluster.yaml && git commit -q -a -m unrendered && git push -q")
	if out := r.play(t, "unrendered", actionSteps(t, f, inputs())); !strings.Contains(out, "rendered/dev is not up to date") || !strings.HasSuffix(out, "job talosgen failed\n") {
		t.Errorf("not rendered: %s", out)
	}
}

// TestComponent runs the jobs of the component for GitLab in the same way.
func TestComponent(t *testing.T) {
	t.Parallel()
	r, f := newActionRunner(t)
	inputs := map[string]string{"version": "v0.1.0", "sha256": f.digest(), "environments": "", "stage": "test", "releases": f.URL + "/releases"}
	steps := componentSteps(t, inputs)
	if out := r.play(t, "component", steps); strings.Contains(out, "failed") || !strings.Contains(out, "+ server/dev-worker-2") {
		t.Fatalf("%s", out)
	}
	page := r.must(t, "cat ~/runner/component/*-talosgen-plan/work/talosgen-plan/dev.html")
	if !strings.Contains(page, "server/dev-worker-2") || !strings.HasPrefix(page, "<!doctype html>") {
		t.Errorf("the page of the plan: %s", page)
	}
	inputs["sha256"] = strings.Repeat("0", 64)
	if out := r.play(t, "other", componentSteps(t, inputs)); !strings.Contains(out, "is not what the input sha256 says") || !strings.HasSuffix(out, "job talosgen-check failed\n") {
		t.Errorf("another release: %s", out)
	}
}

// componentSteps are the jobs of the component, with all inputs that it declares.
func componentSteps(t *testing.T, inputs map[string]string) (steps []pipelineStep) {
	t.Helper()
	text, err := os.ReadFile("../../templates/talosgen.yml")
	if err != nil {
		t.Fatal(err)
	}
	head, jobs, _ := strings.Cut(string(text), "\n---\n")
	var spec struct {
		Spec struct {
			Inputs map[string]any `yaml:"inputs"`
		} `yaml:"spec"`
	}
	if err := yaml.Unmarshal([]byte(head), &spec); err != nil || len(spec.Spec.Inputs) != len(inputs) {
		t.Fatalf("inputs %v (%v)", spec.Spec.Inputs, err)
	}
	for name, value := range inputs {
		jobs = strings.ReplaceAll(jobs, "$[[ inputs."+name+" ]]", value)
	}
	if strings.Contains(jobs, "$[[") {
		t.Fatalf("an input that is not declared:\n%s", jobs)
	}
	type job struct {
		Image     string            `yaml:"image"`
		Variables map[string]string `yaml:"variables"`
		Before    []string          `yaml:"before_script"`
		Script    []string          `yaml:"script"`
	}
	var all map[string]job
	if err := yaml.Unmarshal([]byte(jobs), &all); err != nil {
		t.Fatal(err)
	}
	base := all[".talosgen"]
	if !strings.Contains(base.Image, "@sha256:") {
		t.Errorf("the image is not named by its digest: %s", base.Image)
	}
	for _, name := range []string{"talosgen-check", "talosgen-plan"} {
		env := maps.Clone(base.Variables)
		if name == "talosgen-plan" {
			env["HCLOUD_TOKEN"] = "'\"$SIM_TOKEN\"'"
		}
		script := strings.Join(append(append([]string{checkoutScript}, base.Before...), all[name].Script...), "\n")
		steps = append(steps, pipelineStep{job: name, env: env, shell: "bash -eo pipefail", script: script})
	}
	return steps
}

// TestActionLint: GitHub accepts the action, and a workflow that uses it as its comment says.
func TestActionLint(t *testing.T) {
	lint := toolenv.Actionlint(t)
	root := t.TempDir()
	action, err := os.ReadFile(actionFile)
	if err == nil {
		err = writeFile(filepath.Join(root, ".github/actions/talosgen/action.yaml"), action)
	}
	workflow := "on: pull_request\njobs:\n  plan:\n    runs-on: ubuntu-latest\n    steps:\n      - uses: ./.github/actions/talosgen\n        with:\n          version: v0.1.0\n          sha256: abc\n          hcloud-token: ${{ secrets.HCLOUD_TOKEN }}\n"
	if err := errors.Join(err, os.Mkdir(filepath.Join(root, ".git"), 0o755), writeFile(filepath.Join(root, ".github/workflows/x.yaml"), []byte(workflow))); err != nil {
		t.Fatal(err)
	}
	run := func() (string, error) {
		command := exec.Command(lint, "-shellcheck=", "-pyflakes=")
		command.Dir = root
		output, err := command.CombinedOutput()
		return string(output), err
	}
	if output, err := run(); err != nil {
		t.Errorf("%v\n%s", err, output)
	}
	if err := writeFile(filepath.Join(root, ".github/workflows/x.yaml"), []byte(strings.Replace(workflow, "          sha256: abc\n", "", 1))); err != nil {
		t.Fatal(err)
	}
	if output, err := run(); err == nil || !strings.Contains(output, "sha256") {
		t.Errorf("without the digest: %v\n%s", err, output)
	}
}
