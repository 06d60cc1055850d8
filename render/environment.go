package render

import (
	"context"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/rendered"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/sopsage"
	"github.com/talosgen/talosgen/render/internal/model"
	"github.com/talosgen/talosgen/render/internal/subst"
)

// largestInput is how many bytes a source may have. Talos takes configurations
// of a few megabytes at most, so more is a mistake.
const largestInput = 4 << 20

// environment is an environment with its sources read.
type environment struct {
	repo   *Repo
	name   string
	inputs []rendered.Entry
	paths  []string
	broken diag.List         // links of addons that lead nowhere
	raw    map[string][]byte // by repository-relative path
	keys   *sopsage.Keys
	// What says in the clear what the cluster is.
	readable *secret.Readable
}

// readEnvironment reads every source of an environment, once.
func (r *Repo) readEnvironment(name string) (*environment, error) {
	if err := r.checkLinks(name); err != nil {
		return nil, err
	}
	paths, broken, err := r.inputsAndLinks(name)
	if err != nil {
		return nil, err
	}
	e := &environment{repo: r, name: name, paths: paths, broken: broken, raw: make(map[string][]byte, len(paths))}
	var problems diag.List
	for _, p := range paths {
		data, err := r.files.ReadFile(p)
		switch {
		case err != nil:
			problems.Add(diag.New(diag.Pos{File: p}, "cannot be read: %v", reason(err)).WithCause(err))
			continue
		case len(data) > largestInput && !strings.HasPrefix(p, chartsDir+"/"):
			problems.Add(diag.New(diag.Pos{File: p}, "has %d MB; a source has %d MB at most", len(data)>>20, largestInput>>20).
				WithHint("Talos would refuse a configuration of that size: is this the right file?"))
			continue
		}
		e.raw[p] = data
		e.inputs = append(e.inputs, rendered.Entry{Path: p, Digest: rendered.Digest(data)})
	}
	if _, ok := e.raw[e.path(clusterFile)]; !ok && len(problems) == 0 {
		problems.Add(e.noClusterFile())
	}
	if err := problems.Err(); err != nil {
		return nil, err
	}
	e.setReadable()
	return e, nil
}

// setReadable gathers what everybody can read. What is promised to be encrypted
// does not count, also if it is not.
func (e *environment) setReadable() {
	e.readable = &secret.Readable{}
	e.readable.Add([]byte(e.name), e.raw[e.path(clusterFile)], e.raw[e.path(envFile)])
	for _, file := range e.paths {
		secretFile := sopsage.NamedEncrypted(file) || slices.Contains(plainBundles, path.Base(file))
		if !secretFile {
			e.repo.world.Masker.Readable().Add([]byte(file), e.raw[file])
		}
	}
	e.repo.world.Masker.Readable().Add([]byte(e.name))
}

func (e *environment) noClusterFile() *diag.Problem {
	p := diag.New(diag.Pos{File: e.path(clusterFile)}, "does not exist: it describes the cluster").
		WithHint("`talosgen init` writes one to start from")
	if other := e.path("cluster.yml"); slices.Contains(e.paths, other) {
		p.WithHint("rename %s", other)
	}
	return p
}

// findKeys prepares the keys of a run: those that sops would find, and the one
// that the environment names if it is an example.
func (e *environment) findKeys() error {
	example, err := e.exampleKey(exampleKeyName(e.raw[e.path(clusterFile)]))
	if err != nil {
		return err
	}
	var extra []sopsage.KeyFile
	if example != nil {
		extra = append(extra, *example)
	}
	keys := e.repo.world.Keys
	keys.Recipients = e.repo.KeyRecipients
	e.keys = sopsage.NewKeys(keys, extra...)
	return nil
}

// exampleKeyLine finds secrets.exampleKeyFile in a file that is not valid YAML.
var exampleKeyLine = regexp.MustCompile(`(?m)^[^#\n]*\bexampleKeyFile:[ \t]*["']?([^\s"'#,}]+)`)

// exampleKeyName reads secrets.exampleKeyFile alone. Whatever else is wrong
// with the file is reported when it is read as a whole, for which the key is
// needed: a file that is not valid YAML is searched for the line.
func exampleKeyName(clusterYAML []byte) string {
	var c struct {
		Secrets struct {
			ExampleKeyFile string `yaml:"exampleKeyFile"`
		} `yaml:"secrets"`
	}
	if err := yaml.Unmarshal(clusterYAML, &c); err != nil {
		if found := exampleKeyLine.FindSubmatch(clusterYAML); found != nil {
			return string(found[1])
		}
		return ""
	}
	return c.Secrets.ExampleKeyFile
}

// plan is an environment that was understood, and what it keeps encrypted.
type plan struct {
	*environment
	*model.Model
	secrets *secrets
}

// reservedPrefix begins the names of the variables that talosgen defines.
const reservedPrefix = "NODE_"

// understand decrypts, reads cluster.env and cluster.yaml, and sorts the
// patches into layers. With keyless set, nothing is decrypted. A plan that comes
// with an error is good for its warnings only.
func (e *environment) understand(ctx context.Context, keyless bool) (*plan, error) {
	p := &plan{environment: e}
	if err := e.checkPlaintext(); err != nil {
		return nil, err
	}
	if err := e.checkCopied(); err != nil {
		return nil, err
	}
	var err error
	if keyless {
		p.secrets, err = e.placeholders()
	} else {
		p.secrets, err = e.openSecrets(ctx)
	}
	if err != nil {
		return nil, err
	}
	var problems diag.List
	vars, err := e.variables(p.secrets)
	problems.AddErr(err)
	p.Model, err = model.New(model.Sources{Env: e.name, Paths: e.paths, Files: e.raw, Vars: vars, Secrets: p.secrets.file})
	problems.AddErr(err)
	return p, problems.Err()
}

// variables merges those of cluster.env with the secret ones. A name has one
// definition.
func (e *environment) variables(s *secrets) (subst.Vars, error) {
	var problems diag.List
	vars := subst.Vars{}
	if data, ok := e.raw[e.path(envFile)]; ok {
		read, err := subst.ParseEnv(e.path(envFile), data)
		problems.AddErr(err)
		maps.Copy(vars, read)
	}
	for name, v := range s.variables {
		if plain, twice := vars[name]; twice {
			problems.Add(diag.New(plain.Pos, "variable %s is in %s too", name, v.Pos.File).
				WithHint("keep one of them; a secret belongs into the encrypted file"))
		}
		vars[name] = v
	}
	for name, v := range vars {
		if strings.HasPrefix(name, reservedPrefix) {
			problems.Add(diag.New(v.Pos, "variable %s: names that begin with %s are talosgen's own", name, reservedPrefix).
				WithHint("talosgen defines NODE_NAME, NODE_ROLE, NODE_POOL, NODE_INDEX and NODE_ADDRESS for each node"))
		}
	}
	return vars, problems.Err()
}
