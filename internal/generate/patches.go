package generate

import "fmt"

// fragments are parts of machine configurations that every contract takes, each
// with a place for a number.
var fragments = []string{
	"machine: {sysctls: {net.core.somaxconn: '%d'}}\n",
	"machine:\n  sysfs:\n    devices.system.cpu.cpu0.cpufreq.scaling_governor: performance # %d\n",
	"machine:\n  udev:\n    rules:\n      - SUBSYSTEM==\"drm\", KERNEL==\"renderD%d\", MODE=\"0660\"\n",
}

// patch is one that may be anywhere, in the words of a contract; 0: of each.
func patch(d *draws, at string, contract int, controlPlane bool) string {
	last := len(fragments)
	number := d.number(at+" number", 1, 9999)
	if contract == 14 && d.probably(at+" document", 30) {
		return fmt.Sprintf("apiVersion: v1alpha1\nkind: KubeNodeConfig\nannotations:\n  example.com/patched: 'number %d, ü'\n", number)
	}
	switch kind := d.number(at+" kind", 0, last+1); {
	case kind < last:
		return fmt.Sprintf(fragments[kind], number)
	case kind == last:
		return fmt.Sprintf("machine:\n  sysctls: !replace\n    net.core.rmem_max: '%d'\n", number)
	case controlPlane:
		return fmt.Sprintf("cluster:\n  etcd:\n    extraArgs:\n      quota-backend-bytes: '%d'\n", number)
	default:
		return "machine:\n  sysctls:\n    net.core.somaxconn: !delete\n"
	}
}

// patches makes those of the environment: for all its nodes, roles, pools and
// single nodes.
func (e *environment) patches() {
	put := func(name string, percent int, controlPlane bool) {
		if e.is("patches."+name, percent) {
			e.write("patches/"+name+".yaml", patch(e.draws, e.at+".patches."+name, e.Contract, controlPlane))
		}
	}
	put("common/10-a", 30, false)
	put("common/20-b", 20, false)
	put("controlplane/etcd", 20, true)
	if e.Workers {
		put("worker/extra", 20, false)
	}
	for i, p := range e.pools {
		if len(p.nodes) == 0 {
			continue
		}
		if p.name != "control-plane" { // pools of control planes have layers as well
			e.layer("pools/"+p.name, fmt.Sprintf("pool%d", i), 25)
		}
		e.layer("nodes/"+p.nodes[len(p.nodes)-1], fmt.Sprintf("node%d", i), 20)
	}
}

func (e *environment) layer(path, name string, percent int) {
	if e.is("patches."+name, percent) {
		e.write("patches/"+path+".yaml", patch(e.draws, e.at+".patches."+name, e.Contract, false))
	}
}

// sharedPatches makes those of all environments.
func sharedPatches(d *draws, r Repository) {
	if d.probably("patches.common", 40) {
		r.Files["patches/common/shared.yaml"] = patch(d, "patches.common", 0, false)
	}
	if d.probably("patches.controlplane", 20) {
		r.Files["patches/controlplane/shared.yaml"] = patch(d, "patches.controlplane", 0, true)
	}
	for _, e := range r.Environments {
		if !e.Workers {
			return // a patch that is for no node is an error
		}
	}
	if d.probably("patches.worker", 20) {
		r.Files["patches/worker/shared.yaml"] = patch(d, "patches.worker", 0, false)
	}
}
