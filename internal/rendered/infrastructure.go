package rendered

import (
	"errors"
	"path"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/schemas"
)

// Infrastructure reads the desired state of what a cluster runs on, among the
// files of the tree in a directory. What this talosgen does not know is refused,
// not left out: it would be left undone.
func Infrastructure(dir string, files map[string][]byte) (schemas.Infrastructure, error) {
	var infra schemas.Infrastructure
	pos := diag.Pos{File: path.Join(dir, schemas.InfrastructureFile)}
	data, ok := files[schemas.InfrastructureFile]
	if !ok {
		return infra, diag.New(pos, "is not in the rendered tree").
			WithHint("the tree was rendered by a talosgen that did not write it: run `talosgen render %s`", path.Base(dir))
	}
	var head struct {
		APIVersion string `yaml:"apiVersion"`
	}
	if err := yaml.Load(data, &head, yaml.WithKnownFields(false)); err != nil {
		return infra, notInfrastructure(pos, err)
	}
	if head.APIVersion != schemas.InfrastructureVersion {
		return infra, diag.New(pos, "apiVersion %q is not known, only %s", head.APIVersion, schemas.InfrastructureVersion).
			WithHint("render it with this talosgen, or apply it with the one that rendered it")
	}
	if err := yaml.Load(data, &infra, yaml.WithKnownFields(true)); err != nil {
		return infra, notInfrastructure(pos, err)
	}
	if infra.Cluster == "" {
		return infra, diag.New(pos, "names no cluster").WithHint("run `talosgen render %s --force`", path.Base(dir))
	}
	return infra, nil
}

func notInfrastructure(pos diag.Pos, err error) error {
	message := err.Error()
	var load *yaml.LoadError
	if errors.As(err, &load) {
		pos.Line, pos.Column, message = load.Mark.Line, load.Mark.Column, load.Message
	}
	return diag.New(pos, "cannot be read: %s", message).
		WithHint("another version of talosgen wrote it: render it again with this one").WithCause(err)
}
