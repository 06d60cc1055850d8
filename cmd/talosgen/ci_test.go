package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/scaffold"
)

// runner is a repository as `talosgen init` writes it, pushed, and what runs its
// pipeline: the steps as they stand there, with the real program, in a simulated
// project. Only the download of a release is played.
type runner struct {
	*shell
	dir   string // for jobs
	forge *forge // that the pipeline talks to
	steps func(t *testing.T, repository string, event map[string]string) []pipelineStep
}

// releaseStub plays curl: what it downloads is a release that consists of this
// talosgen, or what GitHub says of an environment. It refuses any other address.
const releaseStub = `#!/bin/sh
case "$*" in
"-fsSL --remote-name-all https://github.com/talosgen/talosgen/releases/download/v"[0-9]*/talosgen-linux-amd64)
	printf '#!/bin/sh\nexec "%s" "$@"\n' "$(command -v talosgen)" > talosgen-linux-amd64 ;;
"-fsSL --header Authorization: Bearer runner https://api.github.example/repos/example/clusters/environments/dev")
	cat "$HOME/../../../environment.json" ;;
*" http://127.0.0.1:"*) exec @CURL@ "$@" ;;
*) echo "curl: $*" >&2; exit 22 ;;
esac
`

// What GitHub says of an environment that has a reviewer, and of one that has none.
const (
	reviewed   = `{"name": "dev", "protection_rules": [{"type": "required_reviewers", "reviewers": []}]}`
	unreviewed = `{"name": "dev", "protection_rules": [{"type": "branch_policy"}]}`
)

// releaseDigest is what a user takes of a release that they trust.
const releaseDigest = `"$(printf '#!/bin/sh\nexec "%s" "$@"\n' "$(command -v talosgen)" | sha256sum | cut -d ' ' -f 1)"`

func newRunner(t *testing.T, ci string) *runner {
	t.Helper()
	r := &runner{shell: newShell(t), steps: map[string]func(*testing.T, string, map[string]string) []pipelineStep{
		"github": githubSteps, "gitlab": gitlabSteps,
	}[ci]}
	r.shell.dir = r.home
	r.dir = filepath.Join(r.home, "runner")
	needs(t, "curl", "jq", "bash", "perl")
	curl, _ := exec.LookPath("curl")
	r.forge = newForge(t)
	if err := writeFile(filepath.Join(r.bin, "curl"), []byte(strings.ReplaceAll(releaseStub, "@CURL@", curl))); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(r.bin, "curl"), 0o755); err != nil {
		t.Fatal(err)
	}
	r.must(t, "talosgen init clusters --ci "+ci+" --talosgen-sha256 "+releaseDigest+" && cd clusters && HCLOUD_TOKEN="+strings.Repeat("0123456789abcdef", 4)+" talosgen secrets sync dev && talosgen render dev")
	r.environment(t, reviewed)
	r.must(t, "cd ~/clusters && git init -q && git add --all && git commit -q -m start && git init -q --bare ../remote.git && git remote add origin ../remote.git && git push -q -u origin main && mkdir -p ../forge/example && ln -s ../../remote.git ../forge/example/clusters && ln -s ../../remote.git ../forge/example/clusters.git")
	return r
}

// environment is what GitHub says of the environment dev from now on.
func (r *runner) environment(t *testing.T, text string) {
	t.Helper()
	if err := writeFile(filepath.Join(r.dir, "environment.json"), []byte(text)); err != nil {
		t.Fatal(err)
	}
}

// must runs a command that ends well.
func (r *runner) must(t *testing.T, command string) string {
	t.Helper()
	out := r.run(command + "\necho \"ended with $?\"")
	text, ok := strings.CutSuffix(out, "ended with 0\n")
	if !ok {
		t.Fatalf("$ %s\n%s", command, out)
	}
	return text
}

// pipeline is the shell that does what the runner does for an event.
func (r *runner) pipeline(t *testing.T, name, checkout string, event map[string]string) (script string, jobs []string) {
	t.Helper()
	steps := r.steps(t, filepath.Join(r.home, "clusters"), event)
	for _, s := range steps {
		if len(jobs) == 0 || jobs[len(jobs)-1] != s.job {
			jobs = append(jobs, s.job)
		}
	}
	text, err := pipelineScript(filepath.Join(r.dir, name), steps)
	if err != nil {
		t.Fatal(err)
	}
	return "export CI_REMOTE='" + filepath.Join(r.home, "remote.git") + "' CI_FORGE='file://" + filepath.Join(r.home, "forge") + "' CI_CHECKOUT='" + checkout + "'\n" + text, jobs
}

