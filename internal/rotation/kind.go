package rotation

import "slices"

// Kind is what is rotated.
type Kind string

// The kinds. All go through the same phases.
const (
	TalosCA        Kind = "talos-ca"
	KubernetesCA   Kind = "kubernetes-ca"
	ServiceAccount Kind = "service-account"
	EncryptionKey  Kind = "encryption-key"
	AgeKey         Kind = "age-key"
)

// Kinds are all of them.
func Kinds() []Kind { return []Kind{TalosCA, KubernetesCA, ServiceAccount, EncryptionKey, AgeKey} }

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
	case EncryptionKey:
		return "the encryption key of Secrets"
	case AgeKey:
		return "the age key of the cluster"
	case MachineToken:
		return "the machine token"
	case BootstrapToken:
		return "the bootstrap token"
	}
	return string(k)
}

// ControlPlanes reports whether it concerns control planes alone: workers do not have it.
func (k Kind) ControlPlanes() bool { return k == ServiceAccount || k == EncryptionKey }

// unknown, behind and late are why a node waits for another one.
func (k Kind) unknown(node string) string {
	if k == EncryptionKey {
		return "it is not known which keys " + node + " has"
	}
	return "it is not known which authorities " + node + " trusts"
}

func (k Kind) behind(node string) string {
	if k == EncryptionKey {
		return node + " cannot read what the new key encrypts yet"
	}
	return node + " does not trust the new authority yet"
}

func (k Kind) late(node string) string {
	if k == EncryptionKey {
		return node + " encrypts with the old key still"
	}
	return node + " has certificates of the old authority still"
}
