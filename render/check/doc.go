// Package check checks all Kubernetes objects of a rendered tree, or of any directory
// of manifests, without a cluster: their schemas, what they refer to, and who owns
// each.
package check
