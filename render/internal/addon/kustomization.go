package addon

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/talosgen/talosgen/internal/diag"
)

// kustomization collects the files of a kustomization and of those that it
// refers to, and refuses what would make kustomize leave them: it fetches URLs,
// and runs git and other programs, while it builds.
type kustomization struct {
	repository fs.FS
	files      filesys.FileSystem // in memory, with the paths of the repository below /
	limit      *budget
	done       []string // directories
	problems   diag.List
}

// kustomizationFile is one of the files that say what to do.
type kustomizationFile struct {
	file string
	root *yaml.Node
}

var kustomizationNames = []string{"kustomization.yaml", "kustomization.yml", "Kustomization"}

// hasKustomization tells whether a directory holds a kustomization.
func hasKustomization(files fs.FS, dir string) bool {
	return slices.ContainsFunc(kustomizationNames, func(name string) bool {
		_, err := fs.Stat(files, path.Join(dir, name))
		return err == nil
	})
}

// add collects a directory with a kustomization and all that it refers to.
func (k *kustomization) add(dir string) (*kustomizationFile, error) {
	dir = path.Clean(dir)
	top, err := k.read(dir)
	if err != nil {
		return nil, err
	}
	if err := k.copyTree(dir); err != nil {
		return nil, err
	}
	k.check(top)
	for _, entry := range entries(child(top.root, "transformers")) {
		k.transformer(top, entry)
	}
	for _, field := range []string{"resources", "components", "bases"} {
		for _, entry := range entries(child(top.root, field)) {
			k.follow(top, entry)
		}
	}
	return top, k.problems.Err()
}

// read reads the file of a kustomization.
func (k *kustomization) read(dir string) (*kustomizationFile, error) {
	for _, name := range kustomizationNames {
		file := path.Join(dir, name)
		data, err := fs.ReadFile(k.repository, file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, unreadable(file, err)
		}
		var doc yaml.Node
		if err := yaml.Unmarshal(data, &doc); err != nil {
			return nil, diag.New(diag.Pos{File: file}, "not valid YAML: %v", err).WithCause(err)
		}
		if len(doc.Content) == 0 || doc.Content[0].Kind != yaml.MappingNode {
			return nil, diag.New(diag.Pos{File: file}, "no kustomization").WithHint("a kustomization is a map, such as resources: [a.yaml]")
		}
		return &kustomizationFile{file, doc.Content[0]}, nil
	}
	return nil, diag.New(diag.Pos{File: dir}, "the directory has no kustomization.yaml")
}

// copyTree copies the files of a directory: kustomize may read any of them, and
// none outside. Links are left out.
func (k *kustomization) copyTree(dir string) error {
	k.done = append(k.done, dir)
	return fs.WalkDir(k.repository, dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return unreadable(name, err)
		}
		if !entry.Type().IsRegular() {
			return nil
		}
		data, err := fs.ReadFile(k.repository, name)
		if err != nil {
			return unreadable(name, err)
		}
		if p := k.limit.take(int64(len(data))); p != nil {
			return p
		}
		return k.write(name, data)
	})
}

// follow collects another kustomization that one refers to.
func (k *kustomization) follow(from *kustomizationFile, entry *yaml.Node) {
	if entry.Kind != yaml.ScalarNode || elsewhere(entry.Value) {
		return // check has refused it
	}
	target := path.Join(path.Dir(from.file), entry.Value)
	info, err := fs.Stat(k.repository, target)
	switch {
	case target == ".." || strings.HasPrefix(target, "../"):
		k.refuse(from, entry, "%s leads out of the repository", entry.Value)
	case err != nil:
		p := k.refuse(from, entry, "%s does not exist", entry.Value)
		if strings.HasPrefix(target, "rendered/") {
			p.WithHint("of what is rendered there is only components/https of the same environment, once cluster.yaml has certificates.issuers")
		}
	case !info.IsDir() && !strings.HasPrefix(target, path.Dir(from.file)+"/"):
		k.refuse(from, entry, "%s is not below the directory of the kustomization", entry.Value).
			WithHint("kustomize reads files from there only; put a kustomization.yaml beside that file, and name its directory")
	case info.IsDir() && !slices.Contains(k.done, target):
		_, err := k.add(target)
		k.problems.AddErr(err)
	}
}

func (k *kustomization) refuse(in *kustomizationFile, n *yaml.Node, format string, args ...any) *diag.Problem {
	p := diag.New(diag.Pos{File: in.file, Line: n.Line, Column: n.Column}, format, args...)
	k.problems.Add(p)
	return p
}

