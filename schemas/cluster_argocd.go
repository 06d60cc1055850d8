package schemas

// ArgoCDSettings say how Argo CD runs what is in the repository.
type ArgoCDSettings struct {
	// The namespace of an Argo CD that is there already, with components: existing.
	Namespace string `yaml:"namespace" default:"argocd" format:"dnsLabel" example:"argo-cd"`
	// Whether Argo CD removes from the cluster what Git has no more. Definitions,
	// namespaces, and addons such as storage drivers stay in any case.
	Prune bool `yaml:"prune" default:"true" example:"false"`
	// Whether Argo CD sets back what others change in the cluster.
	SelfHeal bool `yaml:"selfHeal" default:"true" example:"false"`
}
