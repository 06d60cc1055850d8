package foreign

import (
	"strings"
	"testing"
	"time"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/render/internal/machine"
)

// cluster makes nodes of clusters from their bundles.
type cluster struct {
	t       *testing.T
	bundles map[string]*machine.Bundle
}

// node is a node of a cluster: cp.1 or worker.2, with the configuration of a contract.
func (c cluster) node(of, name, contract string, change ...string) Running {
	c.t.Helper()
	b := c.bundles[of]
	if b == nil {
		var err error
		if b, err = machine.PlaceholderBundle("v1.13", time.Unix(0, 0)); err != nil {
			c.t.Fatal(err)
		}
		c.bundles[of] = b
	}
	role := machine.ControlPlane
	if strings.HasPrefix(name, "w") {
		role = "worker"
	}
	cfg, err := machine.Generate(machine.Settings{
		ClusterName: "attic", Endpoint: "https://192.0.2.1:6443", Contract: contract, KubernetesVersion: "1.35.0",
		InstallDisk: "/dev/sda", InstallImage: "ghcr.io/siderolabs/installer:v1.13.9",
	}, role, b, b)
	if err != nil {
		c.t.Fatal(err)
	}
	var texts []string
	for _, d := range cfg.Documents() {
		text, err := d.Text()
		if err != nil {
			c.t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	text := strings.Join(texts, "---\n")
	for i := 0; i+1 < len(change); i += 2 {
		changed := strings.Replace(text, change[i], change[i+1], 1)
		if changed == text {
			c.t.Fatalf("%s has no %q", name, change[i])
		}
		text = changed
	}
	return Running{Hostname: name, Address: "192.0.2." + name[len(name)-1:], Talos: "v1.14.0", Config: secret.New(text)}
}

// value is the line of a configuration that begins with a key below another one.
func value(t *testing.T, n Running, after, key string) string {
	t.Helper()
	_, rest, _ := strings.Cut(n.Config.Reveal(), after)
	for line := range strings.Lines(rest) {
		if strings.HasPrefix(strings.TrimSpace(line), key+": ") {
			return strings.TrimSpace(line)
		}
	}
	t.Fatalf("no %s behind %s", key, after)
	return ""
}

// TestRunningSameCluster: nodes of one cluster are taken together, whichever documents
// their values are in, and any value of another cluster is refused.
func TestRunningSameCluster(t *testing.T) {
	c := cluster{t, map[string]*machine.Bundle{}}
	for _, contract := range []string{"v1.12", "v1.13", "v1.14"} {
		for _, other := range []string{"v1.12", "v1.13", "v1.14"} {
			cp, ours, theirs := c.node("a", "cp1", contract), c.node("a", "w2", other), c.node("b", "w2", other)
			if _, err := OfRunning([]Running{cp, ours}); err != nil {
				t.Errorf("%s and %s, one cluster: %v", contract, other, err)
			}
			if got := refusal(OfRunning([]Running{cp, theirs})); strings.Count(got, "node 192.0.2.2: has another ") != 6 {
				t.Errorf("%s and %s, two clusters: %s", contract, other, got)
			}
			for what, at := range map[string][2]string{
				"machine token": {"machine:", "token"}, "machine authority": {"machine:", "crt"}, "bootstrap token": {"cluster:", "token"},
				"cluster id": {"", "clusterID"}, "cluster secret": {"", "clusterSecret"}, "Kubernetes authority": {"", "acceptedCAs"},
			} {
				old, changed := place(t, ours, other, at), place(t, theirs, other, at)
				got := refusal(OfRunning([]Running{cp, c.node("a", "w2", other, old, changed)}))
				if got != "node 192.0.2.2: has another "+what+" than node 192.0.2.1\n" {
					t.Errorf("%s and %s, another %s: %s", contract, other, what, got)
				}
			}
		}
	}
}

// place is the text of a value where a contract has it.
func place(t *testing.T, n Running, contract string, at [2]string) string {
	t.Helper()
	old := map[string]string{"clusterID": "id", "clusterSecret": "secret", "acceptedCAs": "crt"}[at[1]]
	switch {
	case old == "":
		return value(t, n, at[0], at[1])
	case contract != "v1.14":
		return value(t, n, "cluster:", old)
	case at[1] != "acceptedCAs":
		return value(t, n, "DiscoveryIdentityConfig", at[1])
	}
	_, list, _ := strings.Cut(n.Config.Reveal(), "acceptedCAs:")
	list, _, _ = strings.Cut(list, "-----END")
	return list
}

// TestRunningRotation: while an authority is replaced, nodes accept both.
func TestRunningRotation(t *testing.T) {
	c := cluster{t, map[string]*machine.Bundle{}}
	cp, other := c.node("a", "cp1", "v1.13"), c.node("b", "cp1", "v1.13")
	mine := value(t, cp, "machine:", "crt")
	theirs := value(t, other, "machine:", "crt")
	worker := c.node("a", "w2", "v1.13", mine, theirs, "    certSANs: []\n", "    certSANs: []\n    acceptedCAs:\n        - "+mine+"\n")
	if _, err := OfRunning([]Running{cp, worker}); err != nil {
		t.Error(err)
	}
}

// TestRunningRefused: what else keeps nodes from being one environment, with their names.
func TestRunningRefused(t *testing.T) {
	c := cluster{t, map[string]*machine.Bundle{}}
	cp, worker := c.node("a", "cp1", "v1.13"), c.node("a", "w2", "v1.13")
	older, twin := worker, cp
	older.Talos, twin.Address = "v1.13.9", "192.0.2.7"
	for name, test := range map[string]struct {
		nodes []Running
		want  string
	}{
		"mixed versions": {[]Running{cp, older}, "node 192.0.2.2: runs Talos v1.13.9, and node 192.0.2.1 runs v1.14.0\n"},
		"named alike":    {[]Running{cp, twin}, "node 192.0.2.7: is named cp1, as node 192.0.2.1 is\n"},
		"only workers":   {[]Running{worker}, "the nodes: none of them is a control plane\n"},
	} {
		if got := refusal(OfRunning(test.nodes)); got != test.want {
			t.Errorf("%s: got %s\nwant %s", name, got, test.want)
		}
	}
}

// refusal is what an error says, a line for each problem.
func refusal(_ *Origin, err error) string {
	var all diag.List
	all.AddErr(err)
	var out strings.Builder
	for _, p := range all {
		what, _, _ := strings.Cut(p.Error(), "\n") // without the hint
		out.WriteString(what + "\n")
	}
	return out.String()
}
