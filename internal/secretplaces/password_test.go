package secretplaces

import (
	"testing"

	"github.com/talosgen/talosgen/internal/yamltext"
)

// TestPassword has places of values, and whether these are secret by their own names.
func TestPassword(t *testing.T) {
	key, index := yamltext.Key, yamltext.Index
	for _, c := range []struct {
		path yamltext.Path
		want bool
	}{
		{yamltext.Path{key("password")}, true},
		{yamltext.Path{key("machine"), key("network"), key("interfaces"), index(0), key("vip"), key("hcloud"), key("apiToken")}, true},
		{yamltext.Path{key("taints"), index(0), key("key")}, false},
		{yamltext.Path{key("token"), key("ttl")}, false},
		{yamltext.Path{key("secret"), index(0)}, false},
		{yamltext.Path{key("username")}, false},
		{nil, false},
	} {
		if got := Password(c.path); got != c.want {
			t.Errorf("%s: %v", c.path, got)
		}
	}
}
