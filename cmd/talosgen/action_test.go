package main

import (
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/testenv/toolenv"
)

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
	file, err := filepath.Abs(actionFile)
	if err != nil {
		t.Fatal(err)
	}
	context := map[string]string{
		"github.event_name": "pull_request", "github.repository": "example/clusters", "github.event.pull_request.head.repo.full_name": "example/clusters",
		"github.event.pull_request.number": "7", "github.token": forgeToken, "github.base_ref": "main",
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
		maps.Copy(env, map[string]string{"GITHUB_API_URL": f.URL + "/api", "GITHUB_OUTPUT": "/dev/null", "GITHUB_ACTION_PATH": filepath.Dir(file)})
		s.Dir = expandAll(t, map[string]string{"": s.Dir}, context)[""]
		steps = append(steps, pipelineStep{job: "talosgen", env: env, shell: githubShell(s), script: s.script(t, context)})
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
	said := ours(f.comments)
	if got := strings.Join(f.writes, " "); got != "POST PATCH PATCH" || len(said) != 1 || len(f.comments) != 101 {
		t.Fatalf("written: %s; %d comments, %d of bots", got, len(f.comments), len(said))
	}
	for _, want := range []string{planMark + "\n### talosgen plan\n", "\n| dev | differs | 10 | +", "<summary><b>dev</b>: Plan: ", "\n~~~diff\n", "+ server/dev-worker-1\n", "\n~~~\n\n</details>\n"} {
		if !strings.Contains(said[0].body, want) {
			t.Errorf("%q is not in\n%s", want, said[0].body)
		}
	}
	if strings.Contains(said[0].body, "server/dev-worker-2") {
		t.Errorf("the comment is the one of the first run:\n%s", said[0].body)
	}
	for _, c := range f.comments[:100] {
		if c.body != "looks good" && !strings.HasSuffix(c.body, "not by a bot") {
			t.Errorf("the comment of somebody else was changed: %q", c.body)
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

// moveInto makes the repository one that talosgen's is a folder of, with a file beside the
// environments.
func (r *runner) moveInto(t *testing.T, folder string) {
	t.Helper()
	r.must(t, "cd ~/clusters && mkdir -p "+folder+" && git mv .sops.yaml envs patches rendered "+folder+"/ && echo Clusters > "+folder+"/envs/README.md && git add --all && git commit -q -m folder && git push -q")
}

// TestActionInFolder: a folder of a larger repository is checked and planned as a whole one.
func TestActionInFolder(t *testing.T) {
	t.Parallel()
	r, f := newActionRunner(t)
	r.moveInto(t, "infra/talos")
	inputs := map[string]string{
		"inputs.version": "v0.1.0", "inputs.sha256": f.digest(), "inputs.releases": f.URL + "/releases", "inputs.hcloud-token": "'\"$SIM_TOKEN\"'",
	}
	if out := r.play(t, "top", actionSteps(t, f, inputs)); !strings.HasSuffix(out, "job talosgen failed\n") {
		t.Errorf("the folder is not named: %s", out)
	}
	inputs["inputs.directory"] = "infra/talos"
	if out := r.play(t, "folder", actionSteps(t, f, inputs)); strings.Contains(out, "failed") {
		t.Fatalf("%s", out)
	}
	if said := ours(f.comments); len(said) != 1 || !strings.Contains(said[0].body, "+ server/dev-worker-2\n") {
		t.Errorf("the plan is no comment: %v", said)
	}
}

// TestComponent runs the jobs of the component for GitLab in the same way.
func TestComponent(t *testing.T) {
	t.Parallel()
	r, f := newActionRunner(t)
	inputs := map[string]string{"version": "v0.1.0", "sha256": f.digest(), "environments": "", "directory": ".", "stage": "test", "releases": f.URL + "/releases"}
	steps := componentSteps(t, inputs)
	if out := r.play(t, "component", steps); strings.Contains(out, "failed") || !strings.Contains(out, "+ server/dev-worker-2") {
		t.Fatalf("%s", out)
	}
	page := r.must(t, "cat ~/runner/component/*-talosgen-plan/work/talosgen-plan/dev.html")
	if !strings.Contains(page, "server/dev-worker-2") || !strings.HasPrefix(page, "<!doctype html>") {
		t.Errorf("the page of the plan: %s", page)
	}
	r.moveInto(t, "infra/talos")
	inputs["directory"] = "infra/talos"
	if out := r.play(t, "folder", componentSteps(t, inputs)); strings.Contains(out, "failed") || !strings.Contains(out, "+ server/dev-worker-2") {
		t.Fatalf("in a folder: %s", out)
	}
	r.must(t, "test -s ~/runner/folder/*-talosgen-plan/work/talosgen-plan/dev.html")
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
		script := strings.Join(append(append([]string{checkoutScript, `export CI_PROJECT_DIR="$PWD"`}, base.Before...), all[name].Script...), "\n")
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
