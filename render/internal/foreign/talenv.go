package foreign

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/sopsage"
	"github.com/talosgen/talosgen/internal/yamlerror"
	"github.com/talosgen/talosgen/internal/yamltext"
	"github.com/talosgen/talosgen/render/internal/subst"
)

// talenvFiles are the files with variables that talhelper reads, in its order.
var talenvFiles = []string{"talenv.yaml", "talenv.sops.yaml", "talenv.yml", "talenv.sops.yml"}

// EncryptedVariable is a variable of the source that is encrypted there.
type EncryptedVariable struct {
	Name, File string
	Value      secret.String
}

// readTalenv reads the variables of talhelper's. The environment of the process is not
// read, as nobody else would have the same.
func (r *generated) readTalenv() error {
	r.vars = shellVariables{}
	for _, file := range talenvFiles {
		raw, err := fs.ReadFile(r.Files, file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		data, err := r.read(file)
		if err != nil {
			return err
		}
		var values map[string]any
		if err := yaml.Unmarshal(data, &values); err != nil {
			return yamlerror.Syntax(file, data, err)
		}
		for _, name := range sortedKeys(values) {
			v := subst.Var{Value: fmt.Sprint(values[name]), Pos: diag.Pos{File: file}}
			r.vars[name] = v
			if s := secret.New(v.Value); s.Recognisable() && sopsage.IsEncryptedYAML(raw) && !bytes.Contains(raw, []byte(v.Value)) {
				r.origin.Encrypted = append(r.origin.Encrypted, EncryptedVariable{Name: name, File: file, Value: s})
			}
		}
	}
	return nil
}

// readReferred reads the files that talconfig.yaml names and that are encrypted: what is
// secret in them is so in the configurations too.
func (r *generated) readReferred(doc *yaml.Node) error {
	var problems diag.List
	eachScalar(nil, doc, func(_ yamltext.Path, n *yaml.Node) {
		file := path.Clean(strings.TrimPrefix(strings.TrimSpace(n.Value), "@"))
		if !fs.ValidPath(file) || path.Ext(file) == "" || strings.ContainsAny(n.Value, "\n") {
			return
		}
		if data, err := fs.ReadFile(r.Files, file); err == nil && sopsage.IsEncryptedYAML(data) {
			_, err := r.read(file)
			problems.AddErr(err)
		}
	})
	return problems.Err()
}

// known refuses a text of talconfig.yaml with a variable that has no value here: it is in
// a name by which a configuration is found.
func (r *generated) known(what, text string) error {
	for _, ref := range reference.FindAllString(text, -1) {
		why := r.vars.unknown(ref)
		if why == "" {
			continue
		}
		data, _ := fs.ReadFile(r.Files, r.file) // it was read before
		at := bytes.Index(data, []byte(ref))
		return diag.New(diag.Pos{File: r.file, Line: 1 + bytes.Count(data[:max(at, 0)], []byte("\n"))},
			"%s is %s, and %s is no variable of talenv.yaml; the environment of the process is not read", what, text, ref).
			WithHint("write it into talenv.yaml: NAME: value; then import again")
	}
	return nil
}