// event is what both kinds of pipelines know of what happened.
func (r *runner) event(t *testing.T, kind string, more ...string) map[string]string {
	t.Helper()
	key := regexp.MustCompile(`AGE-SECRET-KEY-1[A-Z0-9]+`).FindString(r.must(t, "cat ~/.config/sops/age/keys.txt"))
	event := map[string]string{
		"vars.TALOSGEN_APPLY": "true", "$TALOSGEN_APPLY": "true",
		"secrets.SOPS_AGE_KEY": key, "$SOPS_AGE_KEY": key, "secrets.HCLOUD_TOKEN": "'\"$SIM_TOKEN\"'", "$HCLOUD_TOKEN": "'\"$SIM_TOKEN\"'",
		"github.event_name": kind, "github.repository": "example/clusters", "github.event.pull_request.head.repo.full_name": "example/clusters",
		"github.token": forgeToken, "github.base_ref": "main", "github.ref": "refs/heads/main", "github.event.pull_request.number": "7",
		"vars.TALOSGEN_DRIFT": "true", "$TALOSGEN_DRIFT": "true", "$TALOSGEN_REPORT_TOKEN": forgeToken, "$CI_MERGE_REQUEST_IID": "7",
		"$CI_API_V4_URL": r.forge.URL + "/lab", "$CI_MERGE_REQUEST_DIFF_BASE_SHA": "origin/main", "forge": r.forge.URL + "/api",
		"secrets.TALOSGEN_PUSH_TOKEN": "canary-push-token", "$TALOSGEN_PUSH_TOKEN": "canary-push-token", "github.event.pull_request.base.ref": "main",
		"$CI_MERGE_REQUEST_SOURCE_PROJECT_ID": "7", "$CI_PROJECT_ID": "7", "$CI_COMMIT_REF_PROTECTED": "true",
		"$CI_PIPELINE_SOURCE": map[string]string{"pull_request": "merge_request_event", "push": "push", "schedule": "schedule"}[kind],
		"$CI_DEFAULT_BRANCH":  "main", "$CI_COMMIT_BRANCH": map[string]string{"push": "main", "schedule": "main"}[kind],
	}
	for i := 0; i < len(more); i += 2 {
		event[more[i]] = more[i+1]
	}
	return event
}

// TestPipelines runs the pipelines that `talosgen init` writes through the life
// of a change: a pull request is checked and planned, its merge is applied, and
// then there is nothing to do.
func TestPipelines(t *testing.T) {
	t.Parallel()
	for _, ci := range []string{"github", "gitlab"} {
		t.Run(ci, func(t *testing.T) {
			t.Parallel()
			r := newRunner(t, ci)
			if ci == "github" {
				r.grantStatuses(t)
			}
			r.must(t, "cd ~/clusters && git checkout -q -b change && sed -i 's/count: 2/count: 1/' envs/dev/cluster.yaml && talosgen render dev && git commit -q -a -m change && git push -q -u origin change && git checkout -q main")
			request, asked := r.pipeline(t, "request", "--detach origin/change", r.event(t, "pull_request"))
			merged, done := r.pipeline(t, "merge", map[string]string{"github": "main", "gitlab": "--detach origin/main"}[ci], r.event(t, "push"))
			if strings.Join(asked, " ") != "check plan" || strings.Join(done, " ") != "check apply" {
				t.Fatalf("jobs of a pull request: %v, of its merge: %v", asked, done)
			}
			again, _ := r.pipeline(t, "again", "--detach origin/change", r.event(t, "pull_request"))
			var daily [3]string
			var looked []string
			for i := range daily {
				daily[i], looked = r.pipeline(t, "daily"+strconv.Itoa(i), "main", r.event(t, "schedule"))
			}
			if !strings.HasSuffix(strings.Join(looked, " "), "drift") || strings.Contains(strings.Join(looked, " "), "apply") {
				t.Fatalf("jobs of a schedule: %v", looked)
			}
			script := "SIM_TOKEN=$HCLOUD_TOKEN\nset -e\n" + request + again + daily[0] + daily[1] +
				"(cd ~/clusters && git merge -q change && git push -q)\n" + merged +
				"(cd ~/clusters && talosgen plan dev)\n" + daily[2]
			if err := writeFile(filepath.Join(r.dir, "all.sh"), []byte(script)); err != nil {
				t.Fatal(err)
			}
			out := r.must(t, "talosgen sim --nodes --speed 0 -- bash ~/runner/all.sh")
			if !strings.Contains(out, "dev: nothing to do") {
				t.Errorf("it was not applied:\n%s", out)
			}
			r.forge.requested(t)
			r.forge.drifted(t)
			if want := "pending success"; ci == "github" && strings.Join(r.forge.statuses, " ") != want {
				t.Errorf("the commit has the statuses %q", r.forge.statuses)
			}
		})
	}
}

