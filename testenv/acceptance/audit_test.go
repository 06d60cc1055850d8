//go:build linux

package acceptance

import (
	"bufio"
	"encoding/json"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/talosgen/talosgen/internal/sim/hetznersim"
	"github.com/talosgen/talosgen/testenv/talosenv"
)

// audit is what servers themselves say of what they are asked for a while: the log of
// machined of each node, in which each call of the Talos API is, the audit log of each API
// server, and the calls of the simulated project. Nothing of it passes through talosgen.
type audit struct {
	*user
	controlPlanes string                   // what their names begin with
	project       func() []hetznersim.Call // nil: there is none

	since, until time.Time
	asked        int      // calls of the project before
	configs      []string // versions of the resources of machine configurations, by node
	objects      *objects
}

// begin is when somebody begins to ask.
func (a *audit) begin() {
	a.t.Helper()
	a.configs, a.objects = a.configVersions(), a.newObjects()
	if a.project != nil {
		a.asked = len(a.project())
	}
	a.since = time.Now()
}

// end wants that all three were asked, and that nothing was written: neither asked for, nor
// anything another version.
func (a *audit) end() {
	a.t.Helper()
	a.until = time.Now()
	read := map[string]int{"Talos": a.talos(), "Kubernetes": a.kubernetesAudit()}
	if a.project != nil {
		read["Hetzner Cloud"] = a.hetzner()
	}
	for api, n := range read {
		if n == 0 {
			a.t.Errorf("nothing was asked of %s", api)
		}
	}
	if now := a.configVersions(); !slices.Equal(now, a.configs) {
		a.t.Errorf("the versions of machine configurations were %q, and are %q", a.configs, now)
	}
	a.objects.same()
	a.t.Logf("read: %v, and nothing was written; %d objects have their versions", read, len(a.objects.before))
}

// within reports whether something happened meanwhile.
func (a *audit) within(at time.Time) bool { return at.After(a.since) && at.Before(a.until) }

// running are the nodes that run.
func (a *audit) running() []*talosenv.Node {
	return slices.DeleteFunc(slices.Clone(a.bed.Nodes()), (*talosenv.Node).Stopped)
}

// asks asks a node with talosctl.
func (a *audit) asks(n *talosenv.Node, args ...string) string {
	a.t.Helper()
	client := a.bed.NewClient(a.t, a.repository.MachineConfig(&talosenv.Node{Name: a.controlPlanes + "1"}))
	output, err := client.Run(a.t.Context(), n, args...)
	if err != nil {
		a.t.Fatal(err)
	}
	return output
}

func (a *audit) configVersions() (all []string) {
	a.t.Helper()
	for _, n := range a.running() {
		version := a.asks(n, "get", "machineconfig", "v1alpha1", "-o", "jsonpath={.metadata.version}")
		all = append(all, n.Name+" "+strings.TrimSpace(version))
	}
	return all
}

// hetzner counts the calls of the project, which have to read.
func (a *audit) hetzner() (read int) {
	a.t.Helper()
	for _, c := range a.project()[a.asked:] {
		if c.Method != http.MethodGet {
			a.t.Errorf("Hetzner Cloud was asked to %s %s", c.Method, c.Path)
			continue
		}
		read++
	}
	return read
}

// called is a line of the log of machined: when a call was over, and which it was.
var called = regexp.MustCompile(`(?m)^\S+ (\d{4}/\d\d/\d\d \d\d:\d\d:\d\d\.\d+) machined \S+ \S+ \w+ \[(/\S+)\]`)

// talosReads are the calls of the Talos API that change nothing.
var talosReads = []string{
	"/machine.MachineService/Version", "/machine.MachineService/List", "/machine.MachineService/Read", "/machine.MachineService/ServiceList",
	"/machine.MachineService/EtcdMemberList", "/machine.MachineService/EtcdStatus", "/machine.MachineService/ImageList", "/machine.ImageService/List",
	"/cosi.resource.State/Get", "/cosi.resource.State/List",
}

// talos counts the calls of nodes, which have to read.
func (a *audit) talos() (read int) {
	a.t.Helper()
	for _, n := range a.running() {
		for _, m := range called.FindAllStringSubmatch(a.asks(n, "logs", "machined"), -1) {
			switch at, err := time.ParseInLocation("2006/01/02 15:04:05.999999", m[1], time.UTC); {
			case err != nil:
				a.t.Fatal(err)
			case !a.within(at):
			case !slices.Contains(talosReads, m[2]):
				a.t.Errorf("%s was asked for %s", n.Name, m[2])
			default:
				read++
			}
		}
	}
	return read
}

// request is a line of the audit log of an API server.
type request struct {
	Verb     string    `json:"verb"`
	URI      string    `json:"requestURI"`
	Agent    string    `json:"userAgent"`
	Received time.Time `json:"requestReceivedTimestamp"`
}

// auditLog is where Talos lets API servers write it.
const auditLog = "/var/log/audit/kube/kube-apiserver.log"

// kubernetesAudit counts the requests of talosgen, which have to read.
func (a *audit) kubernetesAudit() (read int) {
	a.t.Helper()
	for _, n := range a.running() {
		if !strings.HasPrefix(n.Name, a.controlPlanes) {
			continue
		}
		text := a.asks(n, "read", auditLog)
		// What is being written has no end yet: it was asked for later.
		lines := bufio.NewScanner(strings.NewReader(text[:strings.LastIndex(text, "\n")+1]))
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var r request
			if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
				a.t.Fatal(err)
			}
			if !strings.HasPrefix(r.Agent, "talosgen") || !a.within(r.Received) {
				continue
			}
			if !slices.Contains([]string{"get", "list"}, r.Verb) {
				a.t.Errorf("Kubernetes was asked to %s %s", r.Verb, r.URI)
			}
			read++
		}
		if err := lines.Err(); err != nil {
			a.t.Fatal(err)
		}
	}
	return read
}

// same wants objects to be as they were, but for what others have written since they began
// to be listed.
func (o *objects) same() {
	o.t.Helper()
	now := o.list()
	for _, place := range slices.Sorted(maps.Keys(now)) {
		if was, is := o.before[place], now[place]; was.version != is.version && is.others.Before(o.since.Truncate(time.Second)) {
			o.t.Errorf("%s had the version %q, has %q, and nobody but talosgen wrote it", place, was.version, is.version)
		}
	}
	for _, place := range slices.Sorted(maps.Keys(o.before)) {
		if _, is := now[place]; !is && !o.before[place].orphan(now) {
			o.t.Errorf("%s is gone", place)
		}
	}
}
