package secretplaces

import (
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/yamltext"
)

func TestPlaces(t *testing.T) {
	for _, c := range []struct {
		kind, path        string
		certain, possible bool
	}{
		{"", "machine.token", true, false},
		{"", "machine.ca.crt", false, false},
		{"", "machine.ca.key", true, false},
		{"", "cluster.id", true, false},
		{"KubeNetworkConfig", "id", false, false},
		{"", "machine.registries.config.ghcr.auth.auth", true, false},
		{"", "machine.env.HTTP_PROXY", false, true},
		{"", "machine.sysctls.key", true, false}, // rather hidden than shown
		{"", "cluster.apiServer.extraArgs.v", false, true},
		{"KubeAPIServerConfig", "extraArgs.v", false, true},
		{"KubeAPIServerConfig", "image", false, false},
		{"EnvironmentConfig", "variables.A", false, true},
		{"WireguardConfig", "peers.presharedKey", true, false},
	} {
		var path yamltext.Path
		for _, key := range strings.Split(c.path, ".") {
			path = append(path, yamltext.Key(key))
		}
		if certain, possible := Certain(c.kind, path), Possible(c.kind, path); certain != c.certain || possible != c.possible {
			t.Errorf("%s %s: certain %v, possible %v", c.kind, c.path, certain, possible)
		}
	}
	items := yamltext.Path{yamltext.Key("machine"), yamltext.Key("files"), yamltext.Index(3), yamltext.Key("content")}
	if !Possible("", items) {
		t.Error("the content of a file is free text")
	}
}

func TestTexts(t *testing.T) {
	for text, want := range map[string][2]bool{
		"REGISTRY_PASSWORD":                   {true, false},
		"TS_AUTHKEY=x":                        {true, false},
		"s3_access_key":                       {true, false},
		"CLUSTER_NAME":                        {false, false},
		"MONKEY":                              {false, false},
		"http://ada:horse@proxy.example.com":  {false, true},
		"http://proxy.example.com/a@b":        {false, false},
		"-----BEGIN EC PRIVATE KEY-----":      {false, true},
		"apiVersion: v1\nkind: ConfigMap\n":   {false, false},
		"apiVersion: v1\nkind: Secret\ndata:": {true, true},
	} {
		if named, holds := Named(text), Holds(text); named != want[0] || holds != want[1] {
			t.Errorf("%q: named %v, holds %v", text, named, holds)
		}
	}
}
