package layer

// NodeRef is what decides which patches apply to a node.
type NodeRef struct {
	Name string
	Role string // controlplane or worker
	Pool string
}

// Scope says who shares a layer.
type Scope string

// Scopes, in order.
const (
	Shared Scope = "shared" // every environment: patches/
	Env    Scope = "env"    // one environment: envs/<env>/patches/
)

// Kind says which nodes a layer applies to.
type Kind string

// Kinds, in order.
const (
	Common Kind = "common"
	Role   Kind = "role"
	Pool   Kind = "pool"
	Node   Kind = "node"
)

// Layer is the patches of one place: a file such as worker.yaml and the files
// of the directory of that name.
type Layer struct {
	Scope  Scope
	Kind   Kind
	Target string   // which role, pool or node; empty for Common
	Files  []string // in the order in which they apply; never empty
}

// Layers are the patches of one environment.
type Layers struct {
	files map[place][]string
}

// place is what identifies a layer.
type place struct {
	scope  Scope
	kind   Kind
	target string
}

// Role returns the layers that all nodes of a role have in common, in the
// order in which they apply: later wins.
func (l *Layers) Role(role string) []Layer {
	return l.pick(
		place{Shared, Common, ""},
		place{Shared, Role, role},
		place{Env, Common, ""},
		place{Env, Role, role},
	)
}

// Own returns the layers of one node that come after those of its role: its
// pool's, then its own.
func (l *Layers) Own(n NodeRef) []Layer {
	return l.pick(place{Env, Pool, n.Pool}, place{Env, Node, n.Name})
}

// For returns all layers of a node, in the order in which they apply.
func (l *Layers) For(n NodeRef) []Layer {
	return append(l.Role(n.Role), l.Own(n)...)
}

func (l *Layers) pick(places ...place) []Layer {
	var layers []Layer
	for _, p := range places {
		if files := l.files[p]; len(files) > 0 {
			layers = append(layers, Layer{p.scope, p.kind, p.target, files})
		}
	}
	return layers
}
