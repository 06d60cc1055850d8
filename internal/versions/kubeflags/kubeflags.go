package kubeflags

import (
	_ "embed" // the list of feature gates
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/talosgen/talosgen/internal/yamltext"
)

// Kind is what a machine configuration sets of a program.
type Kind string

// The kinds.
const (
	Flag   Kind = "flag"
	Gate   Kind = "feature gate"
	Plugin Kind = "admission plugin"
)

// Set is one of them that a configuration sets.
type Set struct {
	Program string // such as kube-apiserver
	Kind    Kind
	Name    string // a flag without --
	Path    string // in the configuration
}

// place is where configurations have what a program is started with.
type place struct{ kind, keys, program string }

var places = []place{
	{"", "cluster.apiServer", "kube-apiserver"}, {"KubeAPIServerConfig", "", "kube-apiserver"},
	{"", "cluster.controllerManager", "kube-controller-manager"}, {"KubeControllerManagerConfig", "", "kube-controller-manager"},
	{"", "cluster.scheduler", "kube-scheduler"}, {"KubeSchedulerConfig", "", "kube-scheduler"},
	{"", "cluster.proxy", "kube-proxy"}, {"KubeProxyConfig", "", "kube-proxy"},
	{"", "machine.kubelet", "kubelet"}, {"KubeletConfig", "", "kubelet"},
}

// main is what Talos calls the document without a kind.
const main = "v1alpha1"

// Has reports whether documents of a kind set anything that is looked at.
func Has(kind string) bool {
	return kind == main || slices.ContainsFunc(places, func(p place) bool { return p.kind == kind })
}

// Of returns what a value of a document sets.
func Of(kind string, path yamltext.Path, value string) []Set {
	keys := make([]string, 0, len(path))
	for _, e := range path {
		if e.Index < 0 {
			keys = append(keys, e.Key)
		}
	}
	if kind == main {
		kind = ""
	}
	for _, p := range places {
		if rest, below := cut(keys, p.keys); below && p.kind == kind {
			return p.sets(rest, value, path.String())
		}
	}
	return nil
}

// cut is what of keys lies below others.
func cut(keys []string, above string) (rest []string, below bool) {
	if above == "" {
		return keys, true
	}
	all := strings.Split(above, ".")
	if len(keys) < len(all) || !slices.Equal(keys[:len(all)], all) {
		return nil, false
	}
	return keys[len(all):], true
}

// sets reads a flag, or a gate in the configuration file of a program.
func (p place) sets(keys []string, value, path string) (all []Set) {
	if len(keys) == 3 && (keys[0] == "extraConfig" || keys[0] == "config") && keys[1] == "featureGates" {
		return []Set{{p.program, Gate, keys[2], path}}
	}
	if len(keys) != 2 || keys[0] != "extraArgs" {
		return nil
	}
	all = []Set{{p.program, Flag, keys[1], path}}
	for item := range strings.SplitSeq(value, ",") {
		name, _, _ := strings.Cut(strings.TrimSpace(item), "=")
		switch keys[1] {
		case "feature-gates":
			all = append(all, Set{p.program, Gate, name, path})
		case "enable-admission-plugins", "disable-admission-plugins":
			all = append(all, Set{p.program, Plugin, name, path})
		}
	}
	return all
}

// Fault says why the program does not start with what is set in a minor version of
// Kubernetes 1; empty if nothing is known against it.
func (s Set) Fault(minor int) string {
	what := fmt.Sprintf("%s %s of %s", s.Kind, s.Name, s.Program)
	switch begins, ends := s.life(); {
	case ends > 0 && ends <= minor:
		return fmt.Sprintf("Kubernetes 1.%d has no %s: it ended with 1.%d", minor, what, ends)
	case begins > minor:
		return fmt.Sprintf("Kubernetes 1.%d has no %s yet: it begins with 1.%d", minor, what, begins)
	}
	return ""
}

// Early reports whether it begins with a later minor version.
func (s Set) Early(minor int) bool { begins, _ := s.life(); return begins > minor }

// life is the minor that has it first, and the one that has it no more; 0: not known,
// or none.
func (s Set) life() (begins, ends int) {
	switch s.Kind {
	case Flag:
		return 0, flags[s.Program+" "+s.Name]
	case Plugin:
		return 0, plugins[s.Name]
	}
	return gates[s.Name].begins, gates[s.Name].ends
}

// flags are the minors that have flags no more.
var flags = map[string]int{
	"kube-apiserver master-service-namespace": 27, "kube-apiserver cloud-config": 33, "kube-apiserver cloud-provider": 33,
	"kube-controller-manager enable-taint-manager": 27, "kube-controller-manager pod-eviction-timeout": 27,
	"kube-controller-manager horizontal-pod-autoscaler-downscale-delay": 31, "kube-controller-manager horizontal-pod-autoscaler-upscale-delay": 31,
	"kube-controller-manager volume-host-allow-local-loopback": 31, "kube-controller-manager volume-host-cidr-denylist": 31,
	"kubelet container-runtime": 27, "kubelet master-service-namespace": 27,
	"kubelet iptables-drop-bit": 31, "kubelet iptables-masquerade-bit": 31, "kubelet keep-terminated-pod-volumes": 31,
	"kubelet cloud-config": 34, "kubelet register-schedulable": 34, "kubelet pod-infra-container-image": 35,
	"kube-proxy proxy-port-range": 31,
}

// plugins are the minors that have admission plugins no more.
var plugins = map[string]int{"SecurityContextDeny": 30, "PersistentVolumeLabel": 31, "JobValidation": 37, "PodGroupWorkloadExists": 37}

// life is from when to when a gate is known.
type life struct{ begins, ends int }

//go:embed gates.txt
var gatesText string

var gates = parse(gatesText)

// parse reads lines of a minor, + or -, and the gates that begin or end with it.
func parse(text string) map[string]life {
	all := map[string]life{}
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		minor, _ := strconv.Atoi(words[0])
		for _, name := range words[2:] {
			known := all[name]
			if words[1] == "+" {
				known = life{begins: minor} // one that ended may begin again
			} else {
				known.ends = minor
			}
			all[name] = known
		}
	}
	return all
}
