package newenv

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"net/netip"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/sopsage"
	"github.com/talosgen/talosgen/render"
	"github.com/talosgen/talosgen/render/internal/config"
	"github.com/talosgen/talosgen/render/internal/envdir"
	"github.com/talosgen/talosgen/render/internal/secretsfile"
	"github.com/talosgen/talosgen/render/internal/source"
	"github.com/talosgen/talosgen/render/internal/subst"
	"github.com/talosgen/talosgen/render/vault"
	"github.com/talosgen/talosgen/schemas"
)

// Options say what the new environment is to be.
type Options struct {
	Like        string // the environment that it is like
	ClusterName string // empty: that of the other, with the name of the environment in it
	Network     string // its private network at Hetzner Cloud; empty: a free one
	// Values by the variable of cluster.env or the option of cluster.yaml that has them.
	Set map[string]string
}

// Report says what was made.
type Report struct {
	Env     string   `json:"environment"`
	Cluster string   `json:"cluster"`
	Network string   `json:"network,omitempty"`
	Files   []string `json:"files"`   // repository-relative
	Left    []string `json:"left"`    // files of the other that have no counterpart
	Missing []string `json:"missing"` // secret variables that nobody can make up
	Notes   []string `json:"notes"`   // what to look at
}

// Add makes an environment, and writes it if nothing is wrong.
func Add(ctx context.Context, r *render.Repo, env string, o Options) (*Report, error) {
	a := &adding{ctx: ctx, src: r.Repository(), env: env, Options: o, set: maps.Clone(o.Set)}
	a.report.Files, a.report.Left, a.report.Missing, a.report.Notes = []string{}, []string{}, []string{}, []string{} // programs read lists
	if err := a.free(); err != nil {
		return nil, err
	}
	if err := a.read(); err != nil {
		return nil, err
	}
	if err := a.change(); err != nil {
		return nil, err
	}
	if err := a.check(); err != nil {
		return nil, err
	}
	if err := a.secrets(); err != nil {
		return nil, err
	}
	a.report.Files = slices.Sorted(maps.Keys(a.files))
	return &a.report, envdir.Write(a.src, env, a.files)
}

// adding is one new environment.
type adding struct {
	Options
	ctx    context.Context
	src    *source.Repo
	env    string
	set    map[string]string // what of Set was not used yet
	old    *source.Environment
	have   *config.Config // what the other one is
	was    subst.Vars
	made   *config.Config // what the new one is
	files  map[string][]byte
	report Report
}

// free refuses an environment that exists, and names that are none.
func (a *adding) free() error {
	if !nameForm.MatchString(a.env) {
		return diag.On("", "%q cannot be the name of an environment", a.env).
			WithHint("at most 32 lower-case letters, digits and inner hyphens, beginning with a letter").WithCode(diag.Usage)
	}
	for _, dir := range []string{source.EnvsDir, source.RenderedDir} {
		switch entries, err := a.src.Files.ReadDir(path.Join(dir, a.env)); {
		case err == nil && len(entries) > 0:
			return diag.New(diag.Pos{File: path.Join(dir, a.env)}, "exists already: a new environment begins with nothing").WithCode(diag.Usage)
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return diag.New(diag.Pos{File: path.Join(dir, a.env)}, "cannot be read: %v", source.Reason(err)).WithCause(err)
		}
	}
	return nil
}

// read reads the other environment.
func (a *adding) read() (err error) {
	if a.old, err = a.src.ReadEnvironment(a.Like); err != nil {
		return err
	}
	if a.was, err = a.old.Variables(&source.Secrets{Variables: a.old.SecretVariables()}); err != nil {
		return err
	}
	file := a.old.File(source.ClusterFile)
	a.have, err = config.Load(file, a.old.Raw, &subst.Scope{Vars: a.was})
	return err
}

// change makes the files of the new environment of those of the other.
func (a *adding) change() error {
	a.report.Env, a.report.Cluster = a.env, a.ClusterName
	if a.ClusterName == "" {
		a.report.Cluster = renamed(a.have.ClusterName, a.Like, a.env)
	}
	move, err := a.move()
	if err != nil {
		return err
	}
	names := a.nodeNames()
	a.files = map[string][]byte{}
	dir := path.Join(source.EnvsDir, a.Like) + "/"
	for file, data := range a.old.Raw {
		name, own := strings.CutPrefix(file, dir)
		switch {
		case !own || ofOneCluster[name]:
		case sopsage.NamedEncrypted(file) || source.IsEncrypted(file, data):
			a.report.Left = append(a.report.Left, file)
		default:
			text := a.paths(move.text(string(data)))
			if name == clusterEnv || name == source.ClusterFile {
				text = names.comments(text)
			} else {
				text = names.text(text)
			}
			a.files[a.path(names.file(name))] = []byte(text)
		}
	}
	slices.Sort(a.report.Left)
	return a.settle(move)
}