// grantStatuses does in the repository what docs/how-to/notifications.md says for the
// status of the commit.
func (r *runner) grantStatuses(t *testing.T) {
	t.Helper()
	r.must(t, `cd ~/clusters && sed -i 's/# \(statuses: write\|GITHUB_TOKEN:\)/\1/' .github/workflows/talosgen.yaml && grep -q '^      statuses: write' .github/workflows/talosgen.yaml && `+
		`printf 'notifications:\n  commitStatus: {forge: github, repository: example/clusters}\n' >> envs/dev/cluster.yaml && talosgen render dev && git add --all && git commit -q -m statuses && git push -q`)
}

// requested checks what stands at a pull request that makes a pool smaller.
func (f *forge) requested(t *testing.T) {
	t.Helper()
	said := ours(f.comments)
	if len(said) != 1 {
		t.Fatalf("%d comments of pipelines", len(said))
	}
	body := said[0].body
	for _, want := range []string{planMark + "\n### talosgen plan\n", "\n| dev | differs | ", "+ server/dev-worker-1\n", " in rendered/dev since origin/main</summary>", "\nnodes/dev-worker-2.yaml\n  - the whole file\n"} {
		if !strings.Contains(body, want) {
			t.Errorf("%q is not in\n%s", want, body)
		}
	}
	if strings.Contains(body, "+ server/dev-worker-2") {
		t.Errorf("the plan is not that of the change:\n%s", body)
	}
}

// drifted checks that there was one issue while there was something to do, which is
// closed now.
func (f *forge) drifted(t *testing.T) {
	t.Helper()
	said := ours(f.issues)
	if len(said) != 1 {
		t.Fatalf("%d issues of pipelines", len(said))
	}
	if s := said[0]; s.title != "Drift of dev" || s.state != "closed" || !strings.Contains(s.body, "+ server/dev-worker-2\n") {
		t.Errorf("the issue is %s, %q:\n%s", s.state, s.title, s.body)
	}
	for _, s := range append(slices.Clone(f.comments[:100]), f.issues[:100]...) {
		if s.why != "" || s.state == "closed" || s.body != "looks good" && s.body != "it is slow" && !strings.HasSuffix(s.body, "not by a bot") {
			t.Errorf("what somebody else said was changed: %+v", *s)
		}
	}
}

// TestPipelineStops gives the job that has no key what must not get through, and
// asks when the others run.
func TestPipelineStops(t *testing.T) {
	t.Parallel()
	r := newRunner(t, "github")
	for name, change := range map[string]struct{ command, want string }{
		"edited":       {"echo 'debug: true' >> rendered/dev/nodes/dev-worker-1.yaml", "rendered/dev is not up to date"},
		"not-rendered": {"sed -i 's/count: 2/count: 3/' envs/dev/cluster.yaml", "run `talosgen render dev` and commit the result"},
		"not-valid":    {"echo 'nonsense: true' >> envs/dev/cluster.yaml && sed -i \"s/cluster.yaml: .*/cluster.yaml: sha256:$(sha256sum < envs/dev/cluster.yaml | cut -d ' ' -f 1)/\" rendered/dev/render.lock.yaml", "nonsense"},
	} {
		r.must(t, "cd ~/clusters && git checkout -q -b "+name+" main && "+change.command+" && git commit -q -a -m '"+name+"' && git push -q -u origin "+name+" && git checkout -q main")
		script, jobs := r.pipeline(t, name, "--detach origin/"+name, r.event(t, "pull_request", "vars.TALOSGEN_APPLY", ""))
		if len(jobs) != 1 {
			t.Fatalf("without TALOSGEN_APPLY, these jobs run: %v", jobs)
		}
		if strings.Contains(script, "AGE-SECRET-KEY") {
			t.Error("the job check has a key")
		}
		if err := writeFile(filepath.Join(r.dir, name+".sh"), []byte(script)); err != nil {
			t.Fatal(err)
		}
		out := r.run("bash ~/runner/" + name + ".sh")
		if !strings.Contains(out, change.want) || !strings.HasSuffix(out, "job check failed\n") {
			t.Errorf("%s: %q is not in\n%s", name, change.want, out)
		}
	}
	for name, change := range pipelineRefusals {
		t.Run(name, func(t *testing.T) { r.refuses(t, name, change) })
	}
	fork := r.event(t, "pull_request", "github.event.pull_request.head.repo.full_name", "somebody/clusters")
	if _, jobs := r.pipeline(t, "fork", "main", fork); len(jobs) != 1 {
		t.Errorf("for a fork, these jobs run: %v", jobs)
	}
}

