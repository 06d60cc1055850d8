package config

import "github.com/talosgen/talosgen/schemas"

// fluxAlone are the options that only Flux has an answer to, each with what to do
// instead.
var fluxAlone = []struct{ option, text, hint string }{
	{"verifyKeys", "Argo CD takes the keys of those who may sign from its own list, and verifies for projects of your own",
		"remove it and protect the branch, or set gitops.engine: flux"},
	{"interval", "Argo CD watches the objects in the cluster, and needs no interval",
		"remove it: how often it looks at Git is timeout.reconciliation in its ConfigMap argocd-cm"},
	{"instance", "gitops.instance is for the Flux Operator alone", "remove it, or set gitops.engine: flux and components: operator"},
	{"oci", "an artifact in a registry is for Flux alone", "set gitops.repository, which Argo CD takes, or gitops.engine: flux"},
	{"notifications", "notifications are objects of Flux",
		"remove them: those of Argo CD are in its ConfigMap argocd-notifications-cm, which an addon of yours can bring; or set gitops.engine: flux"},
}

// checkArgoCD refuses what Argo CD has no answer to.
func (ch gitOpsRules) checkArgoCD() {
	g := ch.GitOps
	for _, o := range fluxAlone {
		if at := []string{"gitops", o.option}; ch.has(at...) {
			ch.fail(o.hint, at, "%s", o.text)
		}
	}
	if g.Components == schemas.Operator {
		ch.fail("set managed to get Argo CD with the tree, or existing if it is there already", keys("gitops.components"), "the operator is one of Flux")
	}
	if g.Components == schemas.Managed && g.ArgoCD.Namespace != argoNamespace {
		ch.fail("remove it, or set gitops.components: existing", keys("gitops.argocd.namespace"), "with components: managed, Argo CD is in the namespace %s: its roles name that", argoNamespace)
	}
	if g.Components == schemas.Existing && ch.has("gitops", "knownHosts") {
		ch.fail("remove them, and add the lines to the ConfigMap argocd-ssh-known-hosts-cm of your Argo CD", keys("gitops.knownHosts"), "Argo CD knows hosts by a file of its own")
	}
}

// argoNamespace is where Argo CD is, unless it is there already.
const argoNamespace = "argocd"
