package render_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/schemas"
	"github.com/talosgen/talosgen/testenv/toolenv"
)

var (
	// realName is the shortest name that a cluster of the examples may have: texts
	// of six letters and more were taken for secrets once, and names of three or
	// four letters did not show it.
	realName = regexp.MustCompile(`^[a-z][a-z0-9-]{4,30}[a-z0-9]$`)
	// realToken is the form of an API token of Hetzner Cloud.
	realToken = regexp.MustCompile(`^[A-Za-z0-9]{64}$`)
)

// TestShippedNames: the clusters of the examples have names as people give them,
// not those of their environments, one of them long and of several words; and
// their tokens have the form of real ones. What works with "dev" and "x" alone
// fails here.
func TestShippedNames(t *testing.T) {
	var longest string
	tokens := map[string]bool{}
	for _, env := range shippedEnvs(t) {
		var infra schemas.Infrastructure
		if err := yaml.Unmarshal([]byte(readFile(t, shipped, "rendered/"+env+"/"+schemas.InfrastructureFile)), &infra); err != nil {
			t.Fatal(err)
		}
		if !realName.MatchString(infra.Cluster) {
			t.Errorf("%s: the cluster is called %q", env, infra.Cluster)
		}
		// The sample of the specification is named by it.
		if infra.Cluster == env && env != "talos-k8s" {
			t.Errorf("%s: the cluster is called as its environment is: nothing shows which of the two a text means", env)
		}
		if len(infra.Cluster) > len(longest) {
			longest = infra.Cluster
		}
		if env == "home" { // machines of its own
			continue
		}
		token, err := run(exampleKey(t), toolenv.Sops(t), "-d", "--extract", `["variables"]["HCLOUD_TOKEN"]`, filepath.Join(shipped, "envs", env, "secrets.sops.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		token = strings.TrimSpace(token)
		if !realToken.MatchString(token) || tokens[token] {
			t.Errorf("%s: its token has %d characters, and is not one of Hetzner's form of its own", env, len(token))
		}
		tokens[token] = true
	}
	if len(longest) < 24 || strings.Count(longest, "-") < 3 {
		t.Errorf("the longest name is %q", longest)
	}
	if len(tokens) != 3 {
		t.Errorf("%d tokens", len(tokens))
	}
}
