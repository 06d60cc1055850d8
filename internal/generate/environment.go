package generate

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/versions"
	"github.com/talosgen/talosgen/schemas"
)

// values are a mapping of YAML.
type values = map[string]any

// environment is one that is being made.
type environment struct {
	*draws
	Environment
	at     string // begins the names of its decisions
	key    string // the example key
	files  map[string]string
	env    []string        // lines of cluster.env
	planes map[string]bool // pools of control planes beside the first one
	cidr   string          // of the private network
	given  bool            // its subnets are given
	// Whether a vSwitch is coupled with the network, and dedicated servers are behind it.
	vswitch, dedicated bool
	pools              []pool
	// Whether a machine must show a key that no simulated one has.
	pinned bool
	// Whether whoever applies is let in by an IPv6 address alone.
	sixOnly bool
}

// pool is what others need to know of a pool.
type pool struct {
	name  string
	main  bool // of control planes
	nodes []string
}

// is decides whether there is something in so many cases of a hundred.
func (e *environment) is(name string, percent int) bool { return e.probably(e.at+"."+name, percent) }

// of is a number of a range.
func (e *environment) of(name string, least, most int) int {
	return e.number(e.at+"."+name, least, most)
}

// chooser decides for an environment.
type chooser interface {
	is(name string, percent int) bool
	of(name string, least, most int) int
}

// one picks one of some; the first is the simplest.
func one[T any](e chooser, name string, from ...T) T { return from[e.of(name, 0, len(from)-1)] }

// put sets an option in so many cases of a hundred.
func put[T any](e chooser, in values, at, key string, percent int, value func(name string) T) {
	name := strings.TrimPrefix(at+"."+key, ".")
	if e.is(name, percent) {
		in[key] = value(name)
	}
}

// flag sets an option to true or false, whatever its default is.
func (e *environment) flag(in values, at, key string, percent int) {
	put(e, in, at, key, percent, func(name string) bool { return one(e, name+" value", false, true) })
}

// choice sets an option to one of some values.
func (e *environment) choice(in values, at, key string, percent int, from ...string) {
	put(e, in, at, key, percent, func(name string) string { return one(e, name+" value", from...) })
}

// section puts a mapping in unless it is empty.
func section(in values, key string, inner values) {
	if len(inner) > 0 {
		in[key] = inner
	}
}

// make makes the files of the environment.
func (e *environment) make() {
	e.Cluster = e.name(e.at+".clusterName", 32)
	e.Provider = one(e, "provider", schemas.Hetzner, schemas.Hetzner, schemas.Hetzner, schemas.Static)
	c := values{"clusterName": e.Cluster, "provider": e.Provider}
	if e.is("apiVersion", 50) {
		c["apiVersion"] = schemas.ClusterVersion
	}
	e.versions(c)
	networkGenerator{e}.network(c)
	nodeGenerator{e}.nodes(c)
	if e.Provider == schemas.Hetzner {
		cloudGenerator{e}.hetzner(c)
		cloudGenerator{e}.autoscaler(c)
		e.Secrets["HCLOUD_TOKEN"] = e.token(e.at+".token", 64)
	}
	talosGenerator{e}.talos(c)
	kubernetesGenerator{e}.kubernetes(c)
	podNetworkGenerator{e}.cni(c)
	podNetworkGenerator{e}.ingress(c)
	storageGenerator{e}.storage(c)
	podNetworkGenerator{e}.serviceAddresses(c)
	podNetworkGenerator{e}.web(c)
	addonGenerator{e}.gitops(c)
	addonGenerator{e}.addons(c)
	addonGenerator{e}.check(c)
	addonGenerator{e}.runNotifications(c)
	if e.key != "" && e.is("secrets.exampleKeyFile", 5) {
		c["secrets"] = values{"exampleKeyFile": "../example.agekey"}
		e.files["envs/example.agekey"] = e.key + "\n"
	}
	e.variables(c)
	e.patches()
	e.write("cluster.yaml", encode(c))
	if len(e.env) > 0 {
		e.write("cluster.env", strings.Join(e.env, "\n")+"\n")
	}
}

func (e *environment) write(name, text string) { e.files["envs/"+e.Name+"/"+name] = text }

// encode is YAML as an encoder writes it.
func encode(v any) string {
	text, err := yaml.Marshal(v)
	if err != nil {
		panic(err) // it is made of texts, numbers, lists and mappings
	}
	return string(text)
}

// kubernetesOf are the versions of Kubernetes for the minor versions of Talos 1.
var kubernetesOf = map[int][]string{
	9: {"1.32.0", "1.31.4"}, 10: {"1.33.1", "1.32.3"}, 11: {"1.34.0", "1.33.3"}, 12: {"1.35.0", "1.34.2"},
	13: {"1.36.3", "1.35.2"}, 14: {"1.36.3", "1.35.4"},
}

// contracts are the minor versions of contracts, newest first: the newest three times, since
// most clusters have it, and the one before it twice.
func contracts() (minors []int) {
	for i, release := range slices.Backward(versions.Releases()) {
		for range max(1, 4-(len(versions.Releases())-i)) {
			minors = append(minors, release.Minor)
		}
	}
	return minors
}

// versions sets the versions of Talos and Kubernetes, and the contract.
func (e *environment) versions(c values) {
	newest := versions.Newest().Minor
	e.Contract = one(e, "contract", contracts()...)
	t := values{}
	runs := e.Contract
	if e.Contract < newest && e.is("talos.configContract", 40) {
		runs = e.of("talos.version", e.Contract, min(newest, e.Contract+3))
		t["configContract"] = fmt.Sprintf("v1.%d", e.Contract)
	}
	if runs < newest || e.is("talos.version given", 50) {
		release, _ := versions.Of(fmt.Sprintf("v1.%d", runs))
		t["version"] = release.Talos
	}
	section(c, "talos", t)
	k := values{}
	if e.Contract < 13 || e.is("kubernetes.version", 50) {
		k["version"] = one(e, "kubernetes.version value", kubernetesOf[e.Contract]...)
	}
	section(c, "kubernetes", k)
}

// inner is a mapping of a mapping, which is made if it is not there.
func inner(of values, key string) values {
	if v, ok := of[key].(values); ok {
		return v
	}
	v := values{}
	of[key] = v
	return v
}

// variables moves values of cluster.yaml into cluster.env.
func (e *environment) variables(c values) {
	if e.is("variables.clusterName", 30) {
		e.env = append(e.env, "# The name of the cluster.", "CLUSTER_NAME="+e.Cluster)
		c["clusterName"] = "${CLUSTER_NAME}"
	}
	if version, ok := inner(c, "kubernetes")["version"].(string); ok && e.is("variables.kubernetes", 40) {
		e.env = append(e.env, "export KUBERNETES_VERSION="+version)
		inner(c, "kubernetes")["version"] = "${KUBERNETES_VERSION}"
	}
	if len(inner(c, "kubernetes")) == 0 {
		delete(c, "kubernetes")
	}
	if h, ok := c["hetzner"].(values); ok && e.is("variables.region", 20) {
		h["region"] = "${REGION:-" + h["region"].(string) + "}"
	}
	if e.is("variables.text", 30) {
		text := e.text(e.at + ".variables.text value")
		e.env = append(e.env, "NOTE='"+strings.ReplaceAll(text, "'", "")+"'")
	}
}
