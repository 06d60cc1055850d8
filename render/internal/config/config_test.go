package config

import (
	"fmt"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/casetest"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render/internal/subst"
	"github.com/talosgen/talosgen/schemas"
)

const testFile = "envs/dev/cluster.yaml"

// TestLoad runs testdata/*.txtar: cluster.yaml, with the variables of
// cluster.env, where a name that begins with SECRET is a secret, gives
// nodes.txt or error.txt, and warnings.txt; and resolved.yaml, everything with
// its defaults, if the case has it. What is not in effect yet changes from day
// to day, and has a test of its own.
func TestLoad(t *testing.T) {
	casetest.Run(t, "testdata/*.txtar", results, loadCase)
}

var results = []string{"error.txt", "nodes.txt", "warnings.txt", "resolved.yaml"}

func loadCase(t *testing.T, in casetest.Case) map[string]string {
	c, err := loadFiles(t, in)
	if c == nil {
		return map[string]string{"error.txt": err.Error() + "\n"}
	}
	got := map[string]string{}
	if err != nil {
		got["error.txt"] = err.Error() + "\n"
	} else {
		got["nodes.txt"] = describe(c)
	}
	for _, w := range c.Warnings {
		if !strings.Contains(w.Message, "not in effect yet") && !strings.Contains(w.Message, "has no effect") {
			got["warnings.txt"] += w.Error() + "\n"
		}
	}
	if _, ok := in.Texts["resolved.yaml"]; ok && err == nil {
		got["resolved.yaml"] = resolved(t, c)
	}
	return got
}

func loadFiles(t *testing.T, in casetest.Case) (*Config, error) {
	return Load(testFile, testFiles(in), testScope(t, []byte(in.Texts["cluster.env"])))
}

// alone is a cluster.yaml without a base.
func alone(text string) Files { return Files{testFile: []byte(text)} }

// testFiles are the cluster.yaml of a case, and the bases in it.
func testFiles(in casetest.Case) Files {
	files := Files{testFile: []byte(in.Texts["cluster.yaml"])}
	for name, text := range in.Texts {
		if strings.HasPrefix(name, "envs/") {
			files[name] = []byte(text)
		}
	}
	return files
}

