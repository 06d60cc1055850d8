package foreign

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/sopsage"
	"github.com/talosgen/talosgen/render/internal/machine"
)

// Talosctl reads a folder of machine configurations, as `talosctl gen config` writes
// them: one for each node, or one for several that are named.
func Talosctl(s Source) (*Origin, error) {
	r := reader{Source: s, origin: &Origin{Target: "the machine configurations of the folder"}}
	texts, err := r.configurations(".")
	if err != nil {
		return nil, err
	}
	if err := r.machines(texts); err != nil {
		return nil, err
	}
	return r.origin, nil
}

// reader reads a folder.
type reader struct {
	Source
	origin *Origin
}

// configurations are the texts of the machine configurations in a folder, by their
// names.
func (r *reader) configurations(dir string) (map[string][]byte, error) {
	entries, err := fs.ReadDir(r.Files, dir)
	if err != nil {
		return nil, diag.New(diag.Pos{File: dir}, "the folder cannot be read").WithCause(err).WithCode(diag.Usage)
	}
	texts := map[string][]byte{}
	var problems diag.List
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		if ext := path.Ext(name); e.IsDir() || ext != ".yaml" && ext != ".yml" || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		data, err := r.read(name)
		if err != nil {
			problems.AddErr(err)
			continue
		}
		if what := purpose(data); what != configuration {
			r.note("%s is passed over: %s", name, what)
			continue
		}
		texts[name] = data
	}
	if len(texts) == 0 && len(problems) == 0 {
		problems.Add(diag.New(diag.Pos{File: dir}, "has no machine configurations").
			WithHint("they are the files that `talosctl gen config` writes and that nodes have: a mapping with machine: and its type").WithCode(diag.Usage))
	}
	return texts, problems.Err()
}

func (r *reader) note(format string, args ...any) {
	r.origin.Notes = append(r.origin.Notes, fmt.Sprintf(format, args...))
}

// largest is how many bytes a file may have.
const largest = 4 << 20

// read reads a file in the clear, and remembers what was encrypted in it.
func (r *reader) read(name string) ([]byte, error) {
	data, err := fs.ReadFile(r.Files, name)
	switch {
	case err != nil:
		return nil, diag.New(diag.Pos{File: name}, "cannot be read").WithCause(err)
	case len(data) > largest:
		return nil, diag.New(diag.Pos{File: name}, "has %d MB; a configuration has %d MB at most", len(data)>>20, largest>>20)
	case !sopsage.IsEncryptedYAML(data):
		return data, nil
	}
	plain, err := r.Decrypt(name, data)
	if err != nil {
		return nil, err
	}
	r.remember(plain, data)
	return plain, nil
}

// remember takes down the values that were encrypted.
func (r *reader) remember(plain, encrypted []byte) {
	var walk func(n *yaml.Node)
	walk = func(n *yaml.Node) {
		value := strings.TrimSpace(n.Value) // a template may have trimmed it
		if s := secret.New(value); n.Kind == yaml.ScalarNode && s.Recognisable() && !strings.Contains(string(encrypted), value) {
			r.origin.Secrets = append(r.origin.Secrets, s)
			r.Mask(s)
		}
		for _, c := range n.Content {
			walk(c)
		}
	}
	dec := yaml.NewDecoder(bytes.NewReader(plain))
	for {
		var doc yaml.Node
		if dec.Decode(&doc) != nil {
			return // at the end, or where SOPS, which wrote it, would have failed too
		}
		walk(&doc)
	}
}

// What a file is for, as far as it matters here.
const configuration = "a machine configuration"

func purpose(data []byte) string {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	for {
		var head struct {
			Machine *struct {
				Type string `yaml:"type"`
			} `yaml:"machine"`
			Contexts any `yaml:"contexts"`
			Certs    any `yaml:"certs"`
		}
		switch err := dec.Decode(&head); {
		case errors.Is(err, io.EOF):
			return "no machine configuration with a type"
		case err != nil:
			return configuration // so that its place is named
		case head.Contexts != nil:
			return "it gives access to the cluster, and is no part of it"
		case head.Certs != nil:
			return "a secrets bundle; its secrets are in the configuration of a control plane too"
		case head.Machine != nil && head.Machine.Type != "":
			return configuration
		}
	}
}

// machines makes nodes of configurations: those that are named, or each.
func (r *reader) machines(texts map[string][]byte) error {
	nodes := r.Nodes
	if len(nodes) == 0 {
		for _, file := range sortedKeys(texts) {
			nodes = append(nodes, NodeFile{File: file})
		}
	}
	var problems diag.List
	names := map[string]string{}
	for _, n := range nodes {
		data, ok := texts[path.Clean(n.File)]
		if !ok {
			problems.Add(diag.On(n.File, "no machine configuration of that name in the folder").
				WithHint("configurations: %s", strings.Join(sortedKeys(texts), ", ")).WithCode(diag.Usage))
			continue
		}
		m, err := newMachine(n, data)
		if err != nil {
			problems.AddErr(err)
			continue
		}
		if other, twice := names[m.Name]; twice {
			problems.Add(diag.New(diag.Pos{File: n.File}, "is of node %s, and so is %s", m.Name, other).
				WithHint("give each a name: --node NAME=FILE"))
			continue
		}
		names[m.Name] = n.File
		r.origin.Machines = append(r.origin.Machines, m)
	}
	return problems.Err()
}

func newMachine(n NodeFile, data []byte) (Machine, error) {
	m := Machine{Name: n.Name, File: n.File, Text: secret.New(string(data))}
	var err error
	if m.Config, err = machine.ReadConfig(n.File, data); err != nil {
		return m, err
	}
	switch role := Value(m.Config, machine.MainID.Kind, "machine", "type"); role {
	case "controlplane", "init":
		m.Role, m.Pool = string(machine.ControlPlane), "control-plane"
	case "worker", "join":
		m.Role, m.Pool = string(machine.Worker), "worker"
	default:
		return m, diag.New(diag.Pos{File: n.File}, "machine.type is neither controlplane nor worker")
	}
	if m.Name == "" {
		m.Name = nodeName(hostname(m.Config))
	}
	if m.Name == "" {
		m.Name = nodeName(path.Base(n.File))
	}
	if m.Name == "" {
		return m, diag.New(diag.Pos{File: n.File}, "no name for its node can be made: neither its hostname nor the name of the file has a letter from a to z or a digit").
			WithHint("name it: --node NAME=%s, and the others as well", n.File)
	}
	m.MAC = macOf(m.Config)
	m.Address = n.Address
	if m.Address == "" {
		m.Address = addressOf(m.Config)
	}
	return m, nil
}

func sortedKeys[V any](m map[string]V) (keys []string) {
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
