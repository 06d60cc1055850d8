package apply

import (
	"context"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/apply/preflight"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/rotation"
)

// rotations are those that the tree of an environment is in the middle of: it has
// authorities or keys that are good beside the one that signs or encrypts.
type rotations struct{ env *Environment }

// underWay are their kinds.
func (r rotations) underWay(ctx context.Context) (kinds []rotation.Kind, err error) {
	authorities, err := r.env.authorities(ctx)
	if err != nil {
		return nil, err
	}
	kinds = authorities.Rotating()
	keys, err := r.ageKeys()
	if keys > 1 {
		kinds = append(kinds, rotation.AgeKey)
	}
	return kinds, err
}

// ageSecret is what Flux decrypts with.
const ageSecret = "bootstrap/flux/secret-sops-age.yaml"

// ageKeys counts the keys that Flux has. Their names are readable.
func (r rotations) ageKeys() (count int, err error) {
	var object struct {
		Data   map[string]yaml.Node `yaml:"data"`
		String map[string]yaml.Node `yaml:"stringData"`
	}
	if err := yaml.Unmarshal(r.env.files[ageSecret], &object); err != nil {
		return 0, diag.New(diag.Pos{File: r.env.path(ageSecret)}, "cannot be read: %v", err).WithCause(err)
	}
	for _, of := range []map[string]yaml.Node{object.Data, object.String} {
		for name := range of {
			if strings.HasSuffix(name, ".agekey") {
				count++
			}
		}
	}
	return count, nil
}

// RotationFinding reminds of a rotation that the tree is in the middle of; nil if there is
// none.
func (e *Environment) RotationFinding(ctx context.Context) *preflight.Finding {
	return rotations{e}.finding(ctx)
}

func (r rotations) finding(ctx context.Context) *preflight.Finding {
	const check = "rotation"
	kinds, err := r.underWay(ctx)
	switch {
	case err != nil:
		return &preflight.Finding{Check: check, State: preflight.Warning, Text: "whether one is under way is not known: " + oneLine(err)}
	case len(kinds) == 0:
		return nil
	}
	return &preflight.Finding{Check: check, State: preflight.Warning, Text: "that of " + kinds[0].Subject() + " is under way, and not at its end",
		Hint: "talosgen rotate " + r.env.Name() + " " + string(kinds[0]) + " --status prints what comes next"}
}
