package scaffold

import (
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

// What init is told of who may use the APIs is in cluster.yaml. Without it there
// is a place for it, which is marked.
func TestAPISource(t *testing.T) {
	for _, tt := range []struct {
		name   string
		given  []string
		want   []string
		marked bool
	}{
		{"none", nil, []string{}, true},
		{"an address", []string{"203.0.113.7"}, []string{"203.0.113.7/32"}, false},
		{"ranges of both versions", []string{"203.0.113.0/24", "2001:db8::/32", "2001:db8::7"}, []string{"203.0.113.0/24", "2001:db8::/32", "2001:db8::7/128"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := options("hetzner")
			o.APISource = tt.given
			text := content(t, files(t, o), "envs/dev/cluster.yaml")
			var cluster struct {
				Hetzner struct {
					Firewall struct {
						APISource []string `yaml:"apiSource"`
						IPv4      bool     `yaml:"useCurrentIpv4"`
						IPv6      bool     `yaml:"useCurrentIpv6"`
					} `yaml:"firewall"`
				} `yaml:"hetzner"`
			}
			if err := yaml.Unmarshal([]byte(text), &cluster); err != nil {
				t.Fatal(err)
			}
			f := cluster.Hetzner.Firewall
			if !slices.Equal(f.APISource, tt.want) || f.APISource == nil {
				t.Errorf("apiSource is %q, not %q", f.APISource, tt.want)
			}
			if !f.IPv4 || !f.IPv6 {
				t.Error("with sources of its own, apply would not be let in from elsewhere")
			}
			if marked := strings.Contains(text, "# EDIT: from where"); marked != tt.marked {
				t.Errorf("marked with EDIT: %v", marked)
			}
		})
	}
}
