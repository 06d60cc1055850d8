package addons

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/sopsage"
	"github.com/talosgen/talosgen/render/internal/catalogue"
	"github.com/talosgen/talosgen/render/internal/cleartext"
	"github.com/talosgen/talosgen/render/internal/layer"
	"github.com/talosgen/talosgen/render/internal/model"
)

// folders are the places of the files that a user has for addons.
type folders struct {
	model  *model.Model
	texts  *cleartext.Texts
	broken diag.List // links that lead nowhere
}

// dir is the directory of an addon in the environment; without a name, of all.
func (f folders) dir(addon string) string { return f.model.Path(path.Join(layer.AddonsDir, addon)) }

// check refuses directories of addons that there are none of.
func (f folders) check(warnings *diag.List) error {
	var problems diag.List
	known := f.addonNames()
	seen := map[string]bool{}
	for _, root := range []string{path.Join(layer.PatchesDir, layer.AddonsDir), f.dir("")} {
		for _, file := range f.texts.Paths {
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
				f.unknownAddon(dir, name, known, root != f.dir(""), &problems, warnings)
			case root != f.dir("") && !slices.Contains(valuesFiles, below):
				problems.Add(diag.New(diag.Pos{File: file}, "only values are shared between environments").
					WithHint("manifests and kustomizations belong to an environment: %s", f.dir(name)))
			}
		}
	}
	return problems.Err()
}

// unknownAddon reports a directory. A shared one may be for an addon of another
// environment.
func (f folders) unknownAddon(dir, name string, known []string, shared bool, problems, warnings *diag.List) {
	p := diag.New(diag.Pos{File: dir}, "no addon %q", name)
	hint := diag.Suggest(name, known)
	if hint == "" {
		hint = "declare it in " + f.model.Path(layer.ClusterFile) + ": addons." + name
	}
	p.WithHint("%s", hint)
	if shared {
		warnings.Add(p)
		return
	}
	problems.Add(p)
}

// checkSource refuses a path to nothing, and one to files that a render does not
// read: it would not notice when they change.
func (f folders) checkSource(a catalogue.Addon) *diag.Problem {
	if a.Source == nil {
		return nil
	}
	at, option := a.Source.Path, ".source.path"
	if a.Source.Chart != nil {
		at, option = a.Source.Chart.Path, ".source.chart.path"
	}
	places := []string{layer.ChartsDir, path.Join(layer.PatchesDir, layer.AddonsDir), f.model.Path("")}
	within := func(dir string) bool { return at == dir || strings.HasPrefix(at, dir+"/") }
	if at == "" {
		return nil
	}
	pos := f.model.Config.Near("addons." + a.Name + option)
	if !slices.ContainsFunc(places, within) {
		return diag.New(pos, "%s is no place that a render reads", at).
			WithHint("move it to %s/, or to %s/ if only this environment has it", layer.ChartsDir, f.dir(""))
	}
	return f.checkThere(pos, path.Clean(at))
}

// checkThere refuses the path of a source that leads to no file.
func (f folders) checkThere(pos diag.Pos, at string) *diag.Problem {
	var beside []string // what else is in its directory
	for file := range f.texts.Files {
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

// own lists the files of the user for an addon in the environment, but for
// values, and for what the addon is made of anyway.
func (f folders) own(a catalogue.Addon) (dir string, files []string) {
	dir = f.dir(a.Name)
	source := ""
	if a.Source != nil {
		source = a.Source.Path
		if a.Source.Chart != nil {
			source = a.Source.Chart.Path
		}
	}
	for _, file := range f.texts.Paths {
		rest, ok := strings.CutPrefix(file, dir+"/")
		ofSource := source != "" && (file == source || strings.HasPrefix(file, source+"/"))
		if ok && !ofSource && !slices.Contains(valuesFiles, rest) {
			files = append(files, file)
		}
	}
	return dir, files
}

// hasSecrets tells whether files of the user for an addon are encrypted, or
// hold secret variables.
func (f folders) hasSecrets(a catalogue.Addon) bool {
	_, files := f.own(a)
	return slices.ContainsFunc(files, func(file string) bool {
		return sopsage.NamedEncrypted(file) || sopsage.IsEncryptedYAML(f.texts.Files[file]) || f.texts.RefersToSecret(string(f.texts.Files[file]))
	})
}

// addonNames are the names of the addons that the environment may have
// directories for: those of the catalogue, and its own.
func (f folders) addonNames() []string {
	names := append(catalogue.Names(), slices.Sorted(maps.Keys(f.model.Config.Addons))...)
	slices.Sort(names)
	return slices.Compact(names)
}
