// Package robotsim stands in for Hetzner Robot: its web service, as far as dedicated
// servers, their rescue system, reset buttons and SSH keys are concerned, with its errors
// and limits, and machines behind it that start the rescue system or what is on their
// disks.
//
// What it does is written in https://robot.hetzner.com/doc/webservice/en.html. That host
// keys appear at the last activation, once the rescue system has booted, and are new with
// each start, was observed by others on real servers (decision 0037).
package robotsim