// pipelineRefusals are what a job that has a key, or would get one, stops at.
var pipelineRefusals = map[string]struct{ event, before, environment, want string }{
	"another release": {"pull_request", `sed -i 's/\(TALOSGEN_SHA256: "\)[0-9a-f]*/\10000000000000000000000000000000000000000000000000000000000000000/' .github/workflows/talosgen.yaml`, reviewed,
		"is not what TALOSGEN_SHA256 in the workflow says\njob check failed\n"},
	"no digest": {"pull_request", `sed -i 's/TALOSGEN_SHA256: .*/TALOSGEN_SHA256: ""/' .github/workflows/talosgen.yaml`, reviewed,
		"is not what TALOSGEN_SHA256 in the workflow says\njob check failed\n"},
	"nobody reviews": {"push", "true", unreviewed, "the environment dev has no reviewer: Settings, Environments\njob apply failed\n"},
}

func (r *runner) refuses(t *testing.T, name string, change struct{ event, before, environment, want string }) {
	name = strings.ReplaceAll(name, " ", "-")
	r.must(t, "cd ~/clusters && git checkout -q -B refusal main && "+change.before)
	r.environment(t, change.environment)
	script, _ := r.pipeline(t, name, "--detach origin/main", r.event(t, change.event))
	r.must(t, "cd ~/clusters && git checkout -q -f main")
	if err := writeFile(filepath.Join(r.dir, name+".sh"), []byte("SIM_TOKEN=$HCLOUD_TOKEN\n"+script)); err != nil {
		t.Fatal(err)
	}
	if out := r.run("talosgen sim --nodes --speed 0 -- bash ~/runner/" + name + ".sh"); !strings.Contains(out, change.want) || strings.Contains(out, "server/dev") {
		t.Errorf("%q is not in\n%s", change.want, out)
	}
}

// TestPlanJobHasNoKey looks at what the jobs are given: the one that runs what a
// branch brings along has no key, neither in the pipeline of GitHub nor of GitLab,
// and what runs for a fork has no secret at all.
func TestPlanJobHasNoKey(t *testing.T) {
	t.Parallel()
	for _, ci := range []string{"github", "gitlab"} {
		t.Run(ci, func(t *testing.T) {
			t.Parallel()
			r := newRunner(t, ci)
			event := r.event(t, "pull_request")
			keys := map[string]bool{}
			for _, s := range r.steps(t, filepath.Join(r.home, "clusters"), event) {
				for _, value := range s.env {
					keys[s.job] = keys[s.job] || strings.Contains(value, "AGE-SECRET-KEY")
				}
			}
			if _, runs := keys["plan"]; !runs || keys["plan"] || keys["check"] {
				t.Errorf("jobs of a pull request, and whether they have a key: %v", keys)
			}
			fork := r.event(t, "pull_request", "github.event.pull_request.head.repo.full_name", "somebody/clusters", "$CI_MERGE_REQUEST_SOURCE_PROJECT_ID", "8")
			open := r.event(t, "push", "$CI_COMMIT_REF_PROTECTED", "false")
			for what, event := range map[string]map[string]string{"a fork": fork, "a branch that is not protected": open} {
				for _, s := range r.steps(t, filepath.Join(r.home, "clusters"), event) {
					if s.job != "check" && (what == "a fork" || ci == "gitlab") {
						t.Errorf("the job %s runs for %s", s.job, what)
					}
				}
			}
		})
	}
}

// What others wrote is named by what it is, not by a name that may lead elsewhere.
func TestPipelinesPinWhatTheyUse(t *testing.T) {
	pinned := regexp.MustCompile(`^(\./.*|[^@]+@[0-9a-f]{40}( # v[0-9.]+)?|[^@]+@sha256:[0-9a-f]{64})$`)
	for _, ci := range []string{"github", "gitlab"} {
		files, err := scaffold.Files(scaffold.Options{
			Provider: "hetzner", CI: ci, Env: "dev", ClusterName: "dev", TalosgenVersion: version,
			AgeRecipient: "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p",
		})
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for _, f := range files {
			for line := range strings.Lines(string(f.Data)) {
				_, used, uses := strings.Cut(line, " uses: ")
				if _, image, is := strings.Cut(line, " image: "); is && strings.HasSuffix(f.Path, ".gitlab-ci.yml") {
					used, uses = image, true
				}
				if !uses {
					continue
				}
				found++
				if !pinned.MatchString(strings.TrimSpace(used)) {
					t.Errorf("%s: %s", f.Path, used)
				}
			}
		}
		if found == 0 {
			t.Errorf("%s uses nothing", ci)
		}
	}
}
