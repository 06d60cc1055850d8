package foreign

import (
	"io/fs"
	"path"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/yamlerror"
)

// brokenBundle says what is wrong with a file that is called like a secrets bundle, and is
// none; nil if there is no such file.
func brokenBundle(l *layered) error {
	for _, dir := range append(l.dirs[:len(l.dirs):len(l.dirs)], "secrets", ".") {
		for _, file := range yamlIn(l.Files, dir) {
			if name := path.Base(file); !strings.HasPrefix(name, "secret") && !strings.HasPrefix(name, "talsecret") {
				continue
			}
			data, err := fs.ReadFile(l.Files, file)
			if err != nil {
				return diag.New(diag.Pos{File: file}, "cannot be read").WithCause(err)
			}
			var any yaml.Node
			if err := yaml.Unmarshal(data, &any); err != nil {
				return yamlerror.Syntax(file, data, err)
			}
			return diag.New(diag.Pos{File: file}, "is no secrets bundle: its first document has no certs: and trustdinfo:").
				WithHint("`talosctl gen secrets` writes one; of a cluster that runs, `talosctl gen secrets --from-controlplane-config` does").WithCode(diag.Secrets)
		}
	}
	return nil
}
