package render

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/yamltext"
	"github.com/talosgen/talosgen/schemas"
)

// fixed is a part of a configuration that a node which lives cannot change.
type fixed struct {
	what   string
	option string   // of cluster.yaml, for the place
	spots  []string // document and path: the same in several vocabularies
	means  string   // what a change would take
}

// fixedParts are compared with what is committed.
var fixedParts = []fixed{
	{"the ranges of the pods", "network.podCidrs", []string{"v1alpha1 cluster.network.podSubnets", "KubeNetworkConfig podSubnets"},
		"pods that run and the routes to them keep their addresses: a cluster with other ranges is a new one"},
	{"the ranges of the services", "network.serviceCidrs", []string{"v1alpha1 cluster.network.serviceSubnets", "KubeNetworkConfig serviceSubnets"},
		"services that exist keep their addresses: a cluster with other ranges is a new one"},
	{"the domain of the cluster", "network.dnsDomain", []string{"v1alpha1 cluster.network.dnsDomain", "KubeNetworkConfig dnsDomain"},
		"certificates and running pods know the old one: every pod has to be restarted, and service account tokens with the old issuer end"},
	{"the install disk", "nodes", []string{"v1alpha1 machine.install.disk", "v1alpha1 machine.install.diskSelector", "UnattendedInstallConfig provisioning.diskSelector.match"},
		"Talos stays on the disk that it is installed on: apply with --allow recreate/<node or pool> makes such a node again"},
	{"the encryption of the partition STATE", "talos.diskEncryption.state", []string{"v1alpha1 machine.systemDiskEncryption.state", "VolumeConfig/STATE encryption"},
		"a partition is encrypted when it is made: apply with --allow recreate/<node or pool> makes such nodes again, one after another"},
	{"the encryption of the partition EPHEMERAL", "talos.diskEncryption.ephemeral", []string{"v1alpha1 machine.systemDiskEncryption.ephemeral", "VolumeConfig/EPHEMERAL encryption"},
		"a partition is encrypted when it is made: apply with --allow recreate/<node or pool> makes such nodes again, one after another"},
}

// warnRunning compares a result with the committed tree, and warns of what a
// cluster that lives cannot take, or not by itself. Whether there is one only apply
// knows.
func (p *plan) warnRunning(res *Result) error {
	kept := map[string]bool{}
	for _, path := range res.kept {
		kept[path] = true
	}
	committed, err := p.Repo.Committed(res.Env, func(path string) bool { return kept[path] })
	if err != nil || len(committed) == 0 {
		return err
	}
	p.warnFixed(res, committed)
	p.warnMoved(res, paths(committed))
	return nil
}

// warnFixed warns of what no node that lives can take.
func (p *plan) warnFixed(res *Result, committed map[string][]byte) {
	changed := map[int][]string{} // nodes, by the number of the part
	for _, f := range res.files {
		before, exists := committed[f.Path]
		name, isNode := strings.CutPrefix(f.Path, "nodes/")
		if !exists || !isNode || bytes.Equal(before, f.Data) {
			continue
		}
		for i := range changedParts(before, f.Data) {
			changed[i] = append(changed[i], strings.TrimSuffix(name, ".yaml"))
		}
	}
	for _, i := range slices.Sorted(maps.Keys(changed)) {
		part, nodes := fixedParts[i], changed[i]
		res.Warnings.Add(diag.New(p.Config.Near(part.option), "%s of %s changed", part.what, several(nodes)).
			WithHint("if it lives already: %s", part.means))
	}
	if old := committed[schemas.InfrastructureFile]; old != nil {
		p.warnFixedInfrastructure(res, old)
	}
}

// several names the first of some nodes, and counts the rest.
func several(nodes []string) string {
	if len(nodes) == 1 {
		return "node " + nodes[0]
	}
	return fmt.Sprintf("node %s and %d more", nodes[0], len(nodes)-1)
}

