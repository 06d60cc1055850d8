package legacy

import (
	"slices"
	"strings"
	"sync"

	"github.com/talosgen/talosgen/internal/sorting"
)

// Home says where Talos keeps a legacy field of the v1alpha1 document: at contract
// 1.14, and at earlier ones.
type Home struct {
	// Path is the legacy field: "cluster.apiServer.extraArgs". What is said of
	// a section holds for the fields below it that have no row of their own.
	Path string
	// Kind, Name and Field are the document that took it over and the field in
	// it. No Kind: it stays in the v1alpha1 document, unless Advice says that it
	// is gone.
	Kind, Name, Field string
	// Since is the minor version of the contract from which on that document is used;
	// 0: 14.
	Since int
	// Conflicts are the kinds beside which Talos refuses the legacy field (see
	// the V1Alpha1ConflictValidate methods of the machinery), or [Always].
	// Inherited by the fields of a section.
	Conflicts []string
	// Ignored says that Talos does not refuse the field beside Conflicts, but
	// does not read it either.
	Ignored bool
	// Advice says why the field has no mechanical conversion, and what to do.
	Advice string

	// whenTrue limits the conflict to the value true.
	whenTrue bool
	// convert rewrites a value whose shape changed; nil moves it as it is.
	convert converter
	// deleted rewrites a deletion; nil moves it like any value.
	deleted converter
}

// Always stands in [Home.Conflicts] for fields that strict validation refuses
// whatever documents there are.
const Always = "strict validation"

// Stays reports whether the field is at home in the v1alpha1 document.
func (h Home) Stays() bool { return h.Kind == "" && h.Advice == "" }

// Target names the new field for people: "KubeletConfig.extraArgs".
func (h Home) Target() string {
	name := h.Kind
	if h.Name != "" {
		name += "/" + h.Name
	}
	if h.Field != "" {
		name += "." + h.Field
	}
	return name
}

// Homes returns the whole table, sorted by path.
func Homes() []Home {
	all := slices.Concat(clusterHomes(), machineHomes())
	sorting.By(all, func(a, b Home) int { return strings.Compare(a.Path, b.Path) })
	return all
}

// ControlPlaneOnly reports whether Talos refuses documents of the kind on
// workers (container.ControlplaneOnlyConfig in the machinery).
func ControlPlaneOnly(kind string) bool { return slices.Contains(controlPlaneKinds, kind) }

var controlPlaneKinds = []string{
	"KubeAPIServerConfig", "KubeAdmissionControlConfig", "KubeAggregatorCAConfig",
	"KubeAuditPolicyConfig", "KubeAuthenticationConfig", "KubeAuthorizerConfig",
	"KubeControllerManagerConfig", "KubeCoreDNSConfig", "KubeEtcdEncryptionConfig",
	"KubeFlannelCNIConfig", "KubeProxyConfig", "KubeSchedulerConfig",
	"KubeServiceAccountConfig", "KubeTalosAPIAccessConfig",
}

// generatedKinds are the kinds of the table that Talos 1.14 generates for a
// control plane with an install disk: what a patch meets if nothing else is
// known.
var generatedKinds = []string{
	"DiscoveryIdentityConfig", "DiscoveryServiceConfig", "HostnameConfig",
	"KubeAPIServerCAConfig", "KubeAPIServerConfig", "KubeAdmissionControlConfig",
	"KubeAggregatorCAConfig", "KubeAuditPolicyConfig", "KubeAuthenticationConfig",
	"KubeAuthorizerConfig", "KubeClusterConfig", "KubeControllerManagerConfig",
	"KubeCoreDNSConfig", "KubeEtcdEncryptionConfig", "KubeFlannelCNIConfig",
	"KubeNetworkConfig", "KubeNodeConfig", "KubePrismConfig", "KubeProxyConfig",
	"KubeSchedulerConfig", "KubeServiceAccountConfig", "KubeletConfig",
	"ResolverConfig", "UnattendedInstallConfig", "VolumeConfig",
}

// table is [Homes] ready for look-ups.
type table struct {
	rows map[string]*Home
	// sections are the paths below which there are rows.
	sections map[string]bool
}

// homes is the table, made once: it never changes.
var homes = sync.OnceValue(func() table { return newTable(Homes()) })

// newTable indexes the homes by path and hands conflicts down to fields that
// have none of their own.
func newTable(homes []Home) table {
	t := table{rows: map[string]*Home{}, sections: map[string]bool{}}
	for i := range homes {
		t.rows[homes[i].Path] = &homes[i]
	}
	for path, home := range t.rows {
		for parent := parentOf(path); parent != ""; parent = parentOf(parent) {
			t.sections[parent] = true
			if up := t.rows[parent]; up != nil && home.Conflicts == nil {
				home.Conflicts = up.Conflicts
			}
		}
	}
	return t
}

// parentOf cuts the last element off a path.
func parentOf(path string) string {
	i := strings.LastIndexByte(path, '.')
	return path[:max(i, 0)]
}
