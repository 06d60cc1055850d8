package fit

import (
	"strings"

	"github.com/talosgen/talosgen/render/internal/foreign"
	"github.com/talosgen/talosgen/schemas"
)

// cloudBuilder makes an environment of a cluster that was found in Hetzner Cloud.
type cloudBuilder struct{ *builder }

// hetzner are the options of such a cluster.
func (m cloudBuilder) hetzner() (s settings) {
	for _, o := range m.Origin.Hetzner.Options {
		s = append(s, setting{path: o.Path, value: o.Value})
	}
	return append(s, m.serverPools()...)
}

// firstPool is the pool of control planes that is in no list.
const firstPool = "control-plane"

// serverPools are the options of pools of servers.
func (m cloudBuilder) serverPools() (s settings) {
	var planes, workers []any
	count := 0
	for _, p := range m.Origin.Hetzner.Pools {
		var f fields
		for _, o := range p.Options {
			f = nested(f, o)
		}
		machines := m.machinesOf(p)
		disk, _ := shared(machines, diskOf)
		f = append(f, disk...)
		if _, same := ofAll(m.Origin.Machines); !same {
			image, _ := shared(machines, contents)
			f = append(f, image...)
		}
		if labels := inCommon(m.Origin, machines); len(labels) > 0 {
			f = append(f, field("labels", labels))
		}
		named := mappingOf(append(fields{field("name", p.Name)}, f...))
		switch {
		case !p.ControlPlane:
			workers = append(workers, named)
			continue
		case p.Name == firstPool:
			for _, x := range f {
				s = append(s, setting{path: "nodes.controlPlane." + x.name, value: x.value})
			}
		default:
			planes = append(planes, named)
		}
		count += len(machines)
	}
	if len(planes) > 0 {
		s = append(s, setting{path: "nodes.controlPlane.nodepools", value: planes})
	}
	if count%2 == 0 {
		s = append(s, setting{path: "nodes.controlPlane.acknowledgeEvenCount", value: true})
	}
	if len(workers) > 0 {
		s = append(s, setting{path: "nodes.workers.nodepools", value: workers})
	}
	return s
}

// nested adds an option to the keys of a pool; one dot in its path is a mapping.
func nested(f fields, o foreign.Option) fields {
	top, key, deep := strings.Cut(o.Path, ".")
	if !deep {
		return append(f, field(top, o.Value))
	}
	for i := range f {
		if have, is := f[i].value.(map[string]any); is && f[i].name == top {
			have[key] = o.Value
			return f
		}
	}
	return append(f, field(top, map[string]any{key: o.Value}))
}

// machinesOf are the machines of a pool.
func (m cloudBuilder) machinesOf(p foreign.ServerPool) (all []foreign.Machine) {
	for _, name := range p.Nodes {
		for _, o := range m.Origin.Machines {
			if o.Name == name {
				all = append(all, o)
			}
		}
	}
	return all
}

// cloudCandidates are options that servers of Hetzner Cloud have by default.
func (m cloudBuilder) cloudCandidates() (all []settings) {
	add := func(path string, value any) { all = append(all, settings{{path: path, value: value}}) }
	add("talos.diskEncryption.state", false)
	add("talos.diskEncryption.ephemeral", false)
	add("talos.apiAccess.enabled", false)
	add("kubernetes.externalCloudProvider", false)
	add("network.ipv6", false)
	if v := m.list([]string{"machine", "network", "nameservers"}, "", ""); len(v) > 0 {
		add("talos.nameservers", v)
	}
	if v := m.list([]string{"machine", "time", "servers"}, "TimeSyncConfig", "ntp", "servers"); len(v) > 0 {
		add("talos.timeServers", v)
	}
	return all
}

// provider is where machines come from.
func provider(o *foreign.Origin) string {
	if o.Hetzner != nil {
		return schemas.Hetzner
	}
	return schemas.Static
}
