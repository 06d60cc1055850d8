package talossim

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/talosgen/talosgen/internal/versions"
)

// etcdVersion is that of the etcd that comes with the Talos that runs.
func (m *Machine) etcdVersion() string {
	all := versions.History()
	i := slices.IndexFunc(all, func(r versions.Release) bool { return r.Minor == m.minor() })
	if i < 0 {
		i = len(all) - 1
	}
	patch := m.spec.Talos[strings.LastIndexByte(m.spec.Talos, '.')+1:]
	number, err := strconv.ParseUint(patch, 10, 64)
	if err != nil {
		number = 0 // a version before the first
	}
	return all[i].EtcdOf(number)
}

// version is that of the cluster's storage: the minor of its oldest member. When all
// have a newer one, and each says so, it rises, and does not come back.
func (c *etcdCluster) version() string {
	lowest, all := -1, true
	for _, o := range c.members {
		all = all && o.healthy(c)
		if minor := versions.Minor(o.machine.etcdVersion()); lowest < 0 || minor < lowest {
			lowest = minor
		}
	}
	if all || c.minor == 0 {
		c.minor = max(c.minor, lowest)
	}
	return fmt.Sprintf("3.%d.0", c.minor)
}

// tooOld reports whether the etcd of the machine is older than its cluster's storage,
// and does not start for that.
func (m *Machine) tooOld() bool {
	if m.etcd.cluster.version(); versions.Minor(m.etcdVersion()) >= m.etcd.cluster.minor {
		return false
	}
	m.fleet.violate("%s: its etcd %s is older than the storage of its cluster, 3.%d", m.spec.Name, m.etcdVersion(), m.etcd.cluster.minor)
	m.run.failed = "the cluster cannot be downgraded"
	return true
}
