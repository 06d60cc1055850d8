// Package addon turns the sources of an addon into objects: Helm charts,
// kustomizations, manifests. It alone imports Helm and kustomize, and it decides
// what they may do: nothing but compute. Charts are rendered at the level of
// Helm's template engine, from files in memory, without a cluster, a clock,
// randomness, network, environment or file system; so the same sources give the
// same objects anywhere.
package addon
