package fit

import (
	"cmp"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/schemas"
)

// named is the name of the cluster that its machines have.
func (m *builder) named() string {
	return m.first([]string{"cluster", "clusterName"}, "KubeClusterConfig", "clusterName")
}

// clusterName is that name as cluster.yaml takes it. Talos takes any: a patch keeps one
// that differs.
func (m *builder) clusterName() string {
	name := m.named()
	if taken := m.taken(name); taken != name {
		return taken
	}
	return m.refer(name, clusterNames)
}

// taken is [asClusterName] of a name that is no secret: one that is stays as it is, and is
// refused.
func (m *builder) taken(name string) string {
	if m.Origin.Encrypts(name) {
		return name
	}
	return asClusterName(name, m.Env)
}

// renamed says of a name that cluster.yaml does not take what stands there instead.
func (m *builder) renamed() []string {
	name := m.named()
	taken := m.taken(name)
	if taken == name {
		return nil
	}
	return []string{fmt.Sprintf("%s calls the cluster %s, as it takes no name such as %q: that one stays in %s", m.inEnv("cluster.yaml"), taken, name, m.inEnv("patches"))}
}

// notInNames are runs of what no name of a cluster has.
var notInNames = regexp.MustCompile(`[^a-z0-9]+`)

// asClusterName is the nearest name that cluster.yaml takes; that of the environment, if
// nothing of it can be taken.
func asClusterName(name, env string) string {
	form, _ := schemas.FormatOf("clusterName")
	if regexp.MustCompile(form.Pattern).MatchString(name) {
		return name
	}
	const longest = 32
	near := strings.Trim(notInNames.ReplaceAllString(strings.ToLower(name), "-"), "-")
	return cmp.Or(strings.TrimRight(near[:min(len(near), longest)], "-"), env)
}

// subnets are those that machines have, as cluster.yaml takes them: without bits of a
// host, which Talos and Kubernetes take and ignore. A patch keeps these.
func (m *builder) subnets(texts []string) []string {
	taken := slices.Clone(texts)
	for i, text := range texts {
		if p, err := netip.ParsePrefix(text); err == nil && !m.Origin.Encrypts(text) {
			taken[i] = p.Masked().String()
		}
	}
	return taken
}
