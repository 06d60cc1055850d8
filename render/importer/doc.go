// Package importer makes environments of what people have who configure Talos without
// talosgen. The final configurations of their machines are the target: an environment
// that renders to them value by value is written, and otherwise nothing.
package importer
