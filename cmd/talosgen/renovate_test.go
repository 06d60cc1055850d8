package main

import (
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/charttest"
	"github.com/talosgen/talosgen/internal/renovatetest"
	"github.com/talosgen/talosgen/internal/versions"
	"github.com/talosgen/talosgen/render/charts"
)

// renovateBot is a repository as `talosgen init` writes it, with two charts, one of a
// repository and one of a registry, and Renovate, as far as its custom managers go.
type renovateBot struct {
	*runner
	ci    string
	found []renovatetest.Dependency
}

// What is older than the newest when Renovate looks.
const (
	olderTalos, olderKubernetes = "1.14.0", "1.36.0"
	renovateAddons              = `addons:
  web:
    namespace: web
    version: 1.0.0
    source:
      chart:
        repository: CHARTS
        name: web
  other:
    namespace: other
    version: 1.0.0
    source: {chart: {name: web, repository: "REGISTRY"}}
`
)

func newRenovateBot(t *testing.T, ci string) *renovateBot {
	t.Helper()
	s := &charttest.Server{}
	for _, version := range []string{"1.0.0", "1.1.0"} {
		s.Charts = append(s.Charts, charttest.Chart{Name: "web", Version: version, Archive: charttest.Small("web", version)})
	}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	b := &renovateBot{runner: newRunner(t, ci), ci: ci}
	addons := strings.NewReplacer("CHARTS", server.URL+"/charts", "REGISTRY", "oci://"+strings.TrimPrefix(server.URL, "http://")+"/charts").Replace(renovateAddons)
	b.write(t, "envs/dev/cluster.yaml", b.read(t, "envs/dev/cluster.yaml")+addons)
	b.must(t, "cd ~/clusters && sed -i -e 's/^TALOS_VERSION=.*/TALOS_VERSION=v"+olderTalos+"/' -e 's/^KUBERNETES_VERSION=.*/KUBERNETES_VERSION="+olderKubernetes+"/' envs/dev/cluster.env"+
		" && talosgen charts lock && talosgen charts vendor && talosgen render dev && git add --all && git commit -q -m addons && git push -q")
	b.look(t)
	return b
}

func (b *renovateBot) file(name string) string {
	return filepath.Join(b.home, "clusters", filepath.FromSlash(name))
}

