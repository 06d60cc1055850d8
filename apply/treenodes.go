package apply

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/apply/internal/nodes"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/apply/plan/nodes/nodeconfig"
	"github.com/talosgen/talosgen/internal/diag"
)

// treeNodes are the nodes of the tree with their configurations, decrypted once.
type treeNodes struct {
	env       *Environment
	inventory *inventory
	desired   *nodeplan.Desired
	groups    map[string]*nodeconfig.Config // of the autoscaler
}

// read decrypts the configurations.
func (t *treeNodes) read(ctx context.Context) (nodeplan.Desired, error) {
	machines := t.inventory.machines(cloudplan.Observed{}, nil)
	if t.desired != nil && slices.EqualFunc(t.desired.Nodes, machines, func(w nodeplan.Want, m nodes.Machine) bool { return w.Name == m.Name }) {
		return *t.desired, nil
	}
	d := nodeplan.Desired{Cluster: t.env.Infrastructure.Cluster}
	var problems diag.List
	for _, m := range machines {
		config, err := t.env.config(ctx, nodeFile(m.Name))
		problems.AddErr(err)
		d.Nodes = append(d.Nodes, nodeplan.Want{Name: m.Name, Role: m.Role, Config: config})
	}
	if err := problems.Err(); err != nil {
		return nodeplan.Desired{}, err
	}
	t.desired = &d
	return d, nil
}

// group decrypts the configuration of the nodes that the autoscaler makes for a group,
// once.
func (t *treeNodes) group(ctx context.Context, group string) (*nodeconfig.Config, error) {
	if config := t.groups[group]; config != nil {
		return config, nil
	}
	config, err := t.env.config(ctx, autoscalerDir+group+".yaml")
	if err != nil {
		return nil, err
	}
	if t.groups == nil {
		t.groups = map[string]*nodeconfig.Config{}
	}
	t.groups[group] = config
	return config, nil
}

// readWith decrypts the configurations of the tree's nodes, and those of nodes that the
// autoscaler made.
func (t *treeNodes) readWith(ctx context.Context, machines []nodes.Machine) (nodeplan.Desired, error) {
	d, err := t.read(ctx)
	if err != nil {
		return d, err
	}
	d.Nodes = slices.Clone(d.Nodes)
	for _, m := range machines {
		if m.Group == "" {
			continue
		}
		config, err := t.group(ctx, m.Group)
		if err != nil {
			return d, err
		}
		d.Nodes = append(d.Nodes, nodeplan.Want{Name: m.Name, Role: m.Role, Config: config, Autoscaled: true})
	}
	return d, nil
}

// config decrypts and reads a machine configuration of the tree.
func (e *Environment) config(ctx context.Context, file string) (*nodeconfig.Config, error) {
	text, err := e.Decrypt(ctx, file)
	if err != nil {
		return nil, err
	}
	return nodeconfig.Parse(e.path(file), []byte(text.Reveal()))
}

func nodeFile(name string) string { return "nodes/" + name + ".yaml" }

// nodeFiles stands for the files of nodes, those of the autoscaler too, as they are in
// Git: encrypted.
func (e *Environment) nodeFiles() string {
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(e.files)) {
		if strings.HasPrefix(name, "nodes/") || strings.HasPrefix(name, autoscalerDir) {
			_, _ = fmt.Fprintf(sum, "%s %x\n", name, sha256.Sum256(e.files[name]))
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// NodeNames are those of the tree's nodes.
func (e *Environment) NodeNames() (names []string) {
	for _, x := range e.Infrastructure.Servers {
		if rolesOfNodes[x.Role] != "" {
			names = append(names, x.Name)
		}
	}
	for _, x := range e.Infrastructure.Machines {
		names = append(names, x.Name)
	}
	return names
}
