// Package machine makes machine configurations. It owns everything that needs
// Talos' configuration library, and is the only package that imports it:
// secrets bundles, the generated base, patches and their merge, validation,
// and for every value the layer that set it and whether it is secret.
//
// A configuration is a list of documents. Documents are never changed in place
// once a configuration is made, so configurations share those that they have
// in common, with their encoded text: a thousand workers that differ in one
// document encode the others once.
package machine
