package rendered

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/talosgen/talosgen/internal/diag"
)

// A tree is read in the directory of its own environment alone, whichever
// version its lock has.
func TestReadRefusesTheTreeOfAnotherEnvironment(t *testing.T) {
	first := func(inputs ...string) string {
		l := &Lock{Version: firstFormat, Origin: Origin{Talosgen: "0.1.0"}}
		for _, path := range inputs {
			l.Inputs = append(l.Inputs, Entry{path, digestA})
		}
		l.Inputs = Sorted(l.Inputs)
		l.Seal = l.ComputeSeal(nil)
		return string(l.Encode())
	}
	second := func(env string) string {
		l, err := NewLock(Origin{Talosgen: "0.1.0", Environment: env, Cluster: "blue"}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		l.Seal = l.ComputeSeal(nil)
		return string(l.Encode())
	}
	for name, tt := range map[string]struct{ lock, want string }{
		"its own":               {second("prod"), ""},
		"another's":             {second("dev"), "rendered/prod/render.lock.yaml: the tree was rendered for the environment dev, and is in the directory of prod"},
		"another's, alike":      {second("prod2"), "for the environment prod2"},
		"first, its own":        {first(".sops.yaml", "envs/example.agekey", "envs/prod/cluster.yaml"), ""},
		"first, another's":      {first("envs/dev/cluster.yaml", "patches/a.yaml"), "for the environment dev"},
		"first, of none":        {first("patches/prod/a.yaml"), "for the environment (none)"},
		"first, a file prod":    {first("envs/prod"), "for the environment (none)"},
		"first, its shared too": {first("envs/dev/a.yaml", "envs/prod/cluster.yaml"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Read(fstest.MapFS{LockName: {Data: []byte(tt.lock)}}, "rendered/prod", "0.1.0")
			switch {
			case tt.want == "":
				if err != nil {
					t.Error(err)
				}
			case err == nil || !strings.Contains(err.Error(), tt.want) || diag.CodeOf(err) != diag.Secrets:
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

func TestCheckCluster(t *testing.T) {
	for _, tt := range []struct {
		lock Lock
		want bool
	}{
		{Lock{Version: firstFormat}, true},
		{Lock{Version: formatVersion, Origin: Origin{Cluster: "blue"}}, true},
		{Lock{Version: formatVersion, Origin: Origin{Cluster: "green"}}, false},
	} {
		if err := tt.lock.CheckCluster("rendered/prod", "blue"); (err == nil) != tt.want {
			t.Errorf("%+v: %v", tt.lock, err)
		}
	}
}
