// Package talossim simulates Talos nodes: machines with disks, boots and boot
// ids, the Talos API over gRPC and TLS in maintenance mode and with client
// certificates, and etcd with its members, learners and quorum.
//
// It stands in for real nodes where these refuse or cost too much: reboots,
// slow and broken nodes, faults at each call, hundreds of nodes. What it answers
// was recorded from real nodes, and a table of calls runs against both. Where
// they differ, the simulator is wrong.
//
// Time is that of a clock which is passed in, and usually moves only when
// whoever waits makes it move. All that machines do by themselves (boot, install,
// start services, join etcd) is a list of events on that clock; what is due
// happens before the next call is answered.
//
// A [Fleet] watches over what is done to it: see [Fleet.Violations].
package talossim
