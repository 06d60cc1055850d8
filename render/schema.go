package render

import (
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/versions"
	"github.com/talosgen/talosgen/render/internal/patchschema"
)

// PatchSchema is the JSON Schema of patches for machine configurations of a contract,
// such as v1.14. It needs no repository.
func PatchSchema(contract string) ([]byte, error) {
	release, known := versions.Of(contract)
	if !known {
		return nil, diag.On("", "contract %q is not known", contract).WithHint("there are the contracts %s, such as %s", versions.Range(), versions.Newest().Contract()).WithCode(diag.Usage)
	}
	return patchschema.Make(release.Minor)
}
