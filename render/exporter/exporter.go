package exporter

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/sopsage"
	"github.com/talosgen/talosgen/render"
	"github.com/talosgen/talosgen/render/internal/source"
)

// What an environment is exported to.
const (
	// Plain are machine configurations, one for each node.
	Plain = "plain"
	// Talhelper is a repository for talhelper.
	Talhelper = "talhelper"
	// Topf is a repository for topf.
	Topf = "topf"
)

// Kinds are all of them.
func Kinds() []string { return []string{Plain, Talhelper, Topf} }

// Options say how an environment is exported.
type Options struct {
	To string // one of [Kinds]
	// Reveal leaves secrets in the clear. Without it, they are encrypted for those who
	// can read the environment.
	Reveal bool
	// Talosconfig gives access to the Talos API, for [Plain].
	Talosconfig secret.String
}

// Export is an exported environment, in memory.
type Export struct {
	Env, To string
	Nodes   int
	Files   map[string][]byte // by their paths, with forward slashes
	Notes   []string          // what the user should know
}

// Names are the paths of the files, sorted.
func (e *Export) Names() []string { return slices.Sorted(maps.Keys(e.Files)) }

// Make exports an environment as it is rendered.
func Make(ctx context.Context, r *render.Repo, env string, o Options) (*Export, error) {
	if !slices.Contains(Kinds(), o.To) {
		return nil, diag.On("--to", "%q is nothing that an environment can be exported to", o.To).
			WithHint("%s", strings.Join(Kinds(), ", ")).WithCode(diag.Usage)
	}
	x := &exporting{ctx: ctx, repo: r, src: r.Repository(), env: env, Options: o, out: &Export{Env: env, To: o.To, Files: map[string][]byte{}}}
	if err := x.current(); err != nil {
		return nil, err
	}
	if err := x.read(); err != nil {
		return nil, err
	}
	if o.To == Plain {
		return x.out, x.plain()
	}
	return x.out, x.repository()
}

// exporting is one export.
type exporting struct {
	Options
	ctx  context.Context
	repo *render.Repo
	src  *source.Repo
	env  string
	out  *Export

	sources *source.Environment
	secrets *source.Secrets
	rule    *sopsage.Rule // for whom secrets are encrypted
	nodes   []string
}

// current refuses a tree that its sources have left behind.
func (x *exporting) current() error {
	differences, err := x.repo.Check(x.env)
	if err != nil || len(differences) == 0 {
		return err
	}
	return diag.New(diag.Pos{File: path.Join(source.RenderedDir, x.env)}, "is not up to date: %s", differences[0].Path).
		WithHint("what is exported is what was rendered: run `talosgen render %s`", x.env)
}

// read reads the environment and its secrets.
func (x *exporting) read() (err error) {
	if x.sources, err = x.src.ReadEnvironment(x.env); err != nil {
		return err
	}
	if x.secrets, err = x.sources.OpenSecrets(x.ctx); err != nil {
		return err
	}
	rule, err := x.src.Rule(x.sources.File(source.SecretsName))
	if err != nil {
		return err
	}
	x.rule = rule.Whole()
	x.nodes, err = x.repo.RenderedNodes(x.env)
	x.out.Nodes = len(x.nodes)
	return err
}

// plain adds the machine configurations, the secrets of the cluster, and access to it.
func (x *exporting) plain() error {
	for _, node := range x.nodes {
		if err := x.configuration(node, node+".yaml"); err != nil {
			return err
		}
	}
	groups, err := x.src.Files.ReadDir(path.Join(source.RenderedDir, x.env, "autoscaler"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, group := range groups {
		if err := x.configuration(strings.TrimSuffix(group.Name(), ".yaml"), "autoscaler/"+group.Name()); err != nil {
			return err
		}
	}
	text, err := x.secrets.Bundle.YAML()
	if err != nil {
		return err
	}
	if err := x.secret("secrets", ".yaml", text); err != nil {
		return err
	}
	if x.Talosconfig.IsZero() {
		return nil
	}
	return x.secret("talosconfig", "", []byte(x.Talosconfig.Reveal()))
}

// configuration adds what was rendered for a node, or for a group of servers that the
// autoscaler makes.
func (x *exporting) configuration(node, name string) error {
	if x.Reveal {
		text, err := x.repo.Show(x.ctx, x.env, node, true)
		x.out.Files[name] = text
		return err
	}
	dir := "nodes"
	if strings.Contains(name, "/") {
		dir = ""
	}
	text, err := x.src.Files.ReadInside(path.Join(source.RenderedDir, x.env, dir, name))
	x.out.Files[name] = text
	return err
}

// secret adds a file of which everything is secret. ending is that of its name in the
// clear.
func (x *exporting) secret(name, ending string, text []byte) error {
	if x.Reveal {
		x.out.Files[name+ending] = text
		return nil
	}
	return x.encrypted(name+".sops.yaml", text)
}

// encrypted adds a file, encrypted as a whole.
func (x *exporting) encrypted(name string, text []byte) error {
	process := x.src.Process
	data, err := sopsage.Encrypt(name, text, x.rule, process.Random, process.Now())
	if err != nil {
		return err
	}
	if err := sopsage.CheckWhole(name, data); err != nil {
		return err
	}
	x.out.Files[name] = data
	return nil
}
