package importer

import (
	"context"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/sopsage"
	"github.com/talosgen/talosgen/render"
	"github.com/talosgen/talosgen/render/internal/envdir"
	"github.com/talosgen/talosgen/render/internal/fit"
	"github.com/talosgen/talosgen/render/internal/foreign"
	"github.com/talosgen/talosgen/render/internal/secretsfile"
	"github.com/talosgen/talosgen/render/internal/source"
	"github.com/talosgen/talosgen/render/vault"
	"github.com/talosgen/talosgen/schemas"
)

// Kinds of sources.
const (
	// Talosctl is a folder of machine configurations.
	Talosctl = "talosctl"
	// Talhelper is a folder of talhelper's, with what it generated.
	Talhelper = "talhelper"
	// Topf is a folder of topf's, with what it rendered.
	Topf = "topf"
	// Layered is a folder of patches for all machines, roles and single machines, with
	// variables and a secrets bundle.
	Layered = "layered"
)

// Kinds are all of them.
func Kinds() []string { return []string{Talosctl, Talhelper, Topf, Layered} }

// Options say what is imported.
type Options struct {
	From string // one of [Kinds]
	Dir  fs.FS
	// Nodes are the configurations of nodes, as NAME=FILE; without any, each file is
	// that of a node. For [Layered] they are NAME=ROLE.
	Nodes []string
	// Running are nodes that run, in the place of From and Dir.
	Running []Running
	// Hetzner says which servers Running are; nil: they are machines that exist.
	Hetzner *Hetzner
	// Prove looks at the infrastructure that the environment leads to, before anything
	// is written; nil: nobody does.
	Prove func(schemas.Infrastructure) error
	// Check writes nothing.
	Check bool
}

// Running is a node that runs, and what it said of itself.
type Running = foreign.Running

// Hetzner are the options of a cluster that was found in Hetzner Cloud.
type Hetzner = foreign.Hetzner

// Option is an option of cluster.yaml: its path, or its key in a pool.
type Option = foreign.Option

// ServerPool is a pool with its options, and the names of its nodes.
type ServerPool = foreign.ServerPool

// Cluster is what running nodes say of their cluster.
type Cluster struct {
	foreign.Described
	// Nodes are the names that they have, by their addresses, and ControlPlanes which of
	// these are control planes.
	Nodes         map[string]string
	ControlPlanes map[string]bool
}

// Describe reads what nodes say of their cluster. They must be of one.
func Describe(nodes []Running) (*Cluster, error) {
	origin, err := foreign.OfRunning(nodes)
	if err != nil {
		return nil, err
	}
	c := &Cluster{Described: origin.Describe(), Nodes: map[string]string{}, ControlPlanes: map[string]bool{}}
	for _, m := range origin.Machines {
		c.Nodes[m.Address] = m.Name
		c.ControlPlanes[m.Name] = m.Role == schemas.RoleControlPlane
	}
	return c, nil
}

// Report says what was imported.
type Report struct {
	Env     string   `json:"environment"`
	Nodes   int      `json:"nodes"`
	Values  int      `json:"values"`  // that were compared
	Target  string   `json:"target"`  // what they were compared with
	Files   []string `json:"files"`   // of the environment, repository-relative
	Written bool     `json:"written"` // false: it was there already, or nothing was to be written
	Notes   []string `json:"notes"`   // what the user should know or do next
	Marked  string   `json:"marked"`  // the file that EDIT marks are left in; empty: none
}

// Import makes an environment of a source, and proves that it renders to the
// configurations of its machines. It never changes an environment that is there.
func Import(ctx context.Context, r *render.Repo, env string, o Options) (*Report, error) {
	src := r.Repository()
	if err := src.CheckLinks(env); err != nil {
		return nil, err
	}
	i := &importing{ctx: ctx, repo: r, src: src, env: env}
	origin, err := i.read(o)
	if err != nil {
		return nil, err
	}
	report := &Report{Env: env, Nodes: len(origin.Machines), Target: origin.Target}
	have, err := i.there()
	if err != nil {
		return nil, err
	}
	if have != nil {
		if err := i.compare(report, have, origin); err != nil {
			return report, err
		}
		return report, i.shows(have, o.Prove)
	}
	made, err := i.make(origin)
	if err != nil {
		return nil, i.inSource(err, i.tried(err), origin)
	}
	report.Notes = append(origin.Notes, made.notes...)
	if report.Values, err = i.prove(made, origin); err != nil {
		return nil, i.inSource(err, made.files, origin)
	}
	if err := i.shows(made.source, o.Prove); err != nil {
		return nil, err
	}
	i.list(report, made.files)
	if report.Marked != "" {
		report.Notes = append(report.Notes, "edit what is marked with EDIT in "+report.Marked+": no configuration says it")
	}
	if o.Check {
		return report, nil
	}
	report.Written = true
	return report, envdir.Write(i.src, i.env, made.files)
}