func resolved(t *testing.T, c *Config) string {
	data, err := yaml.Marshal(c.Cluster)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func testScope(t testing.TB, env []byte) *subst.Scope {
	vars, err := subst.ParseEnv("envs/dev/cluster.env", env)
	if err != nil {
		t.Fatal(err)
	}
	for name, v := range vars {
		v.Secret = strings.HasPrefix(name, "SECRET")
		vars[name] = v
	}
	return &subst.Scope{Vars: vars}
}

// describe writes what is set of each node.
func describe(c *Config) string {
	var b strings.Builder
	for _, n := range c.Resolve() {
		disk := n.InstallDisk
		if n.DiskSelector != (schemas.DiskSelector{}) {
			disk += fmt.Sprintf("%v", n.DiskSelector)
		}
		fmt.Fprintf(&b, "%s %s pool=%s index=%d disk=%s", n.Name, n.Role, n.Pool, n.Index, disk)
		if n.Type != "" {
			fmt.Fprintf(&b, " type=%s", n.Type)
		}
		if len(n.Labels) > 0 {
			fmt.Fprintf(&b, " labels=%v", n.Labels)
		}
		if len(n.Annotations) > 0 {
			fmt.Fprintf(&b, " annotations=%v", n.Annotations)
		}
		for _, t := range n.Taints {
			fmt.Fprintf(&b, " taint=%s=%s:%s", t.Key, t.Value, t.Effect)
		}
		if n.Location != "" {
			fmt.Fprintf(&b, " location=%s offset=%d", n.Location, n.Offset)
		}
		if n.Subnet.IsValid() {
			fmt.Fprintf(&b, " subnet=%s", n.Subnet)
		}
		if n.PlacementGroup {
			b.WriteString(" spread")
		}
		if len(n.FallbackTypes)+len(n.FallbackLocations) > 0 {
			fmt.Fprintf(&b, " fallback=%v%v", n.FallbackTypes, n.FallbackLocations)
		}
		if n.Backups || n.KeepDisk || n.ReverseDNS != (schemas.ReverseDNS{}) {
			fmt.Fprintf(&b, " backups=%v keepDisk=%v rdns=%v", n.Backups, n.KeepDisk, n.ReverseDNS)
		}
		if n.VLAN+n.MTU+len(n.Routes) > 0 {
			fmt.Fprintf(&b, " vlan=%d mtu=%d routes=%v", n.VLAN, n.MTU, n.Routes)
		}
		if n.BootAddress.IsValid() {
			fmt.Fprintf(&b, " match=%s/%s/%s boot=%s address=%s gateway=%s interface=%s",
				n.Match.MAC, n.Match.UUID, n.Match.Serial, n.BootAddress, n.Address, n.Gateway, n.Interface)
		}
		if n.Dedicated {
			fmt.Fprintf(&b, " private=%s robot=%d", n.PrivateIP, n.RobotServer)
		}
		fmt.Fprintln(&b)
	}
	return b.String()
}

// minimal is the smallest file, with lines added to the end of a section.
func minimal(extra string) string {
	return "clusterName: dev\nendpoint: https://10.0.0.10:6443\ntalos: {version: 1.14.1}\nhetzner: {region: hel1}\n" +
		"kubernetes: {version: v1.36.0}\nnodes: {controlPlane: {count: 1, type: cpx22}}\n" + extra
}

func load(t *testing.T, text string) *Config {
	t.Helper()
	c, err := Load(testFile, alone(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestDefaults(t *testing.T) {
	c := load(t, minimal(""))
	for name, pair := range map[string][2]string{
		"apiVersion":     {c.APIVersion, "talosgen.dev/v1alpha1"},
		"provider":       {c.Provider, "hetzner"},
		"talos":          {c.Talos.Version, "v1.14.1"},
		"contract":       {c.Talos.ConfigContract, "v1.14"},
		"factory":        {c.Talos.ImageFactory, "factory.talos.dev"},
		"kubernetes":     {c.Kubernetes.Version, "1.36.0"},
		"pods":           {strings.Join(c.Network.PodCidrs, " "), "10.0.128.0/17"},
		"services":       {strings.Join(c.Network.ServiceCidrs, " "), "10.0.96.0/19"},
		"nodes":          {strings.Join(c.Network.NodeCidrs, " "), "10.0.64.0/19"},
		"domain":         {c.Network.DNSDomain, "cluster.local"},
		"example key":    {c.ExampleKeyFile(), ""},
		"scheduling":     {fmt.Sprint(c.AllowScheduling()), "true"},
		"number of them": {fmt.Sprint(len(c.Resolve())), "1"},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s: got %q, want %q", name, pair[0], pair[1])
		}
	}
}

// The default ranges of static nodes follow the endpoint, also if it is an IPv6
// URL: the fourteenth of the traps in the reference.
func TestRangesFollowAnIPv6Endpoint(t *testing.T) {
	c := load(t, `clusterName: home
provider: static
endpoint: https://[fd00::10]:6443/
nodes:
  controlPlane:
    nodes: [{name: a, match: {serial: x}, interface: eth0, address: fd00::11/64, installDisk: /dev/sda}]
`)
	if got := c.Network.PodCidrs[0] + " " + c.Network.ServiceCidrs[0]; got != "fc00:db8:10::/56 fc00:db8:20::/112" {
		t.Errorf("got %s", got)
	}
	if c.Endpoint != "https://[fd00::10]:6443" {
		t.Errorf("the endpoint is %s", c.Endpoint)
	}
}

func TestExampleKeyFile(t *testing.T) {
	c := load(t, minimal("secrets: {exampleKeyFile: ../example.agekey}\n"))
	if got := c.ExampleKeyFile(); got != "envs/example.agekey" {
		t.Errorf("got %s", got)
	}
	_, err := Load(testFile, alone(minimal("secrets: {exampleKeyFile: ../../../key}\n")), nil)
	if err == nil || !strings.Contains(err.Error(), "envs/dev/cluster.yaml:7:27: the example key is outside of the repository") {
		t.Errorf("got %v", err)
	}
}

func TestAllowScheduling(t *testing.T) {
	workers := "  workers: {nodepools: [{name: w, count: %d, type: cpx22}]}\n"
	base := strings.Replace(minimal(""), "nodes: {controlPlane: {count: 1, type: cpx22}}", "nodes:\n  controlPlane: {count: 1, type: cpx22%s}", 1)
	for _, tt := range []struct {
		set     string
		workers int
		want    bool
	}{
		{"", 0, true},
		{"", 1, false},
		{", allowScheduling: true", 1, true},
		{", allowScheduling: false", 0, false},
	} {
		c := load(t, fmt.Sprintf(base+workers, tt.set, tt.workers))
		if got := c.AllowScheduling(); got != tt.want {
			t.Errorf("%q with %d workers: %v", tt.set, tt.workers, got)
		}
	}
}

func TestPositions(t *testing.T) {
	c := load(t, `clusterName: home
provider: static
endpoint: https://192.168.1.10:6443
talos: {version: v1.13.9}
kubernetes: {version: 1.34.0}
nodes:
  controlPlane:
    installDisk: /dev/sda
    labels:
      tier: a
      rack: r1
    taints: ["a:NoSchedule"]
    nodes:
      - name: one
        match: {mac: "52:54:00:00:00:01"}
        address: 192.168.1.10/24
        labels:
          tier: b
`)
	at := func(line, column int) diag.Pos { return diag.Pos{File: testFile, Line: line, Column: column} }
	for _, tt := range []struct {
		path string
		want diag.Pos
	}{
		{"clusterName", at(1, 14)},
		{"talos", at(4, 1)},
		{"talos.version", at(4, 18)},
		{"nodes.controlPlane.labels", at(9, 5)},
		{"nodes.controlPlane.labels.tier", at(10, 13)},
		{"nodes.controlPlane.taints.0", at(12, 14)},
		{"nodes.controlPlane.nodes.0", at(14, 9)},
		{"network.dnsDomain", at(0, 0)},
		{"nonsense", at(0, 0)},
	} {
		if got := c.Pos(strings.Split(tt.path, ".")...); got != tt.want {
			t.Errorf("%s is at %v, want %v", tt.path, got, tt.want)
		}
	}
	n := c.Resolve()[0]
	for _, tt := range []struct {
		path string
		want diag.Pos
	}{
		{"labels.tier", at(18, 17)},
		{"labels.rack", at(11, 13)},
		{"installDisk", at(8, 18)},
		{"gateway", at(0, 0)},
	} {
		if got := n.Pos(strings.Split(tt.path, ".")...); got != tt.want {
			t.Errorf("%s of the node is at %v, want %v", tt.path, got, tt.want)
		}
	}
	if got := n.Taints[0].Pos; got != at(12, 14) {
		t.Errorf("the taint is at %v", got)
	}
}

func TestBrokenFiles(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"empty", "", "cluster.yaml: the file is empty"},
		{"only comments", "# x\n", "cluster.yaml: the file is empty"},
		{"null", "null\n", "cluster.yaml: the file is empty"},
		{"a list", "- a\n", "cluster.yaml:1:1: cluster.yaml must be a mapping, not a list"},
		{"a text", "abc\n", `cluster.yaml:1:1: cluster.yaml must be a mapping, not the text "abc"`},
		{"not YAML", "a: [b\n", "cluster.yaml:2:1: not valid YAML: "},
		{"unquoted variable", "a: b\nc: [${X}, b]\n", "cluster.yaml:2:6: not valid YAML: did not find expected ',' or ']', while parsing a flow sequence\n  quote a variable inside"},
		{"two documents", minimal("---\nx: y\n"), "cluster.yaml:7:1: a second document"},
		{"unknown anchor", "a: *b\n", "cluster.yaml:1:4: not valid YAML: unknown anchor"},
		{"deep", minimal("addons: " + strings.Repeat("[", 200) + strings.Repeat("]", 200) + "\n"), "cluster.yaml:7:108: nested deeper than 100 levels"},
		{"large", strings.Repeat("#", 4<<20+1), "cluster.yaml: the file is larger than 4 MiB"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Load(testFile, alone(tt.in), nil)
			if err == nil || !strings.HasPrefix(err.Error(), "envs/dev/"+tt.want) || diag.CodeOf(err) != diag.Input {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

func TestAliases(t *testing.T) {
	c := load(t, strings.Replace(minimal(""), "nodes: {controlPlane: {count: 1, type: cpx22}}", `nodes:
  controlPlane: {count: 1, type: cpx22, labels: &l {a: b}}
  workers: {nodepools: [{name: w, count: 1, type: cpx22, labels: *l}]}`, 1))
	if got := c.Resolve()[1].Labels["a"]; got != "b" {
		t.Errorf("the label is %q", got)
	}
	many := "a: &a {x: y}\n" + minimal("") + "network: {podCidrs: [" + strings.Repeat("*a,", maxAliases+5) + "]}\n"
	if _, err := Load(testFile, alone(many), nil); err == nil || strings.Count(err.Error(), "more than 1000 aliases") != 1 {
		t.Errorf("got %v", err)
	}
}
