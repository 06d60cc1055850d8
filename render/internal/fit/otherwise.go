package fit

import (
	"cmp"
	"fmt"
	"net/netip"
	"regexp"
	"slices"

	"github.com/talosgen/talosgen/render/internal/foreign"
	"github.com/talosgen/talosgen/schemas"
)

// naming is what machines have and cluster.yaml takes in another form only: a patch keeps
// what they have. What is secret is not written in another form, and so is refused.
type naming struct{ *builder }

// both are the name of the cluster that its machines have, and the one in cluster.yaml.
func (n naming) both() (theirs, taken string) {
	theirs = n.first([]string{"cluster", "clusterName"}, "KubeClusterConfig", "clusterName")
	if n.Origin.Encrypts(theirs) {
		return theirs, theirs
	}
	return theirs, asClusterName(theirs, n.Env)
}

// option is the name in cluster.yaml.
func (n naming) option() string {
	theirs, taken := n.both()
	if taken == theirs {
		return n.refer(theirs, clusterNames)
	}
	return taken
}

// notes say of a name that cluster.yaml does not take what stands there instead.
func (n naming) notes() []string {
	theirs, taken := n.both()
	if taken == theirs {
		return nil
	}
	return []string{fmt.Sprintf("%s calls the cluster %s, as it takes no name such as %q: that one stays in %s", n.inEnv("cluster.yaml"), taken, theirs, n.inEnv("patches"))}
}

// subnets are those that machines have, without bits of a host, which Talos and
// Kubernetes take and ignore.
func (n naming) subnets(theirs []string) []string {
	taken := slices.Clone(theirs)
	for i, text := range theirs {
		if p, err := netip.ParsePrefix(text); err == nil && !n.Origin.Encrypts(text) {
			taken[i] = p.Masked().String()
		}
	}
	return taken
}

// asClusterName is the nearest name that cluster.yaml takes; that of the environment, if
// nothing of it can be taken.
func asClusterName(name, env string) string {
	form, _ := schemas.FormatOf("clusterName")
	if regexp.MustCompile(form.Pattern).MatchString(name) {
		return name
	}
	const longest = 32
	return cmp.Or(foreign.Label(name, longest), env)
}
