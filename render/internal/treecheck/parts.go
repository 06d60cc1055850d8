package treecheck

import (
	"path"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/manifest"
)

// parts are the files that kustomizations build objects with, and that hold none to
// apply: patches, what generators put into ConfigMaps and Secrets, values of charts, and
// kustomize's own configuration; and the templates of Helm charts.
func (c *checker) parts() (map[string]bool, error) {
	names := map[string]bool{}
	all, err := c.files.everything(c.in.Dir)
	charts := map[string]bool{}
	for _, file := range all {
		charts[path.Dir(file)] = charts[path.Dir(file)] || path.Base(file) == "Chart.yaml"
	}
	for _, file := range all {
		names[file] = names[file] || isTemplate(file, charts)
		if !isKustomization(file) {
			continue
		}
		text, err := c.files.text(file)
		if err != nil {
			return nil, err
		}
		var k map[string]any
		if yaml.Unmarshal(text, &k) != nil {
			continue // whoever builds it says what is wrong
		}
		for _, name := range partsOf(k) {
			names[path.Join(path.Dir(file), name)] = true
		}
	}
	return names, err
}

// isTemplate reports whether a file is a template of one of the charts, by its path.
func isTemplate(file string, charts map[string]bool) bool {
	for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
		if path.Base(dir) == "templates" && charts[path.Dir(dir)] {
			return true
		}
	}
	return false
}

// partsOf are those that a kustomization names, by their paths from it.
func partsOf(k map[string]any) (names []string) {
	for _, list := range []string{"patchesStrategicMerge", "configurations", "crds", "transformers", "generators", "validators"} {
		names = append(names, manifest.Texts(k[list])...)
	}
	for _, list := range []string{"patches", "patchesJson6902", "replacements"} {
		for _, p := range manifest.Maps(k[list]) {
			names = append(names, manifest.Text(p["path"]))
		}
	}
	for _, list := range []string{"configMapGenerator", "secretGenerator"} {
		for _, g := range manifest.Maps(k[list]) {
			names = append(append(names, manifest.Texts(g["envs"])...), manifest.Text(g["env"]))
			for _, f := range manifest.Texts(g["files"]) {
				if _, name, keyed := strings.Cut(f, "="); keyed {
					f = name
				}
				names = append(names, f)
			}
		}
	}
	for _, chart := range manifest.Maps(k["helmCharts"]) {
		names = append(append(names, manifest.Texts(chart["additionalValuesFiles"])...), manifest.Text(chart["valuesFile"]))
	}
	return names
}
