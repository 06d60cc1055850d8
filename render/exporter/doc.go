// Package exporter writes an environment for those who go on without talosgen: plain
// machine configurations, or a repository of another program that leads to the same
// ones. What is exported is what was rendered, value by value, or nothing.
package exporter
