// Package talosenv starts real Talos nodes for tests, in container mode: the
// machined that Talos' Docker provisioner would start, in namespaces and on a
// network of their own, without Docker. It owns the nodes' processes, network,
// cgroups and files on the host, and that nothing of them is left, also if the
// test is killed.
//
// The nodes' programs are built by testenv/prepare. A test that asks for nodes
// where there are no programs, or that is not run by root on Linux, is skipped
// with a line that says why, or fails if TALOSGEN_REQUIRE_TESTENV=1 is set. So
// are all of them, unless TALOSGEN_TESTENV_FULL=1 asks for the slow tests.
package talosenv
