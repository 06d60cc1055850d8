package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// runner is a repository as `talosgen init` writes it, pushed, and what runs its
// pipeline: the steps as they stand there, with the real program, in a simulated
// project. Only the download of a release is played.
type runner struct {
	*session
	dir   string // for jobs
	steps func(t *testing.T, repository string, event map[string]string) []pipelineStep
}

// releaseStub plays curl: what it downloads is a release that consists of this
// talosgen. It refuses any other address.
const releaseStub = `#!/bin/sh
case "$3 $4" in
https://github.com/talosgen/talosgen/releases/download/v[0-9]*/talosgen-linux-amd64\ https://github.com/talosgen/talosgen/releases/download/v[0-9]*/SHA256SUMS) ;;
*) echo "curl: $*" >&2; exit 22 ;;
esac
printf '#!/bin/sh\nexec "%s" "$@"\n' "$(command -v talosgen)" > talosgen-linux-amd64
sha256sum talosgen-linux-amd64 > SHA256SUMS
printf '%064d  talosgen-darwin-arm64\n' 0 >> SHA256SUMS
`

func newRunner(t *testing.T, ci string) *runner {
	t.Helper()
	r := &runner{session: newSession(t), steps: map[string]func(*testing.T, string, map[string]string) []pipelineStep{
		"github": githubSteps, "gitlab": gitlabSteps,
	}[ci]}
	r.session.dir = r.home
	r.dir = filepath.Join(r.home, "runner")
	if err := writeFile(filepath.Join(r.bin, "curl"), []byte(releaseStub)); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(r.bin, "curl"), 0o755); err != nil {
		t.Fatal(err)
	}
	r.must(t, "talosgen init clusters --ci "+ci+" && cd clusters && HCLOUD_TOKEN="+strings.Repeat("0123456789abcdef", 4)+" talosgen secrets sync dev && talosgen render dev")
	r.must(t, "cd ~/clusters && git init -q && git add --all && git commit -q -m start && git init -q --bare ../remote.git && git remote add origin ../remote.git && git push -q -u origin main")
	return r
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
	return "export CI_REMOTE='" + filepath.Join(r.home, "remote.git") + "' CI_CHECKOUT='" + checkout + "'\n" + text, jobs
}

// event is what both kinds of pipelines know of what happened.
func (r *runner) event(t *testing.T, kind string, more ...string) map[string]string {
	t.Helper()
	key := regexp.MustCompile(`AGE-SECRET-KEY-1[A-Z0-9]+`).FindString(r.must(t, "cat ~/.config/sops/age/keys.txt"))
	event := map[string]string{
		"vars.TALOSGEN_APPLY": "true", "$TALOSGEN_APPLY": "true",
		"secrets.SOPS_AGE_KEY": key, "$SOPS_AGE_KEY": key, "secrets.HCLOUD_TOKEN": "'\"$SIM_TOKEN\"'", "$HCLOUD_TOKEN": "'\"$SIM_TOKEN\"'",
		"github.event_name": kind, "github.repository": "example/clusters", "github.event.pull_request.head.repo.full_name": "example/clusters",
		"$CI_PIPELINE_SOURCE": map[string]string{"pull_request": "merge_request_event", "push": "push"}[kind],
		"$CI_DEFAULT_BRANCH":  "main", "$CI_COMMIT_BRANCH": map[string]string{"push": "main"}[kind],
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
	for _, ci := range []string{"github", "gitlab"} {
		t.Run(ci, func(t *testing.T) {
			t.Parallel()
			r := newRunner(t, ci)
			r.must(t, "cd ~/clusters && git checkout -q -b change && sed -i 's/count: 2/count: 1/' envs/dev/cluster.yaml && talosgen render dev && git commit -q -a -m change && git push -q -u origin change && git checkout -q main")
			request, asked := r.pipeline(t, "request", "--detach origin/change", r.event(t, "pull_request"))
			merged, done := r.pipeline(t, "merge", map[string]string{"github": "main", "gitlab": "--detach origin/main"}[ci], r.event(t, "push"))
			if strings.Join(asked, " ") != "check plan" || strings.Join(done, " ") != "check apply" {
				t.Fatalf("jobs of a pull request: %v, of its merge: %v", asked, done)
			}
			script := "SIM_TOKEN=$HCLOUD_TOKEN\nset -e\n" + request +
				"(cd ~/clusters && git merge -q change && git push -q)\n" + merged +
				"(cd ~/clusters && talosgen plan dev)\n"
			if err := writeFile(filepath.Join(r.dir, "all.sh"), []byte(script)); err != nil {
				t.Fatal(err)
			}
			out := r.must(t, "talosgen sim --nodes --speed 0 -- bash ~/runner/all.sh")
			plan := out
			if ci == "github" {
				plan = r.must(t, "cat ~/runner/request/summary")
				if !strings.HasPrefix(plan, "```text\n") || !strings.HasSuffix(plan, "\n```\n") {
					t.Errorf("the summary is no block:\n%s", plan)
				}
			}
			for text, want := range map[string]string{
				plan: "server/dev-worker-1", out: "dev: nothing to do",
			} {
				if !strings.Contains(text, want) {
					t.Errorf("%q is not in\n%s", want, text)
				}
			}
			if strings.Contains(plan, "server/dev-worker-2") {
				t.Error("the plan is not that of the change")
			}
		})
	}
}

// TestPipelineStops gives the job that has no key what must not get through, and
// asks when the others run.
func TestPipelineStops(t *testing.T) {
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
	fork := r.event(t, "pull_request", "github.event.pull_request.head.repo.full_name", "somebody/clusters")
	if _, jobs := r.pipeline(t, "fork", "main", fork); len(jobs) != 1 {
		t.Errorf("for a fork, these jobs run: %v", jobs)
	}
}
