package kubeflags

import (
	"cmp"
	_ "embed" // the list of feature gates
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

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
type place struct {
	kind    string
	keys    []string
	program string
}

var places = []place{
	{main, []string{"cluster", "apiServer"}, "kube-apiserver"}, {"KubeAPIServerConfig", nil, "kube-apiserver"},
	{main, []string{"cluster", "controllerManager"}, "kube-controller-manager"}, {"KubeControllerManagerConfig", nil, "kube-controller-manager"},
	{main, []string{"cluster", "scheduler"}, "kube-scheduler"}, {"KubeSchedulerConfig", nil, "kube-scheduler"},
	{main, []string{"cluster", "proxy"}, "kube-proxy"}, {"KubeProxyConfig", nil, "kube-proxy"},
	{main, []string{"machine", "kubelet"}, "kubelet"}, {"KubeletConfig", nil, "kubelet"},
}

// main is what Talos calls the document without a kind.
const main = "v1alpha1"

// Has reports whether documents of a kind, or without one, set anything that is looked
// at.
func Has(kind string) bool {
	return slices.ContainsFunc(places, func(p place) bool { return p.kind == named(kind) })
}

// Of returns what a value of a document sets.
func Of(kind string, path yamltext.Path, value string) []Set {
	for _, p := range places {
		if p.kind != named(kind) {
			continue
		}
		if rest, below := cut(path, p.keys); below {
			return p.sets(rest, value, path)
		}
	}
	return nil
}

// ImageOf returns the program whose image a value of a document is; empty if it is none.
func ImageOf(kind string, path yamltext.Path) (program string) {
	for _, p := range places {
		rest, below := cut(path, p.keys)
		if p.kind == named(kind) && below && len(rest) == 1 && rest[0].Key == "image" {
			return p.program
		}
	}
	return ""
}

// named is what Talos calls a document, also one without a kind.
func named(kind string) string { return cmp.Or(kind, main) }

// cut is what of a path lies below keys.
func cut(path yamltext.Path, keys []string) (rest yamltext.Path, below bool) {
	if len(path) < len(keys) {
		return nil, false
	}
	for i, key := range keys {
		if path[i].Index >= 0 || path[i].Key != key {
			return nil, false
		}
	}
	return path[len(keys):], true
}

// sets reads a flag, or a gate in the configuration file of a program.
func (p place) sets(rest yamltext.Path, value string, path yamltext.Path) (all []Set) {
	if len(rest) < 2 {
		return nil
	}
	above, name := rest[0].Key, rest[1].Key
	if len(rest) == 3 && (above == "extraConfig" || above == "config") && name == "featureGates" {
		return []Set{{p.program, Gate, rest[2].Key, path.String()}}
	}
	// A flag has one value, or a list of them.
	if above != "extraArgs" || len(rest) > 3 || len(rest) == 3 && rest[2].Index < 0 {
		return nil
	}
	at := path.String()
	all = []Set{{p.program, Flag, name, at}}
	for item := range strings.SplitSeq(value, ",") {
		item, _, _ = strings.Cut(strings.TrimSpace(item), "=")
		switch name {
		case "feature-gates":
			all = append(all, Set{p.program, Gate, item, at})
		case "enable-admission-plugins", "disable-admission-plugins":
			all = append(all, Set{p.program, Plugin, item, at})
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
	gate := gates()[s.Name]
	return gate.begins, gate.ends
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

// gates are the lives of feature gates by name.
var gates = sync.OnceValue(func() map[string]life { return parse(gatesText) })

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
