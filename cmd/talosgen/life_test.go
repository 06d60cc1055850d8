package main

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/talosgen/talosgen/internal/sim/hetznersim"
	"github.com/talosgen/talosgen/internal/sim/talossim"
)

// The commands of the life of a cluster.
var (
	lifeApply    = []string{"apply", "dev", "--allow-dirty", "--yes", "--allow-destroy"}
	lifeUnagreed = []string{"apply", "dev", "--allow-dirty", "--yes"}
	lifeRescale  = []string{"apply", "dev", "--allow-dirty", "--yes", "--allow-power-off"}
	lifeReplace  = []string{"replace", "dev", "dev-control-plane-2", "--allow-dirty", "--yes-replace", "dev-control-plane-2"}
	lifeDestroy  = []string{"destroy", "dev", "--allow-dirty", "--yes-destroy", "dev"}
)

// chapter is a part of the life of a cluster: what is in Git, what happens, and
// what is done about it, each until it is done.
type chapter struct {
	name     string
	tree     int // of [lifeTrees]
	happens  func(*life)
	commands [][]string
	// What also befalls the first command, each time another run of it.
	faults []lifeFault
}

// lifeFault is a fault of a call to Hetzner that kills the process, or that it
// notices.
type lifeFault struct {
	path  string
	as    hetznersim.Outcome
	when  hetznersim.When
	kills bool
}

// lifeOff is what befalls a run while it has a server switched off.
var lifeOff = []lifeFault{
	{path: "/servers/*/actions/shutdown", when: hetznersim.AfterEffect, kills: true},
	{path: "/servers/*/actions/change_type", when: hetznersim.BeforeEffect, kills: true},
	{path: "/servers/*/actions/change_type", as: hetznersim.Status(403, "resource_limit_exceeded", "no more of them")},
	{path: "/servers/*/actions/change_type", when: hetznersim.AfterEffect, as: hetznersim.Drop()},
}

// lifeTree is what is in Git: how many workers there are, a setting of all nodes, the
// type of servers, where they are, and more of Talos.
type lifeTree struct{ workers, backlog, kind, region, more string }

// lifeTrees are what is in Git one after the other.
var lifeTrees = []lifeTree{
	{workers: "2", backlog: "4096", kind: "cpx22"}, {workers: "2", backlog: "8192", kind: "cpx22"},
	{workers: "3", backlog: "8192", kind: "cpx22"}, {workers: "2", backlog: "8192", kind: "cpx32"},
}

var lifeChapters = []chapter{
	{name: "from nothing", tree: 0, commands: [][]string{lifeApply}},
	{name: "a setting of all nodes changes", tree: 1, commands: [][]string{lifeApply}},
	{name: "a pool grows", tree: 2, commands: [][]string{lifeApply}},
	{name: "a pool shrinks", tree: 1, commands: [][]string{lifeApply}},
	{name: "a worker is lost", tree: 1, happens: func(l *life) { l.deleteServer("dev-worker-1") }, commands: [][]string{lifeApply}},
	{name: "a control plane is lost", tree: 1, happens: func(l *life) { l.deleteServer("dev-control-plane-2") }, commands: [][]string{lifeReplace, lifeApply}},
	{name: "drift", tree: 1, happens: (*life).drift, commands: [][]string{lifeApply}},
	{name: "another type", tree: 3, commands: [][]string{lifeRescale}, faults: lifeOff},
	{name: "destroy", tree: 1, happens: func(l *life) { l.fleet.LetEnd() }, commands: [][]string{lifeDestroy}},
	{name: "again from the same commit", tree: 1, commands: [][]string{lifeApply}},
}

const (
	// lifeKills is how often the process is killed.
	lifeKills = 40
	// lifeSeed decides when.
	lifeSeed = 2
)

// TestLifeKilled lives the life of a cluster twice: from an empty project,
// through changes of size, losses and drift, to nothing and back. The second
// time every command is killed at random calls to Hetzner, to nodes or to
// Kubernetes, and run again. After each chapter everything is as it was the
// first time: the project, the nodes with etcd, and Kubernetes. The rules of
// etcd were never broken.
func TestLifeKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a minute")
	}
	t.Parallel()
	lived(t, repositoriesOf(t, lifeTrees), lifeChapters).killed(t, lifeKills, lifeSeed)
}

// story is a life without a fault: what is there after each chapter, and which calls its
// commands made.
type story struct {
	trees     []files
	chapters  []chapter
	states    map[string]string
	calls     map[string][]lifeCalls
	processes int
	work      time.Duration
}

// lived lives through chapters.
func lived(t *testing.T, trees []files, chapters []chapter) story {
	t.Helper()
	s := story{trees: trees, chapters: chapters, states: map[string]string{}, calls: map[string][]lifeCalls{}}
	l := newLife(t, trees)
	for _, c := range chapters {
		l.begin(c)
		for _, command := range c.commands {
			s.calls[c.name] = append(s.calls[c.name], l.complete(command))
		}
		s.states[c.name] = l.state()
	}
	s.processes, s.work = l.processes, l.work
	return s
}

// killed lives it again, with kills at random calls.
func (s story) killed(t *testing.T, kills int, seed uint64) {
	t.Helper()
	random := rand.New(rand.NewPCG(8, seed))
	l := newLife(t, s.trees)
	left := kills
	for i, c := range s.chapters {
		l.begin(c)
		l.befall(c)
		share := left / (len(s.chapters) - i)
		for n, command := range c.commands {
			kills := share / len(c.commands)
			killed := l.killed(command, kills, s.calls[c.name][n], random, i == len(s.chapters)-1)
			left -= killed
			l.later(lifeSession)
			l.complete(command)
		}
		s.compare(l, c, fmt.Sprintf("after %d kills", kills-left))
	}
	if left > 0 {
		t.Errorf("%d of %d kills did not come to pass", left, kills)
	}
	t.Logf("%d processes, %s of a processor", s.processes+l.processes, s.work+l.work)
}

