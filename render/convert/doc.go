// Package convert rewrites patches for the documents of newer versions of Talos.
package convert
