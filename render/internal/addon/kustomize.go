package addon

import (
	"io/fs"
	"path"

	"github.com/talosgen/talosgen/internal/manifest"
)

func hasKustomization(files fs.FS, dir string) bool {
	for _, name := range []string{"kustomization.yaml", "kustomization.yml", "Kustomization"} {
		if _, err := fs.Stat(files, path.Join(dir, name)); err == nil {
			return true
		}
	}
	return false
}

// Customize is next.
func (e *Engine) Customize(dir string, objects []manifest.Object) ([]manifest.Object, error) {
	return objects, nil
}
