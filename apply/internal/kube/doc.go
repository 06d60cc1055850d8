// Package kube talks to the Kubernetes API of a cluster with an administrator's
// certificate: it observes and changes objects for apply, and stops controllers
// for destroy. Requests are client-go's, over a transport whose pace and repetitions
// go by a clock that is passed in, as are connections and the certificate. What the
// objects mean (status, normal form) is for the libraries of Kubernetes and Flux.
package kube
