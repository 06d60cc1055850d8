package render

import (
	"cmp"
	"errors"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/manifest"
	"github.com/talosgen/talosgen/internal/sopsage"
	"github.com/talosgen/talosgen/render/internal/addon"
	"github.com/talosgen/talosgen/render/internal/catalogue"
	"github.com/talosgen/talosgen/render/internal/source"
	"github.com/talosgen/talosgen/render/internal/subst"
)

func isEncryptedText(text string) bool { return sopsage.IsEncryptedValue(text) }

// kustomizationFiles are the names that kustomize knows.
var kustomizationFiles = []string{"kustomization.yaml", "kustomization.yml", "Kustomization"}

// checkAddonDirs refuses directories of addons that there are none of.
func (c *compiler) checkAddonDirs() error {
	var problems diag.List
	known := c.addonNames()
	seen := map[string]bool{}
	for _, root := range []string{path.Join(source.PatchesDir, addonsDir), c.File(addonsDir)} {
		for _, file := range c.Paths {
			rest, ok := strings.CutPrefix(file, root+"/")
			if !ok {
				continue
			}
			name, below, nested := strings.Cut(rest, "/")
			dir := path.Join(root, name)
			if seen[dir] {
				continue
			}
			switch {
			case !nested:
				problems.Add(diag.New(diag.Pos{File: file}, "not in the directory of an addon").
					WithHint("values are in %s/<addon>/values.yaml", root))
			case !slices.Contains(known, name):
				seen[dir] = true
				c.unknownAddon(dir, name, known, root != c.File(addonsDir), &problems)
			case root != c.File(addonsDir) && !slices.Contains(valuesFiles, below):
				problems.Add(diag.New(diag.Pos{File: file}, "only values are shared between environments").
					WithHint("manifests and kustomizations belong to an environment: %s", c.File(path.Join(addonsDir, name))))
			}
		}
	}
	return problems.Err()
}

// unknownAddon reports a directory. A shared one may be for an addon of another
// environment.
func (c *compiler) unknownAddon(dir, name string, known []string, shared bool, problems *diag.List) {
	p := diag.New(diag.Pos{File: dir}, "no addon %q", name)
	hint := diag.Suggest(name, known)
	if hint == "" {
		hint = "declare it in " + c.File(source.ClusterFile) + ": addons." + name
	}
	p.WithHint("%s", hint)
	if shared {
		c.warnings.Add(p)
		return
	}
	problems.Add(p)
}

// checkSource refuses a path to nothing, and one to files that a render does not
// read: it would not notice when they change.
func (c *compiler) checkSource(a catalogue.Addon) *diag.Problem {
	if a.Source == nil {
		return nil
	}
	at, option := a.Source.Path, ".source.path"
	if a.Source.Chart != nil {
		at, option = a.Source.Chart.Path, ".source.chart.path"
	}
	places := []string{source.ChartsDir, path.Join(source.PatchesDir, addonsDir), c.File("")}
	within := func(dir string) bool { return at == dir || strings.HasPrefix(at, dir+"/") }
	if at == "" {
		return nil
	}
	pos := c.Config.Near("addons." + a.Name + option)
	if !slices.ContainsFunc(places, within) {
		return diag.New(pos, "%s is no place that a render reads", at).
			WithHint("move it to %s/, or to %s/ if only this environment has it", source.ChartsDir, c.File(addonsDir))
	}
	return c.checkThere(pos, path.Clean(at))
}

// checkThere refuses the path of a source that leads to no file.
func (c *compiler) checkThere(pos diag.Pos, at string) *diag.Problem {
	var beside []string // what else is in its directory
	for file := range c.Raw {
		if file == at || strings.HasPrefix(file, at+"/") {
			return nil
		}
		if rest, ok := strings.CutPrefix(file, path.Dir(at)+"/"); ok {
			name, _, _ := strings.Cut(rest, "/")
			beside = append(beside, path.Join(path.Dir(at), name))
		}
	}
	slices.Sort(beside)
	return diag.New(pos, "%s is not there", at).
		WithHint("%s", cmp.Or(diag.Suggest(at, slices.Compact(beside)), "the path begins at the root of the repository"))
}

// ownFiles lists the files of the user for an addon in the environment, but for
// values, and for what the addon is made of anyway.
func (c *compiler) ownFiles(a catalogue.Addon) (dir string, files []string) {
	dir = c.File(path.Join(addonsDir, a.Name))
	source := ""
	if a.Source != nil {
		source = a.Source.Path
		if a.Source.Chart != nil {
			source = a.Source.Chart.Path
		}
	}
	for _, file := range c.Paths {
		rest, ok := strings.CutPrefix(file, dir+"/")
		ofSource := source != "" && (file == source || strings.HasPrefix(file, source+"/"))
		if ok && !ofSource && !slices.Contains(valuesFiles, rest) {
			files = append(files, file)
		}
	}
	return dir, files
}

