package cloud_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/apply/plan/cloud/plantest"
	"github.com/talosgen/talosgen/schemas"
)

// The environments that are shipped can be made, and then nothing is left to do.
func TestShippedEnvironments(t *testing.T) {
	files, err := filepath.Glob("../../../rendered/*/infrastructure.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no environments", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(filepath.Dir(file)), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var desired schemas.Infrastructure
			d := yaml.NewDecoder(bytes.NewReader(text))
			d.KnownFields(true)
			if err := d.Decode(&desired); err != nil {
				t.Fatal(err)
			}
			m := plantest.NewModel(supplied(desired))
			p := mustMake(t, desired, m, plan.Policy{})
			t.Log(p)
			converge(t, desired, m, 7)
		})
	}
}

// supplied is an empty project that has what servers ask for: SSH keys, and
// every type that is not in the small catalogue.
func supplied(desired schemas.Infrastructure) cloud.Observed {
	o := plantest.Empty()
	known := map[string]bool{}
	for _, t := range o.Catalogue.ServerTypes {
		known[t.Name] = true
	}
	like := o.Catalogue.ServerTypes[2]
	for i, s := range desired.Servers {
		for _, name := range s.SSHKeys {
			o.SSHKeys = append(o.SSHKeys, cloud.SSHKey{Meta: cloud.Meta{ID: int64(100 + i), Name: name}})
		}
		for _, name := range s.Types {
			if !known[name] {
				known[name] = true
				like.Name, like.Architecture = name, s.Image.Architecture
				o.Catalogue.ServerTypes = append(o.Catalogue.ServerTypes, like)
			}
		}
	}
	return o
}
