// Package kubesim is a small Kubernetes API in memory, as an [http.Handler]: for
// clusters of simulated nodes, which need one to be drained, deleted and found
// healthy, and to have manifests applied to them.
//
// It stores any object of the kinds that it knows, and of those that
// CustomResourceDefinitions bring; merges patches; applies on the server's side
// with the code of Kubernetes itself, but without schemas, so that lists belong
// to one owner as a whole; and evicts pods as far as PodDisruptionBudgets let it.
// Nothing is defaulted or validated, and nobody can watch.
//
// [API.Settle] is what controllers do, those of Kubernetes and of Flux, as far
// as it can be seen in a status: there are no pods behind a Deployment. Operators
// that addons of the catalogue rely on define their kinds once they run. For all
// that there is a real API server in testenv/kubeenv.
package kubesim