func (b *renovateBot) read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(b.file(name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func (b *renovateBot) write(t *testing.T, name, text string) {
	t.Helper()
	if err := writeFile(b.file(name), []byte(text)); err != nil {
		t.Fatal(err)
	}
}

// look finds the versions of all files that Git has.
func (b *renovateBot) look(t *testing.T) {
	t.Helper()
	config, err := renovatetest.Parse([]byte(b.read(t, "renovate.json")))
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for name := range strings.FieldsSeq(b.must(t, "git -C ~/clusters ls-files")) {
		texts[name] = b.read(t, name)
	}
	if b.found, err = config.Find(texts); err != nil {
		t.Fatal(err)
	}
}

// dependency is the one that was found by a name and a source.
func (b *renovateBot) dependency(t *testing.T, datasource, name string) renovatetest.Dependency {
	t.Helper()
	i := slices.IndexFunc(b.found, func(d renovatetest.Dependency) bool { return d.Datasource == datasource && d.DepName == name })
	if i < 0 {
		t.Fatalf("no %s of %s in %v", name, datasource, b.found)
	}
	return b.found[i]
}

// raise makes Renovate's branch for a newer version, and pushes it.
func (b *renovateBot) raise(t *testing.T, branch string, d renovatetest.Dependency, version string) {
	t.Helper()
	b.must(t, "cd ~/clusters && git checkout -q -B "+branch+" main")
	text, err := d.Replace(b.read(t, d.File), version, "")
	if err != nil {
		t.Fatal(err)
	}
	b.write(t, d.File, text)
	b.push(t, branch)
}

func (b *renovateBot) push(t *testing.T, branch string) {
	t.Helper()
	b.must(t, "cd ~/clusters && git -c user.name=Renovate -c user.email=renovate@example.com commit -q -a -m update && git push -q -f -u origin "+branch+" && git checkout -q main")
}

// event is what the pipeline is told of a branch of Renovate.
func (b *renovateBot) event(t *testing.T, branch string, more ...string) map[string]string {
	t.Helper()
	sha := strings.TrimSpace(b.must(t, "git -C ~/remote.git rev-parse "+branch))
	return b.runner.event(t, "push", append([]string{
		"github.event_name", "pull_request_target", "vars.TALOSGEN_RENDER", "true", "$TALOSGEN_RENDER", "true",
		"github.event.pull_request.user.login", "renovate[bot]", "github.event.pull_request.head.ref", branch, "github.event.pull_request.head.sha", sha,
		"$CI_COMMIT_BRANCH", branch,
	}, more...)...)
}

// render runs the job for a branch.
func (b *renovateBot) render(t *testing.T, branch, run string) string {
	t.Helper()
	script, jobs := b.pipeline(t, run, map[string]string{"github": "main", "gitlab": "--detach origin/" + branch}[b.ci], b.event(t, branch))
	if strings.Join(jobs, " ") != "render" {
		t.Fatalf("jobs for a branch of Renovate: %v", jobs)
	}
	if err := writeFile(filepath.Join(b.dir, run+".sh"), []byte(script)); err != nil {
		t.Fatal(err)
	}
	return b.run("bash ~/runner/" + run + ".sh")
}

// TestRenovate takes newer versions from what Renovate's managers find to branches that
// can be merged: what it finds is what talosgen knows, the job adds one commit with what
// a version leads to, and the pipeline that has no key is content with it.
func TestRenovate(t *testing.T) {
	t.Parallel()
	for _, ci := range []string{"github", "gitlab"} {
		t.Run(ci, func(t *testing.T) {
			t.Parallel()
			b := newRenovateBot(t, ci)
			b.knowsCharts(t)
			newest := versions.Newest()
			for _, update := range []struct{ branch, datasource, name, version, want string }{
				{"renovate/web-1.x", "helm", "web", "1.1.0", `version: "1.1.0"`},
				{"renovate/registry-web-1.x", "docker", "web", "1.1.0", `version: "1.1.0"`},
				{"renovate/talos", "github-releases", "siderolabs/talos", strings.TrimPrefix(newest.Talos, "v"), ":" + newest.Talos},
				{"renovate/kubernetes", "github-releases", "kubernetes/kubernetes", "1.36.3", "kubelet:v1.36.3"},
			} {
				b.raise(t, update.branch, b.dependency(t, update.datasource, update.name), update.version)
				run := strings.ReplaceAll(update.branch, "/", "-")
				if out := b.render(t, update.branch, run); strings.Contains(out, "failed") {
					t.Fatalf("%s:\n%s", update.branch, out)
				}
				b.mergeable(t, update.branch, update.want)
				if out := b.render(t, update.branch, run+"-again"); !strings.Contains(out, "nothing to add to "+update.branch+"\n") {
					t.Errorf("%s, once more:\n%s", update.branch, out)
				}
			}
		})
	}
}

// knowsCharts compares what was found with what `talosgen charts outdated` knows.
func (b *renovateBot) knowsCharts(t *testing.T) {
	t.Helper()
	var ages []charts.Age
	if err := json.Unmarshal([]byte(b.must(t, "cd ~/clusters && talosgen charts outdated -o json")), &ages); err != nil {
		t.Fatal(err)
	}
	var known, found []string
	for _, a := range ages {
		known = append(known, a.Name+" "+a.Wanted+" of "+a.Repository)
	}
	for _, d := range b.found {
		switch d.Datasource {
		case "helm":
			found = append(found, d.DepName+" "+d.CurrentValue+" of "+d.RegistryURL)
		case "docker":
			found = append(found, d.DepName+" "+d.CurrentValue+" of oci://"+strings.TrimSuffix(d.PackageName, "/"+d.DepName))
		}
	}
	slices.Sort(known)
	slices.Sort(found)
	if !slices.Equal(known, found) || len(known) != 2 {
		t.Errorf("found %q, known %q", found, known)
	}
}

// mergeable makes sure of a branch after its job: one commit of talosgen's with what
// the version leads to, and everything valid.
func (b *renovateBot) mergeable(t *testing.T, branch, want string) {
	t.Helper()
	b.must(t, "cd ~/clusters && git fetch -q && git checkout -q --detach origin/"+branch)
	defer b.must(t, "git -C ~/clusters checkout -q main")
	if authors := b.must(t, "git -C ~/clusters log --format=%ae main.."); authors != "render@talosgen.invalid\nrenovate@example.com\n" {
		t.Errorf("%s: commits of %q", branch, authors)
	}
	b.must(t, "cd ~/clusters && talosgen charts verify && talosgen render --check --all && talosgen render --keyless --all && talosgen check dev")
	for name := range strings.FieldsSeq(b.must(t, "git -C ~/clusters diff --name-only main")) {
		if !strings.HasPrefix(name, "envs/dev/cluster.") && !strings.HasPrefix(name, "charts/") && !strings.HasPrefix(name, "rendered/dev/") {
			t.Errorf("%s: %s changed", branch, name)
		}
	}
	if diff := b.must(t, "git -C ~/clusters diff main -- rendered"); !strings.Contains(diff, want) {
		t.Errorf("%s: %q is not in\n%s", branch, want, diff)
	}
}

// editedTree edits a rendered file, and its digest in the lock.
const editedTree = `echo 'debug: true' >> rendered/dev/nodes/dev-worker-1.yaml && sed -i "s/\(dev-worker-1.yaml: sha256:\).*/\1$(sha256sum < rendered/dev/nodes/dev-worker-1.yaml | cut -d ' ' -f 1)/" rendered/dev/render.lock.yaml`

// TestRenovateStops gives the job what it must not render, or push.
func TestRenovateStops(t *testing.T) {
	t.Parallel()
	for _, ci := range []string{"github", "gitlab"} {
		t.Run(ci, func(t *testing.T) {
			t.Parallel()
			b := newRenovateBot(t, ci)
			kubernetes := b.dependency(t, "github-releases", "kubernetes/kubernetes")
			for name, stop := range map[string]struct{ change, want string }{
				"recipients":   {"echo '# changed' >> .sops.yaml", "these are not changed by new versions"},
				"secrets":      {"echo '# changed' >> envs/dev/secrets.sops.yaml", "these are not changed by new versions"},
				"keyring":      {"echo '# changed' >> envs/dev/keyring.yaml", "these are not changed by new versions"},
				"rendered":     {"git checkout -q main -- envs && " + editedTree, "the seal does not fit"},
				"other digest": {"sed -i 's/sha256: [0-9a-f]*/sha256: 0000000000000000000000000000000000000000000000000000000000000000/' charts/charts.lock", "charts"},
			} {
				branch := "renovate/" + strings.ReplaceAll(name, " ", "-")
				b.raise(t, branch, kubernetes, "1.36.3")
				b.must(t, "cd ~/clusters && git checkout -q "+branch+" && "+stop.change)
				b.push(t, branch)
				b.stays(t, branch, stop.want)
			}
			b.raise(t, "renovate/too-new", kubernetes, "1.99.0")
			b.stays(t, "renovate/too-new", "1.99.0")
		})
	}
}

// stays makes sure that the job fails, and that the branch has no other commit.
func (b *renovateBot) stays(t *testing.T, branch, want string) {
	t.Helper()
	before := b.must(t, "git -C ~/remote.git rev-parse "+branch)
	out := b.render(t, branch, strings.ReplaceAll(branch, "/", "-"))
	if !strings.Contains(out, want) || !strings.HasSuffix(out, "job render failed\n") {
		t.Errorf("%s: %q is not in\n%s", branch, want, out)
	}
	if after := b.must(t, "git -C ~/remote.git rev-parse "+branch); after != before {
		t.Errorf("%s was changed:\n%s", branch, out)
	}
}

// TestRenderJobKeys looks at when the job runs, and at what its steps are given: the
// key where it renders, the token where it pushes, and nothing anywhere else.
func TestRenderJobKeys(t *testing.T) {
	t.Parallel()
	for _, ci := range []string{"github", "gitlab"} {
		t.Run(ci, func(t *testing.T) {
			t.Parallel()
			b := newRenovateBot(t, ci)
			b.raise(t, "renovate/web", b.dependency(t, "helm", "web"), "1.1.0")
			repository := filepath.Join(b.home, "clusters")
			for _, s := range b.steps(t, repository, b.event(t, "renovate/web")) {
				key, token := s.env["SOPS_AGE_KEY"] != "", s.env["TOKEN"] != ""
				if ci == "github" && (key != strings.Contains(s.script, "talosgen render --all") || token != strings.Contains(s.script, "git -c")) || s.env["HCLOUD_TOKEN"] != "" {
					t.Errorf("key %v, token %v:\n%s", key, token, s.script)
				}
			}
			for what, more := range map[string][]string{
				"not asked for":      {"vars.TALOSGEN_RENDER", "", "$TALOSGEN_RENDER", ""},
				"another author":     {"github.event.pull_request.user.login", "somebody", "$CI_COMMIT_REF_PROTECTED", "false"},
				"a fork":             {"github.event.pull_request.head.repo.full_name", "somebody/clusters", "$CI_COMMIT_REF_PROTECTED", "false"},
				"another branch":     {"github.event.pull_request.head.ref", "renovated", "$CI_COMMIT_BRANCH", "renovated"},
				"a branch of nobody": {"github.event.pull_request.head.ref", "x/renovate/web", "$CI_COMMIT_BRANCH", "x/renovate/web"},
			} {
				if steps := b.steps(t, repository, b.event(t, "renovate/web", more...)); len(steps) > 0 {
					t.Errorf("%s: the job %s runs", what, steps[0].job)
				}
			}
		})
	}
}