// compare fails unless all is as it was after a chapter.
func (s story) compare(l *life, c chapter, after string) {
	l.t.Helper()
	if state := l.state(); state != s.states[c.name] {
		l.t.Fatalf("%s: %s this is not as without:\n%s", c.name, after, joinedDiff(s.states[c.name], state))
	}
}

// killed runs a command, kills it at a random call, and does so again, as often
// as it should: it returns how often it did. A command that ends before has done
// what it should; unless it is to be killed nevertheless, that is all.
func (l *life) killed(command []string, kills int, calls lifeCalls, random *rand.Rand, allTheSame bool) (killed int) {
	l.t.Helper()
	for tries := 0; killed < kills && tries < 3*kills; tries++ {
		l.sim.ResetCalls()
		l.fleet.ResetCalls()
		p := l.process(command)
		after := random.IntN(2) == 0
		if random.IntN(2) == 0 {
			when := hetznersim.BeforeEffect
			if after {
				when = hetznersim.AfterEffect
			}
			l.sim.Inject(hetznersim.Fault{Call: 1 + random.IntN(1+calls.hetzner*2/(kills+2)), When: when, Then: p.kill})
		} else {
			l.fleet.Inject(talossim.Fault{Call: 1 + random.IntN(1+calls.nodes*2/(kills+2)), After: after, Then: p.kill})
		}
		done := p.run()
		l.sim.ClearFaults()
		l.fleet.ClearFaults()
		l.later(lifeLock)
		if p.killed {
			killed++
		} else if !done {
			l.t.Fatalf("%s was not killed, and failed:\n%s", strings.Join(command, " "), p.output.String())
		} else if !allTheSame {
			return killed
		}
	}
	return killed
}

// befall lets the faults of a chapter befall its first command. A run that lives on
// leaves no server off; after one that is killed, the next one, though nobody agrees
// to anything, sees to that.
func (l *life) befall(c chapter) {
	l.t.Helper()
	for _, f := range c.faults {
		l.sim.ResetCalls()
		p := l.process(c.commands[0])
		fault := hetznersim.Fault{Method: http.MethodPost, Path: f.path, When: f.when, As: f.as}
		if f.kills {
			fault.Then = p.kill
		}
		l.sim.Inject(fault)
		_ = p.run()
		l.sim.ClearFaults()
		if p.killed != f.kills {
			l.t.Fatalf("%s: killed %v:\n%s", f.path, p.killed, p.output.String())
		}
		if p.killed {
			l.later(lifeLock)
			p = l.process(lifeUnagreed)
			_ = p.run()
		}
		for _, server := range l.list("servers") {
			if server["status"] != "running" {
				l.t.Fatalf("%s: %s is %s after\n%s", f.path, server["name"], server["status"], p.output.String())
			}
		}
	}
}

// drift changes by hand what is talosgen's: at Hetzner, and in Kubernetes.
func (l *life) drift() {
	l.t.Helper()
	for _, f := range l.list("firewalls") {
		l.call(http.MethodPost, "/firewalls/"+l.id(f)+"/actions/set_rules", map[string]any{"rules": []any{}})
	}
	for _, s := range l.list("servers")[:1] {
		l.call(http.MethodPost, "/servers/"+l.id(s)+"/actions/change_protection", map[string]any{"delete": false, "rebuild": false})
	}
	api := l.fleet.Kubernetes("dev-control-plane-1")
	api.Remove("DaemonSet", "kube-system", "hcloud-cloud-controller-manager")
	api.Remove("Secret", "flux-system", "sops-age")
}

// repositoriesOf are the repository with each of some trees, rendered.
func repositoriesOf(t *testing.T, trees []lifeTree) (repositories []files) {
	t.Helper()
	f, err := prepared()
	if err != nil {
		t.Fatal(err)
	}
	const cluster, patch = "envs/dev/cluster.yaml", "patches/common/backlog.yaml"
	for _, v := range trees {
		dir := t.TempDir()
		text := strings.Replace(f.sources[cluster], "    count: 1\n", "    count: 3\n", 1)
		text = strings.Replace(text, "        count: 2\n", "        count: "+v.workers+"\n", 1)
		text = strings.ReplaceAll(text, "type: cpx22\n", "type: "+v.kind+"\n")
		text = strings.Replace(text, "region: hel1", "region: "+cmp.Or(v.region, "hel1"), 1)
		text = strings.Replace(text, "kubernetes:\n", v.more+"kubernetes:\n", 1)
		text += "gitops:\n  repository: https://git.example.com/clusters.git\n  components: existing\n"
		if len(repositories) > 0 { // with the same secrets
			if err := repositories[0].writeMissing(dir); err != nil {
				t.Fatal(err)
			}
			if err := os.RemoveAll(dir + "/rendered"); err != nil {
				t.Fatal(err)
			}
		} else if err := f.sources.writeMissing(dir); err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{cluster: text, patch: "machine: {sysctls: {net.core.somaxconn: '" + v.backlog + "'}}\n"} {
			if err := writeFile(dir+"/"+name, []byte(text)); err != nil {
				t.Fatal(err)
			}
		}
		for _, args := range [][]string{{"secrets", "sync", "dev"}, {"render", "dev"}} {
			if err := f.talosgen(dir, args...); err != nil {
				t.Fatal(err)
			}
		}
		repository, err := readFiles(dir)
		if err != nil {
			t.Fatal(err)
		}
		repositories = append(repositories, repository)
	}
	return repositories
}
