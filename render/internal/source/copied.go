package source

import (
	"bytes"
	"errors"
	"io/fs"
	"path"

	"github.com/talosgen/talosgen/internal/diag"
)

// encryptedParts are what no two environments have in common unless one was copied
// from the other: the seals of data keys, and encrypted values, whose nonces are
// random in the sources. It looks for them as bytes: every render asks, of the
// files of all environments.
func encryptedParts(data []byte) map[string]bool {
	const value, seal = "ENC[AES256_GCM,", "seal: "
	parts := map[string]bool{}
	for rest := data; ; {
		_, after, found := bytes.Cut(rest, []byte(value))
		if !found {
			break
		}
		inner, next, closed := bytes.Cut(after, []byte("]"))
		if !closed {
			break
		}
		parts[value+string(inner)] = true
		rest = next
	}
	for line := range bytes.Lines(data) {
		text := bytes.TrimSpace(line)
		if indented := len(line) > 0 && line[0] == ' '; indented && bytes.HasPrefix(text, []byte(seal)) {
			parts[string(text)] = true
		}
	}
	return parts
}

// CheckCopied refuses an environment that has the keys or secrets of another one:
// their clusters would have the same authorities, and each could be taken for the
// other. It needs no key.
func (e *Environment) CheckCopied() error {
	envs, err := e.Repo.Environments()
	if err != nil {
		return err
	}
	var problems diag.List
	for _, name := range []string{KeyringFile, SecretsName} {
		mine := encryptedParts(e.Raw[e.File(name)])
		for _, other := range envs {
			if other == e.Name || len(mine) == 0 || len(problems) > 0 {
				continue
			}
			file := path.Join(EnvsDir, other, name)
			data, err := e.Repo.Files.ReadFile(file)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				problems.Add(diag.New(diag.Pos{File: file}, "cannot be read: %v", Reason(err)).WithCause(err))
				continue
			}
			for part := range encryptedParts(data) {
				if mine[part] {
					problems.Add(copied(e.File(name), file, other, e.Name))
					break
				}
			}
		}
	}
	return problems.Err()
}

func copied(mine, theirs, other, env string) *diag.Problem {
	return diag.New(diag.Pos{File: mine}, "has the same keys as %s: one environment was copied from the other", theirs).
		WithHint("their clusters would have the same certificate authorities, and what one may do the other could\n"+
			"in the copy, %s or %s, remove %s and %s, and make others with `talosgen secrets init`", env, other, SecretsName, KeyringFile).
		WithCode(diag.Secrets)
}
