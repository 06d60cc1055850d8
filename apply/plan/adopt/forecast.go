package adopt

import (
	"fmt"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/internal/natural"
	"github.com/talosgen/talosgen/schemas"
)

// sources are what a module's own files say, as far as its next plan depends on it: all
// these resources set labels, and ignore no change of them.
type sources struct {
	version           string
	network, balancer string
	servers, groups   [2]string   // resources: of workers, of control planes
	ignored           [2][]string // attributes of these servers
	nodes             string      // what it says of machine configurations
	unknown           string      // what its plan depends on besides
}

// modules are the sources of modules, read at the versions that they name.
var modules = map[Module]sources{
	HcloudK8s: {
		version: "5.6", network: "hcloud_network.this", balancer: "hcloud_load_balancer.kube_api",
		servers: [2]string{"hcloud_server.worker", "hcloud_server.control_plane"},
		groups:  [2]string{"hcloud_placement_group.worker", "hcloud_placement_group.control_plane"},
		ignored: [2][]string{{"image", "user_data", "ssh_keys"}, {"image", "user_data", "network", "ssh_keys"}},
		nodes:   "talos_machine_configuration_apply sends all of the module's configuration again when a variable of it changes, and upgrades run with another talos_version",
		unknown: "what newer charts, images and its autoscaler lead to",
	},
	HcloudTalos: {
		version: "3", network: "hcloud_network.this",
		servers: [2]string{"hcloud_server.workers", "hcloud_server.control_planes"},
		groups:  [2]string{"hcloud_placement_group.worker", "hcloud_placement_group.control_plane"},
		ignored: [2][]string{{"user_data", "image", "iso"}, {"user_data", "image", "iso"}},
		nodes:   "they are user_data, which it ignores",
		unknown: "rules of its firewall that hold the address that Terraform runs from, and what newer manifests of Cilium and the CCM lead to",
	},
}

// own stands for the labels of talosgen's that keep records, and come as it works.
const own = schemas.LabelPrefix + "…"

// Forecast says what `terraform plan` of the module says once apply has added labels, as
// long as Terraform has not forgotten the cluster: in its words, by resource.
func (m *Mapping) Forecast(labels []cloud.Addition) []string {
	of, known := modules[m.Module]
	if !known || len(labels) == 0 {
		return nil
	}
	objects, lines := m.taken(of, labels)
	out := []string{"a plan of Terraform after that, had it not forgotten the cluster, by the sources of version " + of.version + " of the module, and if it has nothing to do today:"}
	for _, line := range lines {
		out = append(out, "  "+line)
	}
	return append(out,
		fmt.Sprintf("  Plan: 0 to add, %d to change, 0 to destroy; after its apply, talosgen would have to adopt them again", objects),
		fmt.Sprintf("  of servers it ignores %s; talosgen apply changes neither these nor any other of their attributes, and nothing of other resources", strings.Join(of.ignored[0], ", ")),
		"  machine configurations: 0 to change, because the provider does not read them from nodes; "+of.nodes,
		"  later, a server that was deleted or replaced is one to add; servers that are new it does not know",
		"  not computed: what your variables change, and "+of.unknown,
	)
}

// taken are the labels that Terraform would take away, by resource, and how many objects
// have them.
func (m *Mapping) taken(of sources, labels []cloud.Addition) (objects int, lines []string) {
	keys := map[string][]string{}  // of labels, by resource
	count := map[string][]string{} // of objects
	var order []string
	for _, l := range labels {
		address := m.resource(of, string(l.Object))
		if keys[address] == nil {
			order = append(order, address)
		}
		if !slices.Contains(keys[address], l.Key) && !strings.HasPrefix(l.Key, schemas.LabelPrefix) {
			keys[address] = append(keys[address], l.Key)
		}
		if !slices.Contains(count[address], string(l.Object)) {
			count[address] = append(count[address], string(l.Object))
			objects++
		}
	}
	for _, address := range order {
		taken := append(keys[address], own)
		lines = append(lines, fmt.Sprintf("~ %s (%s): updated in place, without the labels %s", address, natural.Count(len(count[address]), "object"), strings.Join(taken, ", ")))
	}
	return objects, lines
}

// resource is the resource of an object: its address in the module, without the key.
func (m *Mapping) resource(of sources, object string) string {
	kind, name, _ := strings.Cut(object, "/")
	plane := 0
	switch cloud.Kind(kind) {
	case cloud.KindNetwork:
		return of.network
	case cloud.KindLoadBalancer:
		return of.balancer
	case cloud.KindServer:
		if slices.ContainsFunc(m.Pools, func(p Pool) bool { return p.ControlPlane && slices.Contains(p.Nodes, name) }) {
			plane = 1
		}
		return of.servers[plane]
	case cloud.KindPlacementGroup:
		if strings.HasSuffix(strings.TrimSuffix(name, "-pg"), "control-plane") {
			plane = 1
		}
		return of.groups[plane]
	}
	return kind
}
