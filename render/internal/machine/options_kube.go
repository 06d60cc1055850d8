package machine

// KubernetesOptions are the options of the components of Kubernetes.
type KubernetesOptions struct{}

// kubernetes sets the options of the components of Kubernetes.
func (b *optionBuilder) kubernetes() {}
