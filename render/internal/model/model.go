// Package model is an environment, understood: from its sources in the clear to what
// its cluster is to be. Everything that a render makes is made of it. It is pure:
// it reads no file, and decrypts nothing.
package model

import (
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/versions"
	"github.com/talosgen/talosgen/render/internal/catalogue"
	"github.com/talosgen/talosgen/render/internal/config"
	"github.com/talosgen/talosgen/render/internal/infra"
	"github.com/talosgen/talosgen/render/internal/layer"
	"github.com/talosgen/talosgen/render/internal/machine"
	"github.com/talosgen/talosgen/render/internal/secretsfile"
	"github.com/talosgen/talosgen/render/internal/subst"
	"github.com/talosgen/talosgen/schemas"
)

// FactsFile holds what apply learned about an environment; see [schemas.Facts].
const FactsFile = "facts.yaml"

// Model is what an environment is to be.
type Model struct {
	Env    string
	Config *config.Config
	Scope  *subst.Scope // its variables
	Nodes  []Node
	// Autoscaled stand for the servers that the autoscaler makes, one for each pool.
	Autoscaled []Node
	// Surge are nodes that pools have for a time, while others are recreated.
	Surge  []Node
	Layers *layer.Layers // which patches apply to which node

	Facts   *config.Facts // nil if nothing is known
	Infra   *schemas.Infrastructure
	HostKey string // public, of the NAT gateway
}

// Sources are what a model is made from.
type Sources struct {
	Env     string
	Paths   []string          // of all files that can influence a render
	Files   map[string][]byte // as they are committed, by their paths
	Vars    subst.Vars
	Secrets *secretsfile.Secrets // nil without keys
}

// New understands the sources of an environment. A model that comes with an error
// is good for the warnings of its configuration only, which is nil if there is
// none.
func New(s Sources) (*Model, error) {
	m := &Model{Env: s.Env, Scope: &subst.Scope{Vars: s.Vars}}
	var err error
	file := m.Path(layer.ClusterFile)
	m.Config, err = config.Load(file, s.Files, m.Scope)
	if err != nil || s.Vars.Broken() {
		return m, err
	}
	config.Amend(m.Config, catalogue.ApplyNeeds)
	var problems diag.List
	problems.Add(m.checkVersions())
	made := schematics{}
	problems.AddErr(m.resolve(s, made))
	m.Nodes, m.Autoscaled = nodes(m.Config.Resolve(), made), nodes(m.Config.AutoscaledNodes(), made)
	m.Surge = nodes(config.SurgeNodes(m.Config), made)
	var refs []layer.NodeRef
	for _, n := range m.All() {
		refs = append(refs, n.Ref())
	}
	m.Layers, err = layer.Arrange(s.Paths, s.Env, refs)
	problems.AddErr(err)
	return m, problems.Err()
}

func nodes(all []config.Node, made schematics) []Node {
	out := make([]Node, len(all))
	for i, n := range all {
		out[i] = Node{n, made.of(n.Image(), n.Overlay)}
	}
	return out
}

// Path returns the path of a file of the environment.
func (m *Model) Path(name string) string { return layer.InEnv(m.Env, name) }

// resolve works out names, addresses and the endpoint of the cluster.
func (m *Model) resolve(s Sources, made schematics) error {
	var problems diag.List
	var err error
	if data, ok := s.Files[m.Path(FactsFile)]; ok {
		m.Facts, err = config.LoadFacts(m.Path(FactsFile), data)
		problems.AddErr(err)
	}
	m.HostKey, err = m.publicHostKey(s.Secrets)
	problems.AddErr(err)
	m.Infra, err = infra.Resolve(infra.Input{Config: m.Config, Facts: m.Facts, Schematic: made.text, HostKey: m.HostKey})
	problems.AddErr(err)
	return problems.Err()
}

// checkVersions compares versions that belong together. Which Kubernetes a Talos
// runs that is newer than all known ones, nobody can tell but where it begins.
func (m *Model) checkVersions() *diag.Problem {
	kubernetes, contract := m.Config.Kubernetes.Version, m.Config.Talos.ConfigContract
	if versions.Newer(m.Config.Talos.Version) && versions.Minor(kubernetes) > versions.Newest().Newest {
		return nil
	}
	if err := machine.CheckKubernetes(kubernetes, contract); err != nil {
		return diag.New(m.Config.Pos("kubernetes", "version"), "Talos %s does not run this Kubernetes: %v", contract, err)
	}
	return nil
}

// All returns the nodes, those that are there for a time, and what stands for those that
// the autoscaler makes.
func (m *Model) All() []Node { return slices.Concat(m.Nodes, m.Surge, m.Autoscaled) }

// Selected returns the nodes of some names; without any, the nodes of
// cluster.yaml. What stands for the servers that the autoscaler makes can be named,
// too.
func (m *Model) Selected(names []string) ([]Node, error) {
	if len(names) == 0 {
		return m.Nodes, nil
	}
	var problems diag.List
	var found []Node
	all := m.All()
	for _, name := range names {
		i := slices.IndexFunc(all, func(n Node) bool { return n.Name == name })
		if i < 0 {
			problems.Add(m.noSuchNode(name))
			continue
		}
		found = append(found, all[i])
	}
	return found, problems.Err()
}

func (m *Model) noSuchNode(name string) *diag.Problem {
	all := make([]string, len(m.Nodes))
	for i, n := range m.Nodes {
		all[i] = n.Name
	}
	hint := diag.Suggest(name, all)
	if hint == "" {
		hint = "nodes: " + strings.Join(all[:min(len(all), 20)], ", ")
	}
	return diag.On("environment "+m.Env, "has no node %q", name).WithHint("%s", hint).WithCode(diag.Usage)
}