// impossible are the fields that make kustomize run something, with what to do
// instead.
var impossible = map[string]string{
	"helmCharts":                  "declare the chart as an addon of its own in cluster.yaml",
	"helmChartInflationGenerator": "declare the chart as an addon of its own in cluster.yaml",
	"helmGlobals":                 "declare the chart as an addon of its own in cluster.yaml",
	"generators":                  "write what it generates into a file; configMapGenerator works",
	"validators":                  "talosgen check validates what is rendered",
}

// loading are the fields whose values are paths, or lists of them; of those in
// maps, the key that holds the path.
var loading = []struct{ field, key string }{
	{"resources", ""}, {"components", ""}, {"bases", ""}, {"crds", ""}, {"configurations", ""}, {"patchesStrategicMerge", ""},
	{"patches", "path"}, {"patchesJson6902", "path"}, {"replacements", "path"},
	{"configMapGenerator", "files"}, {"configMapGenerator", "envs"}, {"configMapGenerator", "env"},
	{"secretGenerator", "files"}, {"secretGenerator", "envs"}, {"secretGenerator", "env"},
}

// check refuses what would make kustomize leave the files that it was given.
func (k *kustomization) check(f *kustomizationFile) {
	k.checkKeys(f, f.root, fieldsThatMatter())
	for i := 0; i+1 < len(f.root.Content); i += 2 {
		key := f.root.Content[i]
		if hint, found := impossible[key.Value]; found {
			k.refuse(f, key, "%s is not possible: kustomize would run a program", key.Value).WithHint("%s", hint)
		}
	}
	for _, l := range loading {
		for _, entry := range entries(child(f.root, l.field)) {
			if l.key != "" {
				k.checkKeys(f, entry, []string{l.key})
				entry = child(entry, l.key)
			}
			for _, n := range entries(entry) {
				k.checkPath(f, n)
			}
		}
	}
	k.checkKeys(f, child(f.root, "openapi"), []string{"path"})
	if n := child(child(f.root, "openapi"), "path"); n != nil {
		k.checkPath(f, n)
	}
}

// fieldsThatMatter are the fields of a kustomization that check and add look at.
func fieldsThatMatter() []string {
	fields := []string{"transformers", "openapi"}
	for name := range impossible {
		fields = append(fields, name)
	}
	for _, l := range loading {
		fields = append(fields, l.field)
	}
	return fields
}

// checkKeys refuses ways to write some keys that kustomize understands, and that
// look like others: capital letters, twice the same, and merged mappings.
func (k *kustomization) checkKeys(f *kustomizationFile, n *yaml.Node, matter []string) {
	n = followed(n)
	if n == nil || n.Kind != yaml.MappingNode {
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if key.Value == "<<" {
			k.refuse(f, key, "a mapping is not merged into a kustomization").WithHint("write its fields out")
		}
		at := slices.IndexFunc(matter, func(name string) bool { return strings.EqualFold(name, key.Value) })
		switch {
		case at < 0:
		case key.Value != matter[at]:
			k.refuse(f, key, "no field %s", key.Value).WithHint("did you mean %q?", matter[at])
		case seen[key.Value]:
			k.refuse(f, key, "%s is there twice", key.Value).WithHint("put both into one list")
		}
		seen[key.Value] = true
	}
}

// checkPath refuses what kustomize would fetch. Patches may stand where paths
// do; they have several lines.
func (k *kustomization) checkPath(f *kustomizationFile, n *yaml.Node) {
	if n.Kind != yaml.ScalarNode || strings.Contains(n.Value, "\n") {
		return
	}
	_, file, _ := strings.Cut(n.Value, "=") // of a generator: the key of the ConfigMap, and the file
	if elsewhere(n.Value) || elsewhere(file) {
		k.refuse(f, n, "%s is not in the repository, and a render fetches nothing", n.Value).
			WithHint("copy it into the repository; or declare an addon with its URL in cluster.yaml, which charts.lock pins")
	}
}

// elsewhere tells whether kustomize could take a path for something remote.
func elsewhere(name string) bool {
	return strings.ContainsAny(name, ":@?") || path.IsAbs(name) || strings.HasPrefix(strings.ToLower(name), "github.com")
}

// child is the value of a key in a mapping, with aliases followed; nil if there
// is none.
func child(n *yaml.Node, key string) *yaml.Node {
	n = followed(n)
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return followed(n.Content[i+1])
		}
	}
	return nil
}

// entries are the items of a list, or the one that is there instead of a list.
func entries(n *yaml.Node) []*yaml.Node {
	switch n = followed(n); {
	case n == nil:
		return nil
	case n.Kind != yaml.SequenceNode:
		return []*yaml.Node{n}
	}
	items := make([]*yaml.Node, len(n.Content))
	for i, item := range n.Content {
		items[i] = followed(item)
	}
	return items
}

func followed(n *yaml.Node) *yaml.Node {
	for n != nil && n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}
