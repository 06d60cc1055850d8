package config

import (
	"os"
	"path"
	"path/filepath"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/render/internal/subst"
)

// The environments that come with the repository are valid.
func TestShippedEnvironments(t *testing.T) {
	files, err := filepath.Glob("../../../envs/*/cluster.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no environments: %v", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := path.Join("envs", filepath.Base(filepath.Dir(file)), "cluster.yaml")
		if _, err := Load(name, Files{name: data}, environmentScope(t, filepath.Dir(file))); err != nil {
			t.Error(err)
		}
	}
}

// environmentScope are the variables of an environment. Of the secret ones, the
// names are readable.
func environmentScope(t *testing.T, dir string) *subst.Scope {
	env, err := os.ReadFile(dir + "/cluster.env")
	if err != nil {
		t.Fatal(err)
	}
	scope := testScope(t, env)
	data, err := os.ReadFile(dir + "/secrets.sops.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var secrets struct {
		Variables map[string]string `yaml:"variables"`
	}
	if err := yaml.Unmarshal(data, &secrets); err != nil {
		t.Fatal(err)
	}
	for name, value := range secrets.Variables {
		scope.Vars[name] = subst.Var{Value: value, Secret: true}
	}
	return scope
}
