// Package kube talks to the Kubernetes API of a cluster with an administrator's
// certificate: it observes and changes objects for apply, and stops controllers
// for destroy. Requests are JSON over HTTP, so that their clock, repetitions and
// errors are this package's; what the objects mean (status, normal form, field
// managers) is for the libraries of Kubernetes and Flux. The connection, the
// clock and the certificate are passed in.
package kube