// hasSecretFiles tells whether files of the user for an addon are encrypted, or
// hold secret variables.
func (c *compiler) hasSecretFiles(a catalogue.Addon) bool {
	_, files := c.ownFiles(a)
	return slices.ContainsFunc(files, func(file string) bool {
		return sopsage.NamedEncrypted(file) || sopsage.IsEncryptedYAML(c.Raw[file]) || c.refersToSecret(string(c.Raw[file]))
	})
}

// customized adds the manifests of the user to what an addon was rendered to, or
// lets a kustomization of the user change it. Definitions of custom resources
// stay as they are.
func (c *compiler) customized(a catalogue.Addon, v *variant, engine *addon.Engine, made addon.Result) ([]manifest.Object, error) {
	dir, files := c.ownFiles(a)
	objects := made.Objects
	var err error
	kustomization := slices.IndexFunc(files, func(file string) bool {
		return path.Dir(file) == dir && slices.Contains(kustomizationFiles, path.Base(file))
	})
	switch {
	case len(files) == 0:
	case kustomization >= 0:
		c.warnOfVariables(files[kustomization])
		objects, err = engine.Customize(dir, objects)
	default:
		objects, err = c.withManifests(a, v, files, objects, made.CRDs)
	}
	return append(slices.Clone(made.CRDs), objects...), err
}

// warnOfVariables warns of variables in a kustomization, which stay as they are.
func (c *compiler) warnOfVariables(file string) {
	text := string(c.Raw[file])
	for _, name := range slices.Sorted(maps.Keys(c.Scope.Vars)) {
		if strings.Contains(text, "${"+name+"}") {
			c.warnings.Add(diag.New(diag.Pos{File: file}, "${%s} stays as it is: kustomize knows no variables", name).
				WithHint("use it in the values of the chart, or in a manifest of an addon without a kustomization"))
		}
	}
}

// withManifests adds the manifests in files, with variables in their place.
func (c *compiler) withManifests(a catalogue.Addon, v *variant, files []string, objects, crds []manifest.Object) ([]manifest.Object, error) {
	var problems diag.List
	objects = slices.Clone(objects)
	for _, file := range files {
		if ext := path.Ext(file); ext != ".yaml" && ext != ".yml" {
			problems.Add(diag.New(diag.Pos{File: file}, "not a manifest").
				WithHint("manifests end with .yaml; other files are for a kustomization.yaml beside them"))
			continue
		}
		added, err := c.manifests(file, v)
		problems.AddErr(err)
		objects = append(objects, added...)
	}
	manifest.NewScopes(crds...).SetNamespace(a.Namespace, objects)
	return objects, problems.Err()
}

// manifests reads a file with manifests of the user.
func (c *compiler) manifests(file string, v *variant) ([]manifest.Object, error) {
	data, encrypted, err := c.content(file)
	if err != nil {
		return nil, err
	}
	if encrypted == nil && !subst.NeedsExpansion(data) {
		return manifest.Parse(file, data)
	}
	var committed []*yaml.Node
	if encrypted != nil {
		if committed, err = documents(encrypted); err != nil {
			return nil, c.notYAML(file, err, true)
		}
	}
	docs, err := documents(data)
	if err != nil {
		return nil, c.notYAML(file, err, encrypted != nil)
	}
	var text strings.Builder
	var problems diag.List
	for i, doc := range docs {
		if !v.real && i < len(committed) {
			otherScalars(doc, committed[i], c.others())
		}
		expanded, err := subst.ExpandNode(subst.Source{File: file, Secret: encrypted != nil}, doc, v.scope)
		problems.AddErr(err)
		out, err := yaml.Marshal(expanded.Doc)
		if err != nil {
			return nil, c.notYAML(file, err, encrypted != nil)
		}
		text.WriteString("---\n" + string(out))
	}
	if err := problems.Err(); err != nil {
		return nil, err
	}
	return manifest.Parse(file, []byte(text.String()))
}

// documents takes a file of YAML apart.
func documents(data []byte) ([]*yaml.Node, error) {
	dec := yaml.NewDecoder(strings.NewReader(string(data)))
	var all []*yaml.Node
	for {
		var doc yaml.Node
		switch err := dec.Decode(&doc); {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, err
		}
		all = append(all, &doc)
	}
}
