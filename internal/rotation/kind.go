package rotation

import "slices"

// Kind is what is rotated.
type Kind string

// The kinds. All go through the same phases.
const (
	TalosCA        Kind = "talos-ca"
	KubernetesCA   Kind = "kubernetes-ca"
	ServiceAccount Kind = "service-account"
)

// Kinds are all of them.
func Kinds() []Kind { return []Kind{TalosCA, KubernetesCA, ServiceAccount} }

// Known reports whether it is one of them.
func (k Kind) Known() bool { return slices.Contains(Kinds(), k) }

// Subject says for people what is rotated.
func (k Kind) Subject() string {
	switch k {
	case TalosCA:
		return "the authority of the Talos API"
	case KubernetesCA:
		return "the authority of the Kubernetes API"
	case ServiceAccount:
		return "the service account key"
	}
	return string(k)
}
