package config

import (
	"strconv"

	"github.com/talosgen/talosgen/schemas"
)

// checkAutoscaler checks the pools that grow and shrink. Their names are in one
// set with those of other pools.
func (ch *checker) checkAutoscaler(pools []pool) {
	a := ch.Autoscaler
	if a.Enabled && len(a.NodePools) == 0 {
		ch.warn("for example nodepools: [{name: burst, max: 5, type: cpx22}]", keys("autoscaler.enabled"), "an autoscaler without pools")
	}
	first := map[string][]string{}
	for _, p := range pools {
		first[p.name] = sub(p.path, "name")
	}
	for i, p := range a.NodePools {
		at := []string{"autoscaler", "nodepools", strconv.Itoa(i)}
		ch.checkPoolName(p.Name, at, first)
		taints := ch.taints(p.Taints, at)
		if a.Enabled {
			ch.autoscaled = append(ch.autoscaled, Node{
				Name: ch.ClusterName + "-" + p.Name, Role: Worker, Pool: p.Name, Type: p.Type, Location: p.Location,
				Labels: p.Labels, Annotations: p.Annotations, Taints: taints, InstallDisk: defaultInstallDisk,
				Autoscaled: true, config: ch.Config, paths: [][]string{at},
			})
		}
		if p.Min > p.Max && ch.has(sub(at, "max")...) {
			ch.fail("", sub(at, "min"), "min %d is greater than max %d", p.Min, p.Max)
		}
		ch.checkType(p.Type, []string{p.Location}, sub(at, "type"))
	}
}

// checkPoolName checks the name of a pool, and notes it.
func (ch *checker) checkPoolName(name string, pool []string, first map[string][]string) {
	at := sub(pool, "name")
	switch length := len(ch.ClusterName) + len("-") + len(name); {
	case name == "":
		return // reported already
	case name == ControlPlanePool:
		ch.fail("", at, "%q is the name of the pool of control plane nodes", name)
	case first[name] != nil:
		ch.fail("the first one is on line "+strconv.Itoa(ch.Pos(first[name]...).Line), at, "a second pool named %q", name)
	case length > maxPoolName && ch.Provider == schemas.Hetzner:
		ch.fail("shorten one of them", at, "%s-%s has %d characters; servers are named after it, so it may have at most %d",
			ch.ClusterName, name, length, maxPoolName)
	}
	if first[name] == nil {
		first[name] = at
	}
}
