package pools

import (
	"strconv"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render/internal/config"
	"github.com/talosgen/talosgen/render/internal/yamledit"
)

// New describes a pool to add, of workers unless it says otherwise. What is empty is
// left out.
type New struct {
	Name        string
	Type        string
	Location    string
	Count       int
	Labels      map[string]string
	Annotations map[string]string
	Taints      []string
	Subnet      string // of its own
	Spread      bool   // over hosts, in placement groups

	ControlPlane bool // its nodes are control planes

	Autoscaled bool // by the autoscaler, between Min and Max
	Min, Max   int
}

// Add adds a pool behind the others of its kind, at a free offset.
func Add(s Source, p New) (*Result, error) {
	e, err := open(s)
	if err != nil {
		return nil, err
	}
	if err := e.needsServers(); err != nil {
		return nil, err
	}
	for _, other := range e.now.Pools() {
		if other.Name == p.Name {
			return nil, diag.New(e.now.Pos(other.Path...), "there is a pool %q already", p.Name).
				WithHint("`talosgen pool scale %s %s` changes how many nodes it has", e.env(), p.Name).WithCode(diag.Usage)
		}
	}
	list, value := workerPools, (*yaml.Node)(nil)
	if p.ControlPlane {
		list = controlPlanePools
	}
	if p.Autoscaled {
		list, value = autoscalerPools, p.autoscaled()
	} else if value, err = e.servers(p); err != nil {
		return nil, err
	}
	if err := e.appendTo(list, value); err != nil {
		return nil, err
	}
	return e.finish()
}

// Where pools are listed.
var (
	controlPlanePools = []string{"nodes", "controlPlane", "nodepools"}
	workerPools       = []string{"nodes", "workers", "nodepools"}
	autoscalerPools   = []string{"autoscaler", "nodepools"}
)

// servers is the description of a pool with nodes of its own.
func (e *editor) servers(p New) (*yaml.Node, error) {
	at := config.Pool{Name: p.Name, Role: config.Worker}
	if at.Subnet, at.Room = e.now.WorkerSubnet(p.Subnet); p.ControlPlane {
		at.Role = config.ControlPlane
		at.Subnet, at.Room = config.ControlPlaneSubnet(e.now)
	}
	indexes := make([]int, p.Count)
	for i := range indexes {
		indexes[i] = i + 1
	}
	offset, ok := e.others(at).FreeOffset(indexes, at.Room)
	if !ok && at.Subnet.IsValid() {
		return nil, diag.New(diag.Pos{File: e.File}, "the subnet %s has no %d free addresses in a row (of %d)", at.Subnet, p.Count, at.Room).
			WithHint("give the pool a subnet of its own with --subnet, or begin with fewer nodes and scale it: they need not be in a row then")
	}
	m := yamledit.With(yamledit.Map(), "name", yamledit.Text(p.Name))
	yamledit.With(m, "count", yamledit.Number(p.Count))
	yamledit.With(m, "offset", yamledit.Number(offset))
	p.common(m)
	if !p.Spread && !p.ControlPlane {
		yamledit.With(m, "placementGroup", yamledit.Bool(false))
	}
	return p.kubernetes(m), nil
}

// autoscaled is the description of a pool whose servers come and go.
func (p New) autoscaled() *yaml.Node {
	m := yamledit.With(yamledit.Map(), "name", yamledit.Text(p.Name))
	yamledit.With(m, "min", yamledit.Number(p.Min))
	yamledit.With(m, "max", yamledit.Number(p.Max))
	p.common(m)
	return p.kubernetes(m)
}

func (p New) common(m *yaml.Node) {
	yamledit.With(m, "type", yamledit.Text(p.Type))
	if p.Location != "" {
		yamledit.With(m, "location", yamledit.Text(p.Location))
	}
	if p.Subnet != "" {
		yamledit.With(m, "subnet", yamledit.Text(p.Subnet))
	}
}

func (p New) kubernetes(m *yaml.Node) *yaml.Node {
	if len(p.Labels) > 0 {
		yamledit.With(m, "labels", yamledit.TextMap(p.Labels))
	}
	if len(p.Annotations) > 0 {
		yamledit.With(m, "annotations", yamledit.TextMap(p.Annotations))
	}
	if len(p.Taints) > 0 {
		yamledit.With(m, "taints", yamledit.Texts(p.Taints))
	}
	return m
}

// appendTo adds an item to a list, which may not be there yet, nor what it is
// in.
func (e *editor) appendTo(list []string, value *yaml.Node) error {
	if e.under != nil {
		return layered{e}.add(list, value)
	}
	if n := e.file.Len(list); n >= 0 {
		return e.edit(e.file.Insert(list, n, value))
	}
	value = yamledit.List(value)
	for i := len(list) - 1; i >= 0; i-- {
		if i == 0 || e.file.Len(list[:i]) >= 0 {
			return e.edit(e.file.Set(list[:i], list[i], value))
		}
		outer := yamledit.Map()
		if list[i-1] == "autoscaler" {
			yamledit.With(outer, "enabled", yamledit.Bool(true))
		}
		value = yamledit.With(outer, list[i], value)
	}
	return nil
}

func itoa(n int) string { return strconv.Itoa(n) }
