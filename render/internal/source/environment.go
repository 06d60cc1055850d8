package source

import (
	"errors"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/rendered"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/sopsage"
	"github.com/talosgen/talosgen/render/internal/base"
	"github.com/talosgen/talosgen/render/internal/layer"
	"github.com/talosgen/talosgen/render/internal/subst"
)

// largestInput is how many bytes a source may have. Talos takes configurations
// of a few megabytes at most, so more is a mistake.
const largestInput = 4 << 20

// Environment is an environment with its sources read.
type Environment struct {
	Repo   *Repo
	Name   string
	Inputs []rendered.Entry
	Paths  []string
	Broken diag.List         // links of addons that lead nowhere
	Raw    map[string][]byte // by repository-relative path
	Keys   *sopsage.Keys
	// What says in the clear what the cluster is.
	Readable *secret.Readable
}

// ReadEnvironment reads every source of an environment, once.
func (r *Repo) ReadEnvironment(name string) (*Environment, error) {
	if err := r.CheckLinks(name); err != nil {
		return nil, err
	}
	paths, broken, err := r.inputsAndLinks(name)
	if err != nil {
		return nil, err
	}
	return r.readPaths(name, paths, broken)
}

// InMemory is [Repo.ReadEnvironment] for an environment that is not in the repository:
// its own files, by their paths from the root of the repository, beside what all share.
func (r *Repo) InMemory(name string, files map[string][]byte) (*Environment, error) {
	paths, err := layer.InputsBeside(r.Files, name, slices.Collect(maps.Keys(files)))
	if err != nil {
		return nil, err
	}
	edited := r.WithEdited(files)
	if paths, err = edited.withBases(name, paths); err != nil {
		return nil, err
	}
	return edited.readPaths(name, paths, nil)
}

// readPaths reads the sources of an environment.
func (r *Repo) readPaths(name string, paths []string, broken diag.List) (*Environment, error) {
	e := &Environment{Repo: r, Name: name, Paths: paths, Broken: broken, Raw: make(map[string][]byte, len(paths))}
	var problems diag.List
	files, err := r.Files.readAll(paths)
	if err != nil {
		return nil, err
	}
	for i, p := range paths {
		data, err := files[i].Data, files[i].Err
		switch {
		case err != nil:
			problems.Add(diag.New(diag.Pos{File: p}, "cannot be read: %v", Reason(err)).WithCause(err))
			continue
		case len(data) > largestInput && !strings.HasPrefix(p, ChartsDir+"/"):
			problems.Add(diag.New(diag.Pos{File: p}, "has %d MB; a source has %d MB at most", len(data)>>20, largestInput>>20).
				WithHint("Talos would refuse a configuration of that size: is this the right file?"))
			continue
		}
		e.Raw[p] = data
		e.Inputs = append(e.Inputs, rendered.Entry{Path: p, Digest: rendered.Digest(data)})
	}
	if _, ok := e.Raw[e.File(ClusterFile)]; !ok && len(problems) == 0 {
		problems.Add(e.noClusterFile())
	}
	if len(problems) == 0 { // before keys, which a base may name
		problems.AddErr(base.Check(e.File(ClusterFile), e.Raw))
	}
	if err := problems.Err(); err != nil {
		return nil, err
	}
	e.setReadable()
	return e, nil
}

// ReadPart reads some files of an environment, by their names in it, for what needs
// no other; with its cluster.yaml, the bases of that. One that does not exist is left out.
func (r *Repo) ReadPart(env string, names ...string) (*Environment, error) {
	e := &Environment{Repo: r, Name: env, Raw: map[string][]byte{}}
	for _, name := range names {
		file := e.File(name)
		data, err := r.Files.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, diag.New(diag.Pos{File: file}, "cannot be read: %v", Reason(err)).WithCause(err)
		}
		e.Raw[file] = data
		if name != ClusterFile {
			continue
		}
		if err := e.readBases(); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// setReadable gathers what everybody can read. What is promised to be encrypted
// does not count, also if it is not.
func (e *Environment) setReadable() {
	e.Readable = &secret.Readable{}
	e.Readable.Add([]byte(e.Name), e.Raw[e.File(ClusterFile)], e.Raw[e.File(envFile)])
	for _, file := range e.bases() {
		e.Readable.Add(e.Raw[file])
	}
	for _, file := range e.Paths {
		secretFile := sopsage.NamedEncrypted(file) || slices.Contains(plainBundles, path.Base(file))
		if !secretFile {
			e.Repo.Process.Masker.Readable().Add([]byte(file), e.Raw[file])
		}
	}
	e.Repo.Process.Masker.Readable().Add([]byte(e.Name))
}

func (e *Environment) noClusterFile() *diag.Problem {
	p := diag.New(diag.Pos{File: e.File(ClusterFile)}, "does not exist: it describes the cluster").
		WithHint("`talosgen init` writes one to start from")
	if other := e.File("cluster.yml"); slices.Contains(e.Paths, other) {
		p.WithHint("rename %s", other)
	}
	return p
}

// FindKeys prepares the keys of a run: those that sops would find, and the one
// that the environment names if it is an example.
func (e *Environment) FindKeys() error {
	example, err := e.exampleKey(e.exampleKeyName())
	if err != nil {
		return err
	}
	var extra []sopsage.KeyFile
	if example != nil {
		extra = append(extra, *example)
	}
	keys := e.Repo.Process.Keys
	keys.Recipients = e.Repo.KeyRecipients
	e.Keys = sopsage.NewKeys(keys, extra...)
	return nil
}

// exampleKeyLine finds secrets.exampleKeyFile in a file that is not valid YAML.
var exampleKeyLine = regexp.MustCompile(`(?m)^[^#\n]*\bexampleKeyFile:[ \t]*["']?([^\s"'#,}]+)`)

// exampleKeyName reads secrets.exampleKeyFile alone. Whatever else is wrong
// with the file is reported when it is read as a whole, for which the key is
// needed: a file that is not valid YAML is searched for the line.
func (e *Environment) exampleKeyName() string {
	var c struct {
		Secrets struct {
			ExampleKeyFile string `yaml:"exampleKeyFile"`
		} `yaml:"secrets"`
	}
	if err := e.DecodeCluster(&c); err == nil {
		return c.Secrets.ExampleKeyFile
	}
	for _, file := range append([]string{e.File(ClusterFile)}, e.bases()...) {
		if found := exampleKeyLine.FindSubmatch(e.Raw[file]); found != nil {
			return string(found[1])
		}
	}
	return ""
}

// Variables merges those of cluster.env with the secret ones. A name has one
// definition.
func (e *Environment) Variables(s *Secrets) (subst.Vars, error) {
	var problems diag.List
	vars := subst.Vars{}
	if data, ok := e.Raw[e.File(envFile)]; ok {
		read, err := subst.ParseEnv(e.File(envFile), data)
		problems.AddErr(err)
		maps.Copy(vars, read)
	}
	for name, v := range s.Variables {
		if plain, twice := vars[name]; twice {
			problems.Add(diag.New(plain.Pos, "variable %s is in %s too", name, v.Pos.File).
				WithHint("keep one of them; a secret belongs into the encrypted file"))
		}
		vars[name] = v
	}
	for name, v := range vars {
		if strings.HasPrefix(name, subst.ReservedPrefix) {
			problems.Add(diag.New(v.Pos, "variable %s: names that begin with %s are talosgen's own", name, subst.ReservedPrefix).
				WithHint("talosgen defines NODE_NAME, NODE_ROLE, NODE_POOL, NODE_INDEX and NODE_ADDRESS for each node"))
		}
	}
	return vars, problems.Err()
}
