// Package faultmachine lets everything go wrong between a client and a Kubernetes
// API that can go wrong there, by a grammar of package faultgrammar: connections,
// gateways, the API server's own refusals, webhooks, discovery, lists, and others
// who change something meanwhile. The API is the simulated one, or a real one
// behind a proxy. Watches are not in the grammar: talosgen asks again instead, and
// the machine counts it as a mistake if it watches. Only tests import it.
package faultmachine
