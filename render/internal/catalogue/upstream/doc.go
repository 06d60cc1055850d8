// Package upstream compares what is built in with what upstream's charts give
// for the same options. It has tests alone: they take the charts from the
// directory in TALOSGEN_CHARTS_DIR, one directory or archive for each.
package upstream
