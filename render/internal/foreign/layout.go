package foreign

import (
	"bytes"
	"errors"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/sorting"
	"github.com/talosgen/talosgen/internal/yamlerror"
	"github.com/talosgen/talosgen/render/internal/residue"
)

const nodesLayer = "nodes"

// layerNames are the names that people give folders and files of a layer.
var layerNames = map[string][]string{
	"common":       {"common", "all", "base", "global"},
	"controlplane": {"controlplane", "controlplanes", "cp", "cps", "master", "masters"},
	"worker":       {"worker", "workers"},
	nodesLayer:     {"node", "nodes"},
}

// layerOf is the layer that a name means; empty if it means none.
func layerOf(name string) string {
	plain := strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(name))
	for layer, names := range layerNames {
		if slices.Contains(names, plain) {
			return layer
		}
	}
	return ""
}

// roleOf is the role that a name means; empty if it means none.
func roleOf(name string) string {
	if layer := layerOf(name); layer != "common" && layer != nodesLayer {
		return layer
	}
	return ""
}

// environmentDirs are folders that have one for each environment.
var environmentDirs = []string{"patches/envs", "patches/environments", "envs", "environments"}

// findEnvironment finds the folders of the environment.
func (l *layered) findEnvironment() error {
	var names []string
	for _, dir := range environmentDirs {
		for _, e := range entries(l.Files, dir) {
			if e.IsDir() && !slices.Contains(names, e.Name()) {
				names = append(names, e.Name())
			}
		}
	}
	name := l.Env
	switch {
	case len(names) == 0:
		l.dirs = []string{"."}
		return nil
	case len(names) == 1:
		name = names[0]
	case !slices.Contains(names, name):
		slices.Sort(names)
		return diag.On(l.Env, "the folder has several environments, and none of that name").
			WithHint("import it under the name that it has there: %s", strings.Join(names, ", ")).WithCode(diag.Usage)
	}
	for _, dir := range environmentDirs {
		if info, err := fs.Stat(l.Files, path.Join(dir, name)); err == nil && info.IsDir() {
			l.dirs = append(l.dirs, path.Join(dir, name))
		}
	}
	return nil
}

// entries are those of a folder; none if it is not there.
func entries(files fs.FS, dir string) []fs.DirEntry {
	all, _ := fs.ReadDir(files, dir) // what cannot be read is reported by findPatches, or not needed
	return all
}

// yamlIn are the files of YAML in a folder.
func yamlIn(in fs.FS, dir string) (files []string) {
	for _, e := range entries(in, dir) {
		if !e.IsDir() && isYAML(e.Name()) {
			files = append(files, path.Join(dir, e.Name()))
		}
	}
	return files
}

// yamlBelow are the files of YAML anywhere below a folder.
func yamlBelow(in fs.FS, dir string) (files []string) {
	_ = fs.WalkDir(in, dir, func(file string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && isYAML(d.Name()) {
			files = append(files, file)
		}
		return nil // what cannot be read is reported when it is
	})
	return files
}

func isYAML(name string) bool {
	return strings.HasSuffix(plainName(name), ".yaml") && !strings.HasPrefix(name, ".")
}

// findPatches finds the patches, in the order in which they apply.
func (l *layered) findPatches() error {
	var problems diag.List
	shared := "patches"
	if _, err := fs.Stat(l.Files, shared); err != nil {
		shared = "."
	}
	scan := func(dir string, own bool) {
		problems.AddErr(l.scan(dir, own))
	}
	if l.dirs[0] != "." {
		scan(shared, false)
		for _, dir := range l.dirs {
			scan(dir, true)
			scan(path.Join(dir, "patches"), true)
		}
	} else {
		scan(shared, true)
	}
	sorting.By(l.patches, func(a, b patchFile) int { return a.rank() - b.rank() })
	if len(l.patches) == 0 && len(problems) == 0 {
		problems.Add(diag.New(diag.Pos{File: shared}, "has no patches").
			WithHint("they are in common/, controlplane/, worker/ and nodes/, or in files of these names").WithCode(diag.Usage))
	}
	return problems.Err()
}

// rank is the place of a patch in the order: those of an environment come after those of
// all, those of machines last.
func (p patchFile) rank() int {
	rank := map[string]int{"common": 0, nodesLayer: 4}
	n, found := rank[p.layer]
	if !found {
		n = 1
	}
	if p.own && n < 4 {
		n += 2
	}
	return n
}

// scan finds the patches of a folder that has those of layers.
func (l *layered) scan(dir string, own bool) error {
	entries, err := fs.ReadDir(l.Files, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return diag.New(diag.Pos{File: dir}, "the folder cannot be read").WithCause(err)
	}
	var problems diag.List
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		base, _, _ := strings.Cut(e.Name(), ".")
		layer := layerOf(base)
		switch {
		case strings.HasPrefix(e.Name(), "."):
		case e.IsDir() && layer != "":
			problems.AddErr(l.scanLayer(name, layer, own))
		case e.IsDir():
			problems.AddErr(l.unplaced(name, dir))
		case !isYAML(e.Name()):
		case layer != "" && layer != nodesLayer:
			problems.AddErr(l.add(patchFile{file: name, layer: layer, own: own}))
		case dir != "." && !l.isBundle(name):
			problems.Add(diag.New(diag.Pos{File: name}, "it is not said for which machines this patch is").
				WithHint("put it into common/, controlplane/, worker/ or nodes/<name>/ there"))
		}
	}
	return problems.Err()
}

