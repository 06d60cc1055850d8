// Package simtest serves the simulator of the Hetzner Cloud API to tests, and
// fails a test whose requests or answers are not what the API's description
// says. Only tests import it.
//
// The description is Hetzner's and no part of this repository. Tests find it
// where TALOSGEN_HETZNER_SPEC says, or beside the repository, in
// ../shared/specs/hetzner-cloud.openapi.json. Without it, requests and answers
// are checked against the shapes of this package alone, which were written for
// it, and which a test compares with the description where there is one.
package simtest