// importing is one import.
type importing struct {
	ctx  context.Context
	repo *render.Repo
	src  *source.Repo
	env  string
}

// read reads the source.
func (i *importing) read(o Options) (*foreign.Origin, error) {
	keys := i.src.Process.Keys
	opener := sopsage.NewKeys(keys)
	s := foreign.Source{
		Files:   o.Dir,
		Decrypt: func(file string, data []byte) ([]byte, error) { return opener.DecryptYAML(i.ctx, file, data) },
		Mask:    i.src.Process.Masker.Add,
		Env:     i.env,
	}
	for _, n := range o.Nodes {
		node, ok := foreign.ParseNode(n)
		if !ok {
			return nil, diag.On(n, "not NAME=FILE or NAME=FILE@ADDRESS").WithCode(diag.Usage)
		}
		s.Nodes = append(s.Nodes, node)
	}
	if len(o.Running) > 0 {
		origin, err := foreign.OfRunning(o.Running)
		if err == nil && o.Hetzner != nil {
			origin.Place(o.Hetzner)
		}
		return origin, err
	}
	switch o.From {
	case Talosctl:
		return foreign.Talosctl(s)
	case Talhelper:
		return foreign.Talhelper(s)
	case Topf:
		return foreign.Topf(s)
	case Layered:
		return foreign.Layered(s)
	}
	return nil, diag.On(o.From, "not a kind of source").WithHint("kinds: %s", strings.Join(Kinds(), ", ")).WithCode(diag.Usage)
}

// made is an environment in memory.
type made struct {
	files   map[string][]byte // by their paths from the root of the repository, encrypted
	secrets *secretsfile.Secrets
	source  *source.Environment
	notes   []string
}

// make makes the environment in memory.
func (i *importing) make(origin *foreign.Origin) (*made, error) {
	shared, err := i.src.InMemory(i.env, map[string][]byte{i.path(source.ClusterFile): []byte("provider: static\n")})
	if err != nil {
		return nil, err
	}
	if err := shared.FindKeys(); err != nil {
		return nil, err
	}
	delete(shared.Raw, i.path(source.ClusterFile))
	bundle, err := foreign.Bundle(origin.Machines)
	if err != nil {
		return nil, err
	}
	i.src.Process.Masker.Add(bundle.Values()...)
	e, err := fit.Make(fit.Input{
		Env: i.env, Origin: origin, Bundle: bundle, Now: i.src.Process.Now(), Shared: shared.Raw,
		Decrypt: func(file string, data []byte) ([]byte, error) { return shared.Keys.DecryptYAML(i.ctx, file, data) },
		Mask:    func(s secret.String) { i.src.Process.Masker.Add(s) },
	})
	if err != nil {
		return nil, err
	}
	text, err := bundle.YAML()
	if err != nil {
		return nil, err
	}
	m := &made{notes: e.Notes, files: map[string][]byte{}, secrets: &secretsfile.Secrets{Talos: secret.New(string(text)), Variables: e.Variables}}
	for name, data := range e.Files {
		m.files[i.path(name)] = data
	}
	return m, i.encrypt(m)
}

// encrypt makes the secret files.
func (i *importing) encrypt(m *made) error {
	staged, err := i.src.InMemory(i.env, m.files)
	if err != nil {
		return err
	}
	given := *m.secrets
	report, err := vault.Stage(i.ctx, staged, &given)
	if err != nil {
		return err
	}
	for _, file := range report.Changed {
		m.files[file] = staged.Raw[file]
	}
	m.source, err = i.src.InMemory(i.env, m.files)
	return err
}

// path is the path of a file of the environment.
func (i *importing) path(name string) string { return path.Join(source.EnvsDir, i.env, name) }

// list lists the files of the environment, and the one with marks.
func (i *importing) list(report *Report, files map[string][]byte) {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if strings.HasPrefix(name, i.path("")+"/") {
			report.Files = append(report.Files, name)
		}
	}
	if file := i.path(source.ClusterFile); fit.Marked(files[file]) {
		report.Marked = file
	}
}
