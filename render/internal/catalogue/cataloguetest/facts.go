// Package cataloguetest gives tests the facts that a cluster.yaml leads to.
package cataloguetest

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/render/internal/catalogue"
	"github.com/talosgen/talosgen/render/internal/config"
	"github.com/talosgen/talosgen/render/internal/infra"
	"github.com/talosgen/talosgen/render/internal/subst"
	"github.com/talosgen/talosgen/schemas"
)

// secretVariables are those of every environment in tests.
var secretVariables = []string{"HCLOUD_TOKEN", "ROBOT_PASSWORD", "BACKUP_S3_ACCESS_KEY", "BACKUP_S3_SECRET_KEY", "OTHER_ACCESS", "OTHER_SECRET"}

// Canary is the value of a secret that is not generated.
func Canary(name string) string { return "canary-" + name }

// scope are the variables of every environment in tests.
func scope() *subst.Scope {
	vars := subst.Vars{"ROBOT_USER": {Value: "robot"}}
	for _, name := range secretVariables {
		vars[name] = subst.Var{Value: Canary(name), Secret: true}
	}
	return &subst.Scope{Vars: vars}
}

// EachWithout calls a function with the facts of a cluster.yaml without each of
// the options that it sets, though something may be wrong then.
func EachWithout(t testing.TB, cluster []byte, f catalogue.Facts, do func(option string, f catalogue.Facts)) {
	t.Helper()
	cfg, err := config.Load("cluster.yaml", config.Files{"cluster.yaml": cluster}, scope())
	if err != nil {
		t.Fatal(err)
	}
	for _, option := range cfg.Options() {
		without, _, err := config.LoadWithout("cluster.yaml", config.Files{"cluster.yaml": cluster}, scope(), option)
		if err != nil {
			t.Fatal(err)
		}
		f.Cluster = without.Cluster
		do(strings.Join(option, "."), f)
	}
}

// Facts are those of a cluster.yaml, with every secret that its addons need,
// but those that it names in a comment `# without NAME`.
func Facts(t testing.TB, cluster []byte) (catalogue.Facts, error) {
	t.Helper()
	cfg, err := config.Load("cluster.yaml", config.Files{"cluster.yaml": cluster}, scope())
	if err != nil {
		return catalogue.Facts{}, err
	}
	resolved, err := infra.Resolve(infra.Input{Config: cfg, Schematic: schematic, HostKey: "ssh-ed25519 AAAA"})
	if err != nil {
		return catalogue.Facts{}, err
	}
	f := catalogue.Facts{
		Environment: "dev", Cluster: cfg.Cluster, Infrastructure: *resolved,
		Secrets: map[string]secret.String{}, Autoscaled: map[string]secret.String{},
		ClusterRecipient: "age1am3j6k6r06rkvs7fns29erfxxfds434e6geqj29gfmcpfrskfgtse76mk3",
		Near:             cfg.Near,
	}
	for _, n := range catalogue.Needs(f) {
		if bytes.Contains(cluster, []byte("# without "+n.Name)) {
			continue
		}
		f.Secrets[n.Name] = secret.New(Canary(n.Name))
		if n.Copied {
			f.Secrets[n.Name], f.Shaped = secret.New(n.Shape), true
		} else if n.Generate != nil {
			if f.Secrets[n.Name], err = n.Generate(bytes.NewReader(bytes.Repeat([]byte{0xca}, 1024))); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, p := range resolved.AutoscalerPools {
		f.Autoscaled[p.Name] = secret.New("machine:\n  token: " + Canary("machine-"+p.Name) + "\n")
	}
	return f, nil
}

// schematic tells apart images by how many extensions they have.
func schematic(i schemas.NodeImage) (id, text string) {
	return strings.Repeat(fmt.Sprintf("%xa", len(i.Extensions)), 32), ""
}
