package running

import (
	"encoding/base64"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/apply/internal/node"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
)

// Access is a context of a talosconfig: who one is for which nodes.
type Access struct {
	Nodes       []string
	credentials node.Credentials
}

// Key is the private key, for those who mask it.
func (a *Access) Key() secret.String { return a.credentials.Key }

// ParseAccess reads the context of a talosconfig that is named; the current one if none is.
func ParseAccess(file string, data []byte, context string) (*Access, error) {
	var f struct {
		Context  string `yaml:"context"`
		Contexts map[string]struct {
			Nodes []string `yaml:"nodes"`
			CA    string   `yaml:"ca"`
			Crt   string   `yaml:"crt"`
			Key   string   `yaml:"key"`
		} `yaml:"contexts"`
	}
	if yaml.Unmarshal(data, &f) != nil { // the error could quote the key
		return nil, diag.New(diag.Pos{File: file}, "cannot be read as a talosconfig").WithCode(diag.Usage)
	}
	if context == "" {
		context = f.Context
	}
	c, there := f.Contexts[context]
	if !there {
		var names []string
		for name := range f.Contexts {
			names = append(names, name)
		}
		slices.Sort(names)
		return nil, diag.New(diag.Pos{File: file}, "has no context %q", context).
			WithHint("contexts: %s", strings.Join(names, ", ")).WithCode(diag.Usage)
	}
	ca, err1 := base64.StdEncoding.DecodeString(c.CA)
	crt, err2 := base64.StdEncoding.DecodeString(c.Crt)
	key, err3 := base64.StdEncoding.DecodeString(c.Key)
	if err1 != nil || err2 != nil || err3 != nil || len(ca) == 0 || len(crt) == 0 || len(key) == 0 {
		return nil, diag.New(diag.Pos{File: file}, "context %q has no client certificate with its key and authority", context).WithCode(diag.Secrets)
	}
	return &Access{Nodes: c.Nodes, credentials: node.Credentials{Authority: ca, Certificate: crt, Key: secret.New(string(key))}}, nil
}
