package access

import "github.com/talosgen/talosgen/internal/rotation"

// Rotating are the kinds of which the configuration trusts another one beside the one
// that signs.
func (a *Authorities) Rotating() (kinds []rotation.Kind) {
	if len(a.Talos.accepted) > 0 {
		kinds = append(kinds, rotation.TalosCA)
	}
	if len(a.Kubernetes.accepted) > 0 {
		kinds = append(kinds, rotation.KubernetesCA)
	}
	if a.tokenKeys {
		kinds = append(kinds, rotation.ServiceAccount)
	}
	return kinds
}
