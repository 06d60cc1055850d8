package foreign

import (
	"cmp"
	"encoding/base64"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/sorting"
	"github.com/talosgen/talosgen/render/internal/legacy"
	"github.com/talosgen/talosgen/render/internal/machine"
	"github.com/talosgen/talosgen/render/internal/residue"
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
	sorting.By(o.Machines, func(a, b Machine) int { return cmp.Compare(a.Name, b.Name) })
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

// sameCluster refuses nodes that do not belong to the cluster of the first one: that
// share none of the values which nodes of one cluster share. Which document has a value
// is a matter of the version that it was written for. What a node does not have tells
// nothing.
func sameCluster(machines []Machine) error {
	var problems diag.List
	for _, same := range []struct {
		what  string
		paths []string // of authorities: also those that are accepted, while one is replaced
	}{
		{"machine token", []string{"machine.token"}},
		{"machine authority", []string{"machine.ca", "machine.acceptedCAs"}},
		{"cluster id", []string{"cluster.id"}},
		{"cluster secret", []string{"cluster.secret"}},
		{"bootstrap token", []string{"cluster.token"}},
		{"Kubernetes authority", []string{"cluster.ca", "cluster.acceptedCAs"}},
	} {
		var first Machine
		var known []string
		for _, m := range machines {
			own := shared(m.Config, same.paths)
			if known == nil {
				first, known = m, own
			}
			if own != nil && !slices.ContainsFunc(own, func(v string) bool { return slices.Contains(known, v) }) {
				problems.Add(diag.On(m.File, "has another %s than %s", same.what, first.File).
					WithHint("adopt the nodes of one cluster at a time").WithCode(diag.Secrets))
			}
		}
	}
	return problems.Err()
}

// shared are the values of a configuration at some paths, or where they moved to.
func shared(c *machine.Config, paths []string) (values []string) {
	for _, path := range paths {
		values = append(values, valuesOf(Node(c, machine.MainID.Kind, strings.Split(path, ".")...))...)
		for _, target := range legacy.MovedTo(path) {
			kind, field, _ := strings.Cut(target, ".")
			values = append(values, valuesOf(Node(c, kind, field))...)
		}
	}
	return values
}

// valuesOf are texts and certificates, each in one form: in some documents certificates
// are in base64.
func valuesOf(n *yaml.Node) (values []string) {
	switch {
	case n == nil:
	case n.Kind == yaml.SequenceNode:
		for _, item := range n.Content {
			values = append(values, valuesOf(item)...)
		}
	case n.Kind == yaml.MappingNode:
		return append(valuesOf(residue.Child(n, "crt")), valuesOf(residue.Child(n, "cert"))...)
	case n.Value != "":
		text := n.Value
		if pem, err := base64.StdEncoding.DecodeString(text); err == nil && strings.HasPrefix(string(pem), "-----BEGIN") {
			text = string(pem)
		}
		return []string{strings.Join(strings.Fields(text), " ")}
	}
	return values
}
