package apply

import (
	"context"
	"strings"

	"github.com/talosgen/talosgen/apply/preflight"
)

// Rotations are those that the tree of an environment is in the middle of: it has
// authorities that are trusted beside the one that signs.
func Rotations(ctx context.Context, e *Environment) (kinds []string, err error) {
	authorities, err := e.authorities(ctx)
	if err != nil {
		return nil, err
	}
	for _, kind := range authorities.Rotating() {
		kinds = append(kinds, string(kind))
	}
	return kinds, nil
}

// RotationFinding reminds of a rotation that is not at its end; nil if there is none.
func RotationFinding(ctx context.Context, e *Environment) *preflight.Finding {
	const check = "rotation"
	kinds, err := Rotations(ctx, e)
	switch {
	case err != nil:
		return &preflight.Finding{Check: check, State: preflight.Warning, Text: "whether one is under way is not known: " + oneLine(err)}
	case len(kinds) == 0:
		return nil
	}
	return &preflight.Finding{Check: check, State: preflight.Warning, Text: strings.Join(kinds, ", ") + " is under way: nodes trust two",
		Hint: "when all nodes have this phase: talosgen rotate " + e.Name() + " " + kinds[0]}
}