// paths has the directories of the new environment where those of the other one are named,
// and the new environment in commands of talosgen, as comments have them.
func (a *adding) paths(text string) string {
	like := regexp.QuoteMeta(a.Like)
	own := regexp.MustCompile(`(?m)(^|[^-A-Za-z0-9_./])((?:\.{1,2}/)*(?:envs|rendered)/)` + like + `(/|[^-A-Za-z0-9_./]|$)`)
	text = own.ReplaceAllString(text, "${1}${2}"+a.env+"${3}")
	command := regexp.MustCompile(`(?m)(\btalosgen(?: [a-z][a-z-]*){1,2} )` + like + `([^-A-Za-z0-9_./]|$)`)
	return command.ReplaceAllString(text, "${1}"+a.env+"${2}")
}

// ofOneCluster are the files that say or open what one cluster is.
var ofOneCluster = map[string]bool{source.SecretsName: true, source.KeyringFile: true, factsFile: true}

const (
	clusterEnv = "cluster.env"
	factsFile  = "facts.yaml"
)

// all are the files of the new environment, and those that it shares with others.
func (a *adding) all() config.Files {
	files := maps.Clone(a.old.Raw)
	maps.Copy(files, a.files)
	return files
}

func (a *adding) path(name string) string { return path.Join(source.EnvsDir, a.env, name) }

// check reads what was made as a render would, and compares its places with those of the
// other environment.
func (a *adding) check() (err error) {
	if unused := slices.Sorted(maps.Keys(a.set)); len(unused) > 0 {
		return diag.On("--set", "%s is neither a variable of %s nor a value in its cluster.yaml", unused[0], path.Join(source.EnvsDir, a.Like, clusterEnv)).WithCode(diag.Usage)
	}
	vars, err := a.vars()
	if err != nil {
		return err
	}
	file := a.path(source.ClusterFile)
	if a.made, err = config.Load(file, a.all(), &subst.Scope{Vars: vars}); err != nil {
		return err
	}
	return a.checkPlaces(vars)
}

// vars are the variables of cluster.yaml in the new environment.
func (a *adding) vars() (subst.Vars, error) {
	vars := a.old.SecretVariables()
	data, has := a.files[a.path(clusterEnv)]
	if !has {
		return vars, nil
	}
	own, err := subst.ParseEnv(a.path(clusterEnv), data)
	maps.Copy(own, vars)
	return own, err
}

// secrets makes secrets and keys of its own. Of the other's secret variables only the
// names are known here.
func (a *adding) secrets() error {
	staged, err := a.src.InMemory(a.env, a.files)
	if err != nil {
		return err
	}
	report, err := vault.Stage(a.ctx, staged, &secretsfile.Secrets{})
	if err != nil {
		return err
	}
	for _, file := range report.Changed {
		a.files[file] = staged.Raw[file]
	}
	has := staged.SecretVariables()
	for name := range a.old.SecretVariables() {
		if _, made := has[name]; !made {
			a.report.Missing = append(a.report.Missing, name)
		}
	}
	a.report.Missing = append(a.report.Missing, report.Missing...)
	slices.Sort(a.report.Missing)
	a.report.Missing = slices.Compact(a.report.Missing)
	return nil
}

// move is where the addresses of the private network go.
func (a *adding) move() (moving, error) {
	if a.have.Provider != schemas.Hetzner || a.have.Has("network.existing") {
		if a.Network != "" {
			return moving{}, diag.On("--network", "it is for a private network at Hetzner Cloud that is made with the cluster").WithCode(diag.Usage)
		}
		return moving{}, nil
	}
	from, err := netip.ParsePrefix(a.have.Network.CIDR)
	if err != nil {
		return moving{}, err
	}
	to, err := a.network(from)
	if err != nil {
		return moving{}, err
	}
	a.report.Network = to.String()
	return moving{from, to}, nil
}
