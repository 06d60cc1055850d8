package fit

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/versions"
	"github.com/talosgen/talosgen/render/internal/foreign"
	"github.com/talosgen/talosgen/render/internal/machine"
)

// choose finds the files of the source that are copied, and the options that leave the
// least to other patches.
func (m *builder) choose() (settings, error) {
	best, least, err := m.contract()
	if err != nil {
		return nil, err
	}
	least = m.copy(best, least)
	for _, c := range m.candidates() {
		try := best.with(c...)
		n, err := m.lacking(try)
		if err == nil && n < least {
			best, least = try, n
		}
	}
	return best, nil
}

// contract is the one whose base has the fewest differences; the newest of several.
func (m *builder) contract() (best settings, least int, err error) {
	contracts := m.versions.contracts()
	if len(contracts) == 0 {
		return nil, 0, unknownTalos(m.Origin, m.versions.talos)
	}
	var failed error
	for _, contract := range contracts {
		s := m.base(contract)
		n, err := m.lacking(s)
		if err != nil {
			failed = cmp.Or(failed, err)
			continue
		}
		if best == nil || n < least {
			best, least = s, n
		}
	}
	if best == nil {
		return nil, 0, failed
	}
	return best, least, nil
}

// unknownTalos refuses a version of Talos that is not known, where an image names it.
func unknownTalos(origin *foreign.Origin, version string) error {
	p := diag.On("the nodes", "Talos %s is not known; known are %s", version, versions.Range()).
		WithHint("upgrade the cluster to one of these with what it is configured by now, then import")
	for _, o := range origin.Machines {
		for n, line := range strings.Split(o.Text.Reveal(), "\n") {
			if strings.HasSuffix(line, ":"+version) {
				p.Pos = diag.Pos{File: o.File, Line: n + 1}
				return p
			}
		}
	}
	return p
}

// first is the first text that a control plane has at one of two places.
func (m *builder) first(old []string, kind string, path ...string) string {
	for _, o := range m.Origin.Machines {
		if isControlPlane(o) {
			if v := cmp.Or(foreign.Value(o.Config, machine.MainID.Kind, old...), foreign.Value(o.Config, kind, path...)); v != "" {
				return v
			}
		}
	}
	return ""
}

// list is [builder.first] for lists.
func (m *builder) list(old []string, kind string, path ...string) []string {
	for _, o := range m.Origin.Machines {
		if isControlPlane(o) {
			if v := foreign.Values(o.Config, machine.MainID.Kind, old...); len(v) > 0 {
				return v
			}
			return foreign.Values(o.Config, kind, path...)
		}
	}
	return nil
}

// base are the options that every environment has.
func (m *builder) base(contract string) settings {
	s := settings{
		{path: "apiVersion", value: "talosgen.dev/v1alpha1"},
		{path: "clusterName", value: naming{m}.option()},
		{path: "provider", value: provider(m.Origin)},
		{path: "endpoint", value: m.refer(m.first([]string{"cluster", "controlPlane", "endpoint"}, "KubeClusterConfig", "endpoint"), endpointNames)},
		{path: "talos.version", value: m.version(m.versions.talos, talosNames)},
		{path: "talos.configContract", value: contract, comment: "The vocabulary that the machine configurations use."},
		{path: "kubernetes.version", value: strings.TrimPrefix(m.version("v"+m.versions.kubernetes, kubernetesNames), "v")},
	}
	s = append(s, m.ranges()...)
	s = append(s, clusterImage(m.Origin.Machines)...)
	addons := []string{"metrics-server", "kubelet-serving-cert-approver"}
	if m.Origin.Hetzner != nil {
		s = append(s, cloudBuilder{m}.hetzner()...)
		addons = append(addons, "hcloud-ccm", "hcloud-csi")
	} else {
		s = append(s, m.nodes()...)
	}
	for i, addon := range addons {
		comment := ""
		if i == 0 {
			comment = "Nothing comes into the cluster that it did not have."
		}
		s = append(s, setting{path: "addons." + addon, value: map[string]bool{"enabled": false}, comment: comment})
	}
	return s
}

