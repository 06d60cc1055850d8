package kubeschema

import (
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/kubelifecycle"
	"github.com/talosgen/talosgen/internal/versions"
)

// release is a minor release of Kubernetes.
type release struct{ major, minor int }

func (r release) String() string { return fmt.Sprintf("%d.%d", r.major, r.minor) }

func (r release) before(other release) bool {
	return r.major < other.major || r.major == other.major && r.minor < other.minor
}

func parseRelease(version string) (r release, err error) {
	major, rest, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	minor, _, _ := strings.Cut(rest, ".")
	r.major, err = strconv.Atoi(major)
	if err == nil {
		r.minor, err = strconv.Atoi(minor)
	}
	if err != nil {
		return r, diag.On("version "+version, "this is no version of Kubernetes").WithHint("it looks like %s", versions.KubernetesKinds)
	}
	return r, nil
}

// introduced is a type of k8s.io/api that has begun lately.
type introduced interface{ APILifecycleIntroduced() (major, minor int) }

// lifecycle finds an API version that the Kubernetes has not.
func (s *Schemas) lifecycle(gvk schema.GroupVersionKind, typed any) []Fault {
	if t, ok := typed.(introduced); ok {
		if since := (release{}).of(t.APILifecycleIntroduced()); s.kubernetes.before(since) {
			return []Fault{{Path: "apiVersion", Text: fmt.Sprintf("%s has %s only since Kubernetes %s; the cluster runs %s",
				gvk.GroupVersion(), gvk.Kind, since, s.kubernetes)}}
		}
	}
	if e, ends := kubelifecycle.Of(gvk); ends && !s.kubernetes.before(release{1, e.In}) {
		f := Fault{Path: "apiVersion", Text: fmt.Sprintf("Kubernetes has no %s of %s since %s; the cluster runs %s",
			gvk.Kind, gvk.GroupVersion(), release{1, e.In}, s.kubernetes)}
		if !e.Instead.Empty() {
			f.Hint = "use " + e.Instead.GroupVersion().String()
		}
		return []Fault{f}
	}
	return nil
}

// serves tells whether the Kubernetes has a version of a kind.
func (s *Schemas) serves(gvk schema.GroupVersionKind) bool {
	typed, err := s.builtin.New(gvk)
	return err == nil && len(s.lifecycle(gvk, typed)) == 0
}

func (release) of(major, minor int) release { return release{major, minor} }