// unplaced refuses a folder with patches that are in no layer: without them the
// configurations would be others.
func (l *layered) unplaced(name, dir string) error {
	base := path.Base(name)
	if dir == "." || base == "patches" || slices.Contains(environmentDirs, name) || slices.Contains(l.dirs, dir) && base == "secrets" {
		return nil
	}
	if len(yamlBelow(l.Files, name)) == 0 {
		return nil
	}
	return diag.New(diag.Pos{File: name}, "it is not said for which machines the patches of this folder are").
		WithHint("the folders of patches are common, controlplane, worker, nodes and envs")
}

// scanLayer finds the patches in the folder of a layer: of the layer, or of its
// machines.
func (l *layered) scanLayer(dir, layer string, own bool) error {
	entries, err := fs.ReadDir(l.Files, dir)
	if err != nil {
		return diag.New(diag.Pos{File: dir}, "the folder cannot be read").WithCause(err)
	}
	var problems diag.List
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		base, _, _ := strings.Cut(e.Name(), ".")
		p := patchFile{file: name, layer: layer, own: own}
		switch {
		case strings.HasPrefix(e.Name(), "."):
		case e.IsDir() && (layer == "common" || layer != nodesLayer && layerOf(base) == "common"):
			problems.AddErr(l.scanLayer(name, layer, own))
		case e.IsDir():
			for _, file := range yamlBelow(l.Files, name) {
				problems.AddErr(l.add(patchFile{file: file, layer: nodesLayer, node: nodeName(base), own: own, role: roleOf(layer)}))
			}
		case !isYAML(e.Name()):
		case layer == nodesLayer || layer != "common" && l.isMachines(name, base):
			p.layer, p.node, p.role = nodesLayer, nodeName(base), roleOf(layer)
			problems.AddErr(l.add(p))
		default:
			problems.AddErr(l.add(p))
		}
	}
	return problems.Err()
}

// numbered is the name of a machine among others of its kind, such as cp-1; what begins
// with a number is in an order.
var numbered = regexp.MustCompile(`^[a-zA-Z].*[0-9]$`)

// isMachines reports whether a file in the folder of a role is that of one machine: it
// says its name, or it is named like one.
func (l *layered) isMachines(file, base string) bool {
	named := slices.ContainsFunc(l.Nodes, func(n NodeFile) bool { return nodeName(n.Name) == nodeName(base) })
	data, err := fs.ReadFile(l.Files, file)
	if named || err != nil || numbered.MatchString(base) {
		return named || err == nil
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	for {
		var doc yaml.Node
		if dec.Decode(&doc) != nil || len(doc.Content) == 0 {
			return false // what is wrong is reported when it is read
		}
		root := doc.Content[0]
		if Text(residue.Child(residue.Child(root, "machine"), "network"), "hostname") != "" || Text(root, "kind") == "HostnameConfig" && Text(root, "hostname") != "" {
			return true
		}
	}
}

// add reads a patch.
func (l *layered) add(p patchFile) error {
	var err error
	if p.raw, err = fs.ReadFile(l.Files, p.file); err != nil {
		return diag.New(diag.Pos{File: p.file}, "cannot be read").WithCause(err)
	}
	if p.plain, err = l.read(p.file); err != nil {
		return err
	}
	if at := bytes.Index(p.plain, []byte("{{")); at >= 0 {
		pos := diag.Pos{File: p.file, Line: 1 + bytes.Count(p.plain[:at], []byte("\n"))}
		return diag.New(pos, "{{ is for a program that makes patches out of templates, which an import cannot run").
			WithHint("put what it makes in its place, or import the final configurations: --from talosctl")
	}
	if err := l.checkReferences(p); err != nil {
		return err
	}
	l.patches = append(l.patches, p)
	return nil
}

// isBundle reports whether a file is a secrets bundle.
func (l *layered) isBundle(file string) bool {
	data, err := fs.ReadFile(l.Files, file)
	if err != nil {
		return false
	}
	var head struct {
		Certs      any `yaml:"certs"`
		TrustdInfo any `yaml:"trustdinfo"`
	}
	return yaml.Unmarshal(data, &head) == nil && head.Certs != nil && head.TrustdInfo != nil
}

// documents parses the documents of a patch.
func documents(file string, data []byte) (docs []*yaml.Node, err error) {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	for {
		var doc yaml.Node
		switch err := dec.Decode(&doc); {
		case err != nil && err.Error() == "EOF":
			return docs, nil
		case err != nil:
			return nil, yamlerror.Syntax(file, data, err)
		}
		docs = append(docs, &doc)
	}
}