// ranges are the addresses of pods and services, unless they are Talos' own.
func (m *builder) ranges() (s settings) {
	for _, r := range []struct{ key, talos, usual string }{
		{"podCidrs", "podSubnets", "10.244.0.0/16"}, {"serviceCidrs", "serviceSubnets", "10.96.0.0/12"},
	} {
		values := m.list([]string{"cluster", "network", r.talos}, "KubeNetworkConfig", r.talos)
		if len(values) == 0 && m.Origin.Hetzner != nil {
			values = []string{r.usual}
		}
		values = naming{m}.subnets(values)
		if len(values) > 0 && (m.Origin.Hetzner != nil || !slices.Equal(values, []string{r.usual})) {
			s = append(s, setting{path: "network." + r.key, value: values})
		}
	}
	return s
}

// candidates are options that may be as the machines have them, each with those that go
// with it.
func (m *builder) candidates() (all []settings) {
	add := func(path string, values ...any) {
		for _, v := range values {
			all = append(all, settings{{path: path, value: v}})
		}
	}
	list := func(path string, values []string) {
		if len(values) > 0 && !slices.ContainsFunc(values, m.Origin.Encrypts) {
			add(path, values)
		}
	}
	if v := m.first([]string{"cluster", "network", "dnsDomain"}, "KubeNetworkConfig", "dnsDomain"); v != "" && v != "cluster.local" && !m.Origin.Encrypts(v) {
		add("network.dnsDomain", v)
	}
	if m.Origin.Hetzner != nil {
		all = append(all, cloudBuilder{m}.cloudCandidates()...)
	} else {
		list("network.nodeCidrs", m.list([]string{"machine", "kubelet", "nodeIP", "validSubnets"}, "KubeNodeConfig", "nodeIP", "validSubnets"))
	}
	list("talos.certSans", m.list([]string{"machine", "certSANs"}, "", ""))
	add("talos.hostDns.enabled", false)
	add("talos.hostDns.forwardKubeDnsToHost", true)
	add("talos.hostDns.resolveMemberNames", false)
	add("talos.kubePrism.enabled", false)
	add("talos.discovery.service", false)
	add("talos.discovery.kubernetes", true)
	add("talos.kubeSpan.enabled", true)
	add("kubernetes.kubelet.rotateServerCertificates", false)
	add("kubernetes.proxy.enabled", false)
	add("kubernetes.coreDns.enabled", false)
	add("kubernetes.externalCloudProvider", true)
	add("cni.type", "none")
	add("nodes.controlPlane.allowScheduling", true, false)
	return all
}

// labelsOf are the labels that a machine's node has, but for those that Talos gives it, and
// for what is secret.
func labelsOf(origin *foreign.Origin, o foreign.Machine) map[string]string {
	labels := map[string]string{}
	for _, n := range []string{"machine.nodeLabels", "labels"} {
		node := foreign.Node(o.Config, "KubeNodeConfig", "labels")
		if n == "machine.nodeLabels" {
			node = foreign.Node(o.Config, machine.MainID.Kind, "machine", "nodeLabels")
		}
		for i := 0; node != nil && i+1 < len(node.Content); i += 2 {
			if key := node.Content[i].Value; !slices.Contains(ownLabels, key) && !origin.Encrypts(node.Content[i+1].Value) {
				labels[key] = node.Content[i+1].Value
			}
		}
	}
	return labels
}

// ownLabels are those that Talos gives control planes.
var ownLabels = []string{"node.kubernetes.io/exclude-from-external-load-balancers", "node-role.kubernetes.io/control-plane"}

// inCommon are the labels that all of some machines have.
func inCommon(origin *foreign.Origin, machines []foreign.Machine) map[string]string {
	common := labelsOf(origin, machines[0])
	for _, o := range machines[1:] {
		other := labelsOf(origin, o)
		maps.DeleteFunc(common, func(key, value string) bool { return other[key] != value || !has(other, key) })
	}
	return common
}

func has(m map[string]string, key string) bool {
	_, ok := m[key]
	return ok
}
