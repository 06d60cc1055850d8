// Package robot installs Talos on dedicated servers of Hetzner Robot through the rescue
// system: a client of Robot's web service, what decides from what was observed, and what
// executes that, one server after the other.
//
// https://robot.hetzner.com/doc/webservice/en.html describes the web service.
package robot
