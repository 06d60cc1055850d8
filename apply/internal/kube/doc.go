// Package kube talks to the Kubernetes API of a cluster with an administrator's
// certificate: little more than what a destroy asks of it. It needs no library:
// the API is JSON over HTTP. The connection, the clock and the certificate are
// passed in.
package kube
