package addons

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/manifest"
	"github.com/talosgen/talosgen/render/internal/addon"
	"github.com/talosgen/talosgen/render/internal/catalogue"
)

// kustomizationFiles are the names that kustomize knows.
var kustomizationFiles = []string{"kustomization.yaml", "kustomization.yml", "Kustomization"}

// customized adds the manifests of the user to what an addon was rendered to, or
// lets a kustomization of the user change it. Definitions of custom resources
// stay as they are.
func (b *builder) customized(a catalogue.Addon, v *variant, engine *addon.Engine, made addon.Result) ([]manifest.Object, error) {
	dir, files := b.folders.own(a)
	objects := made.Objects
	var err error
	kustomization := slices.IndexFunc(files, func(file string) bool {
		return path.Dir(file) == dir && slices.Contains(kustomizationFiles, path.Base(file))
	})
	switch {
	case len(files) == 0:
	case kustomization >= 0:
		b.warnOfVariables(files[kustomization])
		objects, err = engine.Customize(dir, objects)
	default:
		objects, err = b.reader.withManifests(a, v, files, objects, made.CRDs)
	}
	return append(slices.Clone(made.CRDs), objects...), err
}

// warnOfVariables warns of variables in a kustomization, which stay as they are.
func (b *builder) warnOfVariables(file string) {
	text := string(b.texts.Files[file])
	for _, name := range slices.Sorted(maps.Keys(b.model.Scope.Vars)) {
		if strings.Contains(text, "${"+name+"}") {
			b.warnings.Add(diag.New(diag.Pos{File: file}, "${%s} stays as it is: kustomize knows no variables", name).
				WithHint("use it in the values of the chart, or in a manifest of an addon without a kustomization"))
		}
	}
}
