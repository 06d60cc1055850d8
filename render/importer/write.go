package importer

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/atomicfile"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/sopsage"
	"github.com/talosgen/talosgen/render/internal/secretsfile"
	"github.com/talosgen/talosgen/render/internal/source"
)

// there reports whether the environment is in the repository already, as it would be
// written. One that differs is an error. If it is there, it is what is proven.
func (i *importing) there(m *made) (bool, error) {
	names, err := i.src.Files.ReadDir(i.path(""))
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(names) == 0 {
		return false, nil
	}
	have, err := i.src.ReadEnvironment(i.env)
	if err != nil {
		return false, err
	}
	own := map[string][]byte{}
	for name, data := range have.Raw {
		if strings.HasPrefix(name, i.path("")+"/") {
			own[name] = data
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.files)) {
		if data, ok := own[name]; !ok || !sopsage.NamedEncrypted(name) && name != i.path(source.KeyringFile) && !bytes.Equal(data, m.files[name]) {
			return false, i.exists(name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(own)) {
		if _, ok := m.files[name]; !ok {
			return false, i.exists(name)
		}
	}
	if err := i.sameSecrets(have, m.secrets); err != nil {
		return false, err
	}
	m.source = have
	return true, nil
}

func (i *importing) exists(name string) error {
	return diag.New(diag.Pos{File: name}, "environment %q is there already, and this file is not as it would be imported", i.env).
		WithHint("an environment is never overwritten: import under another name, and compare")
}

// sameSecrets compares what is encrypted.
func (i *importing) sameSecrets(have *source.Environment, want *secretsfile.Secrets) error {
	if err := have.FindKeys(); err != nil {
		return err
	}
	file := i.path(source.SecretsName)
	plain, err := have.Keys.DecryptYAML(i.ctx, file, have.Raw[file])
	if err != nil {
		return err
	}
	s, err := secretsfile.Parse(file, plain)
	if err != nil {
		return err
	}
	same := func(a, b secret.String) bool { return a.Reveal() == b.Reveal() }
	if !sameYAML(s.Talos, want.Talos) || !maps.EqualFunc(s.Variables, want.Variables, same) {
		return i.exists(file)
	}
	return nil
}

// write puts the environment in place, as a whole: beside it first, then under its name.
func (i *importing) write(files map[string][]byte) error {
	stage := "." + i.env + ".import"
	dir := filepath.Join(i.src.Root(), source.EnvsDir, stage)
	fail := func(err error) error {
		return errors.Join(diag.New(diag.Pos{File: i.path("")}, "cannot be written: %v", source.Reason(err)).WithCause(err), os.RemoveAll(dir))
	}
	if err := os.RemoveAll(dir); err != nil { // of one that was interrupted
		return fail(err)
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if source.AllSecret(name) {
			if err := sopsage.CheckWhole(name, files[name]); err != nil {
				return err
			}
		}
		to := filepath.Join(dir, filepath.FromSlash(strings.TrimPrefix(name, i.path("")+"/")))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return fail(err)
		}
		if err := atomicfile.Create(to, files[name], 0o644); err != nil {
			return fail(err)
		}
	}
	to := filepath.Join(i.src.Root(), source.EnvsDir, i.env)
	if info, err := os.Lstat(to); err == nil && info.IsDir() {
		if err := os.Remove(to); err != nil { // an empty one; with files in it, it stays
			return fail(err)
		}
	}
	if err := os.Rename(dir, to); err != nil {
		return fail(err)
	}
	return nil
}

// sameYAML compares two texts of secrets as YAML.
func sameYAML(a, b secret.String) bool {
	return a.Reveal() == b.Reveal() || normal(a) == normal(b) && normal(a) != ""
}

// normal is a text of YAML in one form; empty if it is none.
func normal(s secret.String) string {
	var v any
	if yaml.Unmarshal([]byte(s.Reveal()), &v) != nil {
		return ""
	}
	text, err := yaml.Marshal(v)
	if err != nil {
		return ""
	}
	return string(text)
}
