package apply

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	kubeplan "github.com/talosgen/talosgen/apply/plan/kube"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/internal/versions"
)

// otherVersion are the nodes that run a version of a program where Git has another.
type otherVersion struct {
	program, runs, want string
	nodes               []string
}

func (v otherVersion) String() string {
	text := fmt.Sprintf("%s %s, Git has %s", v.program, v.runs, v.want)
	if len(v.nodes) == 1 {
		return fmt.Sprintf("node %s runs %s (docs/how-to/upgrade.md)", v.nodes[0], text)
	}
	return fmt.Sprintf("%d nodes run %s: %s (docs/how-to/upgrade.md)", len(v.nodes), text, some(v.nodes))
}

// Programs whose versions nodes report.
const (
	talosProgram      = "Talos"
	kubernetesProgram = "Kubernetes"
)

// versions says which nodes run another version than Git has: one of all that
// differ in the same way.
func (s *Status) versions() (all []otherVersion) {
	note := func(program, runs, want, node string) {
		if runs == "" || want == "" || runs == want {
			return
		}
		i := slices.IndexFunc(all, func(v otherVersion) bool { return v.program == program && v.runs == runs && v.want == want })
		if i < 0 {
			all = append(all, otherVersion{program: program, runs: runs, want: want})
			i = len(all) - 1
		}
		all[i].nodes = append(all[i].nodes, node)
	}
	for _, n := range s.Nodes {
		if n.Registered {
			note(talosProgram, n.Talos, n.WantTalos, n.Name)
			note(kubernetesProgram, n.Kubelet, n.Want, n.Name)
		}
	}
	return all
}

// beside are the differences but those of versions that an upgrade, which may be
// nil, tells of.
func (s *Status) beside(u *nodeplan.Upgrade) []string {
	reported := map[string]bool{}
	for _, v := range s.versions() {
		reported[v.String()] = u != nil && (v.program == talosProgram && u.Talos != nil || v.program == kubernetesProgram && u.Kubernetes != nil)
	}
	return slices.DeleteFunc(slices.Clone(s.Differences), func(text string) bool { return reported[text] })
}

// some are the first names of many.
func some(names []string) string {
	const shown = 3
	if len(names) <= shown+1 {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:shown], ", "), len(names)-shown)
}

// differences says what is not as it should be.
func (s *Status) differences(now time.Time, unready []string) {
	add := func(format string, args ...any) { s.Differences = append(s.Differences, fmt.Sprintf(format, args...)) }
	for _, n := range s.Nodes {
		switch {
		case n.Unknown:
			continue
		case !n.Registered:
			add("node %s is not in the cluster", n.Name)
			continue
		case !n.Wanted:
			add("node %s is not in Git", n.Name)
		}
		if !n.Ready {
			add("node %s is not ready: %s", n.Name, n.Message)
		}
	}
	for _, v := range s.versions() {
		add("%s", v)
	}
	if s.Objects != nil && !s.Objects.InSync() {
		add("objects: %s", s.Objects.Summary())
	}
	s.Differences = append(s.Differences, unready...)
	behind := map[string][]string{} // Kustomizations or Applications, by what they applied
	kind := kubeplan.EngineFlux.Kind()
	for _, f := range slices.Concat(s.Flux, s.ArgoCD) {
		kind = f.engine.Kind()
		switch {
		case !f.There:
			add("%s %s is not in the cluster", kind, f.Name)
		case f.Suspended:
			add("%s %s is suspended", kind, f.Name)
		case !f.Ready:
			add("%s %s is not ready: %s", kind, f.Name, f.Message)
		case !f.Current:
			behind[f.Revision] = append(behind[f.Revision], f.Name)
		}
	}
	for _, revision := range slices.Sorted(maps.Keys(behind)) {
		plural := ""
		if len(behind[revision]) > 1 {
			plural = "s"
		}
		add("%s%s %s applied %s, and the tree here is another", kind, plural, some(behind[revision]), revision)
	}
	for _, c := range s.Certificates {
		switch {
		case c.Problem != "":
			add("the certificate of the %s cannot be read: %s", c.Name, c.Problem)
		case c.Expires.Before(now):
			add("the certificate of the %s has expired on %s", c.Name, c.Expires.UTC().Format(time.DateOnly))
		case c.soon(now):
			add("the certificate of the %s expires on %s", c.Name, c.Expires.UTC().Format(time.DateOnly))
		}
	}
}

// support tells of the versions that run: that of the Kubernetes API, and those of Talos.
func (s *Status) support(now time.Time) {
	add := func(program, version string, of versions.Support) {
		s.Support = append(s.Support, supportStatus{Program: program, Version: version, Ends: of.Ends, Ended: of.Ended, Text: of.Text})
	}
	if s.Version != "" {
		add(kubernetesProgram, s.Version, versions.KubernetesSupport(s.Version, now))
	}
	var run []string
	for _, n := range s.Nodes {
		if n.Registered && strings.HasPrefix(n.Talos, "v") && !slices.Contains(run, n.Talos) {
			run = append(run, n.Talos)
		}
	}
	slices.Sort(run)
	for _, version := range run {
		add(talosProgram, version, versions.TalosSupport(version))
	}
}
