package fit

import (
	"strings"

	"github.com/talosgen/talosgen/render/internal/layer"
	"github.com/talosgen/talosgen/render/internal/subst"
)

// versionNames are the variables that a version may be in, the first one by default, and
// what stands before that in a tag.
type versionNames struct {
	names  []string
	prefix string
}

var (
	talosNames      = versionNames{[]string{"TALOS_VERSION"}, ""}
	kubernetesNames = versionNames{[]string{"KUBERNETES_VERSION", "K8S_VERSION"}, "v"}
)

// Names of variables for what a cluster is known by, in the order of preference.
var (
	clusterNames  = []string{"CLUSTER_NAME", "TALOS_CLUSTER_NAME", "CLUSTER"}
	endpointNames = []string{"CLUSTER_ENDPOINT", "CONTROL_PLANE_ENDPOINT", "CONTROLPLANE_ENDPOINT", "API_ENDPOINT", "K8S_ENDPOINT", "KUBERNETES_ENDPOINT", "ENDPOINT"}
)

// given are the variables that the source has.
func (m *builder) given() subst.Vars {
	vars, err := subst.ParseEnv(layer.InEnv(m.Env, "cluster.env"), m.Origin.Env)
	if err != nil {
		return nil // it is reported when the environment is rendered
	}
	return vars
}

// refer writes a value with the variable that the source has for it; as it is if there
// is none.
func (m *builder) refer(value string, names []string) string {
	vars := m.given()
	for _, name := range names {
		switch v, there := vars[name]; {
		case !there || v.Value == "":
		case v.Value == value:
			return "${" + name + "}"
		case "v"+v.Value == value:
			return "v${" + name + "}"
		}
	}
	return value
}

// version writes the tag of a version with a variable: one of the source, or one that is
// added.
func (m *builder) version(tag string, v versionNames) string {
	if m.adds(tag, v) {
		return v.prefix + "${" + v.names[0] + "}"
	}
	return m.refer(tag, v.names)
}

// adds reports whether the source has no variable for a version, nor one of that name.
func (m *builder) adds(tag string, v versionNames) bool {
	_, taken := m.given()[v.names[0]]
	return !taken && m.refer(tag, v.names) == tag
}

// added are the lines of cluster.env for variables that the source does not have.
func (m *builder) added() (lines string) {
	if m.adds(m.versions.talos, talosNames) {
		lines += talosNames.names[0] + "=" + m.versions.talos + "\n"
	}
	if m.adds("v"+m.versions.kubernetes, kubernetesNames) {
		lines += kubernetesNames.names[0] + "=" + m.versions.kubernetes + "\n"
	}
	return lines
}

// withoutSecretReferences is a text without the secret variables that it names, which a
// file may do.
func (m *builder) withoutSecretReferences(text string) string {
	for name := range m.Origin.Variables {
		text = strings.ReplaceAll(text, "${"+name+"}", "")
	}
	return text
}
