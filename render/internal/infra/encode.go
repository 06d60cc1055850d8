package infra

import (
	"bytes"
	"fmt"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/schemas"
)

// Encode writes infrastructure.yaml. source is the file that it was made from.
func Encode(out *schemas.Infrastructure, source string) ([]byte, error) {
	what := "The desired state of Hetzner Cloud"
	if out.Provider == schemas.Static {
		what = "The machines of the cluster"
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "# %s, resolved by talosgen from\n# %s. Never edited: apply reads it.\n", what, source)
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(4)
	if err := enc.Encode(out); err != nil {
		return nil, err
	}
	return b.Bytes(), enc.Close()
}
