package foreign

import (
	"cmp"
	"slices"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/render/internal/machine"
)

// Running is a node that runs, and what it said of itself.
type Running struct {
	Hostname, Address string
	UUID, Serial, MAC string // empty: not known, or others have the same
	Talos             string // the version, with v
	Config            secret.String
}

// OfRunning takes nodes that run as machines. They must be of one cluster.
func OfRunning(nodes []Running) (*Origin, error) {
	o := &Origin{Target: "the configurations that the nodes run", Talos: nodes[0].Talos}
	var problems diag.List
	names := map[string]string{}
	for _, n := range nodes {
		m, err := runningMachine(n)
		if err != nil {
			problems.AddErr(err)
			continue
		}
		if other, twice := names[m.Name]; twice {
			problems.Add(diag.On(m.File, "is named %s, as %s is", m.Name, other).WithHint("name each node once"))
		}
		names[m.Name] = m.File
		if n.Talos != o.Talos {
			problems.Add(diag.On(m.File, "runs Talos %s, and node %s runs %s", n.Talos, nodes[0].Address, o.Talos).
				WithHint("finish the upgrade first: an environment has one version"))
		}
		o.Machines = append(o.Machines, m)
	}
	if err := problems.Err(); err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(o.Machines, func(m Machine) bool { return m.Role == string(machine.ControlPlane) }) {
		return nil, diag.On("the nodes", "none of them is a control plane").
			WithHint("name all nodes of the cluster: the secrets are in the configurations of control planes")
	}
	slices.SortStableFunc(o.Machines, func(a, b Machine) int { return cmp.Compare(a.Name, b.Name) })
	return o, sameCluster(o.Machines)
}

func runningMachine(n Running) (Machine, error) {
	m, err := newMachine(NodeFile{File: "node " + n.Address, Address: n.Address}, []byte(n.Config.Reveal()))
	if err != nil {
		return m, err
	}
	if hostname(m.Config) == "" && n.Hostname != "" {
		m.Name = nodeName(n.Hostname)
	}
	m.UUID, m.Serial = n.UUID, n.Serial
	m.MAC = cmp.Or(m.MAC, n.MAC)
	return m, nil
}

// sameCluster refuses nodes that do not belong to the cluster of the first one.
func sameCluster(machines []Machine) error {
	var problems diag.List
	for _, same := range []struct {
		what string
		path []string
	}{
		{"machine token", []string{"machine", "token"}},
		{"machine authority", []string{"machine", "ca", "crt"}},
		{"cluster id", []string{"cluster", "id"}},
		{"cluster secret", []string{"cluster", "secret"}},
		{"bootstrap token", []string{"cluster", "token"}},
		{"Kubernetes authority", []string{"cluster", "ca", "crt"}},
	} {
		value := func(m Machine) string { return Value(m.Config, machine.MainID.Kind, same.path...) }
		for _, m := range machines[1:] {
			if value(m) != value(machines[0]) {
				problems.Add(diag.On(m.File, "has another %s than %s", same.what, machines[0].File).
					WithHint("adopt the nodes of one cluster at a time").WithCode(diag.Secrets))
			}
		}
	}
	return problems.Err()
}
