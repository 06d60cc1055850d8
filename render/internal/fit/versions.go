package fit

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/versions"
	"github.com/talosgen/talosgen/render/internal/foreign"
	"github.com/talosgen/talosgen/render/internal/machine"
)

// versionSet are the versions that configurations name.
type versionSet struct {
	talos, kubernetes string
	multiDocument     bool
}

var versionTag = regexp.MustCompile(`:(v[0-9]+\.[0-9]+\.[0-9]+(?:-[0-9A-Za-z.-]+)?)(?:@.*)?$`)

// Places of images, by their kinds: in the document without one and in others.
var (
	installers = [][]string{{machine.MainID.Kind, "machine", "install", "image"}, {"UnattendedInstallConfig", "installer", "image"}}
	components = [][]string{
		{machine.MainID.Kind, "machine", "kubelet", "image"}, {"KubeletConfig", "image"},
		{machine.MainID.Kind, "cluster", "apiServer", "image"}, {"KubeAPIServerConfig", "image"},
		{machine.MainID.Kind, "cluster", "controllerManager", "image"}, {"KubeControllerManagerConfig", "image"},
		{machine.MainID.Kind, "cluster", "scheduler", "image"}, {"KubeSchedulerConfig", "image"},
		{machine.MainID.Kind, "cluster", "proxy", "image"}, {"KubeProxyConfig", "image"},
	}
)

// versionsOf reads the versions out of the images of the machines: of several the most
// frequent. What none names is the newest of what goes with the rest.
func versionsOf(o *foreign.Origin) versionSet {
	any := func(string) bool { return true }
	v := versionSet{talos: frequent(o, installers, any)}
	if o.Talos != "" {
		v.talos = o.Talos // images say what was installed first
	}
	v.kubernetes = strings.TrimPrefix(frequent(o, components, v.runs), "v")
	for _, m := range o.Machines {
		v.multiDocument = v.multiDocument || foreign.Node(m.Config, "KubeClusterConfig") != nil
	}
	v.fill()
	return v
}

// runs reports whether the Talos of the machines runs a version of Kubernetes: own images
// of components may have other ones.
func (v versionSet) runs(kubernetes string) bool {
	r, known := versions.Of(v.talos)
	minor := versions.Minor(kubernetes)
	return !known || r.Oldest <= minor && minor <= r.Newest
}

// frequent is the tag that most images at some places have, of those that are right;
// empty if there is none.
func frequent(o *foreign.Origin, places [][]string, right func(tag string) bool) (most string) {
	count := map[string]int{}
	for _, m := range o.Machines {
		for _, place := range places {
			if tag := tagOf(foreign.Value(m.Config, place[0], place[1:]...)); tag != "" && right(tag) {
				count[tag]++
			}
		}
	}
	for _, tag := range slices.Sorted(maps.Keys(count)) {
		if count[tag] > count[most] {
			most = tag
		}
	}
	return most
}

func tagOf(image string) string {
	if found := versionTag.FindStringSubmatch(image); found != nil {
		return found[1]
	}
	return ""
}

// fill adds what no image names.
func (v *versionSet) fill() {
	if v.talos == "" {
		v.talos = versions.Newest().Talos
		for _, r := range versions.Releases() {
			if v.kubernetes != "" && versions.Minor(v.kubernetes) <= r.Newest && (r.Minor > lastOld) == v.multiDocument {
				v.talos = r.Talos
				break
			}
		}
	}
	if v.kubernetes == "" {
		r, _ := versions.Of(v.talos)
		v.kubernetes = r.Kubernetes
	}
}

// lastOld is the last minor version of Talos 1 with one document for most of a
// configuration.
const lastOld = 13

// contracts are those that the configurations can be of, newest first.
func (v versionSet) contracts() (all []string) {
	for _, r := range versions.Releases() {
		if r.Minor <= versions.Minor(v.talos) && (r.Minor > lastOld) == v.multiDocument {
			all = append([]string{r.Contract()}, all...)
		}
	}
	return all
}