// changedParts tells in which of the fixed parts two versions of a node differ;
// in none if one was not written by a render, but left by a merge.
func changedParts(before, after []byte) map[int]bool {
	was, understood := partsOf(before)
	is, _ := partsOf(after)
	changed := map[int]bool{}
	if !understood {
		return changed
	}
	for i := range fixedParts {
		if was[i] != is[i] {
			changed[i] = true
		}
	}
	return changed
}

// partsOf returns the text of each fixed part of a rendered file, as it is in
// any vocabulary.
func partsOf(data []byte) (parts []string, ok bool) {
	parts = make([]string, len(fixedParts))
	for _, doc := range yamltext.Split(data) {
		leaves, err := yamltext.Leaves(doc)
		if err != nil {
			return nil, false
		}
		all := make([]leaf, len(leaves))
		for i, l := range leaves {
			all[i] = leaf{Path: l.Path, Value: l.Value}
		}
		for _, l := range places(all) {
			for i, part := range fixedParts {
				parts[i] += l.within(part.spots)
			}
		}
	}
	return parts, true
}

// within prints a value with its path below one of some spots; nothing if it is
// below none.
func (l located) within(spots []string) string {
	for _, spot := range spots {
		document, path, _ := strings.Cut(spot, " ")
		if rest, ok := strings.CutPrefix(l.path, path); ok && l.document == document && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			return rest + "=" + plainDisk(l.leaf.Value) + "\n"
		}
	}
	return ""
}

// plainDisk is the path in an expression that only selects a disk by its path,
// as contracts from v1.14 write what older ones have as a path.
func plainDisk(value string) string {
	if path, ok := strings.CutPrefix(value, `disk.dev_path == "`); ok {
		return strings.TrimSuffix(path, `"`)
	}
	return value
}

// warnFixedInfrastructure warns of changes that Hetzner does not make to a
// network or a server that exists.
func (p *plan) warnFixedInfrastructure(res *Result, committed []byte) {
	var old schemas.Infrastructure
	if yaml.Unmarshal(committed, &old) != nil {
		return // not written by a render: what is wrong is reported by others
	}
	warn := func(option, hint, message string, args ...any) {
		res.Warnings.Add(diag.New(p.Config.Near(option), message, args...).WithHint("if it exists already: %s", hint))
	}
	if a, b := old.KubernetesAPI.Endpoint, p.Infra.KubernetesAPI.Endpoint; a != "" && a != b {
		warn("endpoint", "nodes that lose the old one before they know the new one leave the cluster; keep both reachable until all have it",
			"the endpoint of the cluster changed from %s to %s", a, b)
	}
	if old.Network != nil && p.Infra.Network != nil && old.Network.IPRange != p.Infra.Network.IPRange {
		warn("network.cidr", "a network can grow; it cannot shrink or move", "the range of the network changed from %s to %s", old.Network.IPRange, p.Infra.Network.IPRange)
	}
	before := map[string]schemas.InfraServer{}
	for _, s := range old.Servers {
		before[s.Name] = s
	}
	for _, s := range p.Infra.Servers {
		was, existed := before[s.Name]
		switch {
		case !existed:
		case was.PrivateIP != s.PrivateIP:
			warn("nodes", "etcd and certificates know its address: it has to be made again", "the address of %s changed from %s to %s", s.Name, was.PrivateIP, s.PrivateIP)
		case was.Locations[0] != s.Locations[0]:
			warn("nodes", "servers do not move: apply with --allow recreate/<node or pool> makes it again", "the location of %s changed from %s to %s", s.Name, was.Locations[0], s.Locations[0])
		case was.Image.Architecture != s.Image.Architecture:
			warn("nodes", "servers keep their architecture: apply with --allow recreate/<node or pool> makes it again", "the architecture of %s changed from %s to %s", s.Name, was.Image.Architecture, s.Image.Architecture)
		}
	}
}
