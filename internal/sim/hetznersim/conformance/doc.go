// Package conformance runs scripts of calls and expectations against any
// endpoint of the Hetzner Cloud API: the simulator in its tests, and the real
// API in end-to-end tests. Where the two differ, the simulator is wrong.
//
// A script is text:
//
//	A network, its subnets and routes.   (first lines: what it shows)
//	writes                               (or: reads)
//
//	POST /networks {"name": "$run-net", "ip_range": "10.0.0.0/16"}
//	=> 201 {"network": {"id": "$net", "subnets": []}}
//	POST /networks/$net/actions/add_route {"destination": "10.9.0.0/16",
//	  "gateway": "10.0.1.5"}
//	=> 201 {"action": {"id": "$action"}}
//	wait $action
//	POST /networks {"name": "$run-net", "ip_range": "10.0.0.0/16"}
//	=> 409 uniqueness_error
//	header X-Correlation-Id
//
//	cleanup
//	DELETE /networks/$net
//
// Lines that begin with a space continue the one before. An answer must have
// what is expected, and may have more; lists must be as long as expected unless
// they end with "...". A header must be there, whatever it says. "*" is anything but absent. "$name" takes a value the
// first time, and is that value later; in a request it stands for the value,
// with its type if it is all of a text. $run is a text of its own for each run,
// so that names are unique. After "cleanup", calls are made whatever happened
// before, unless they need a value that was never taken.
package conformance
