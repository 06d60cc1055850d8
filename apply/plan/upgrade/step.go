package upgrade

import "strings"

// Action is what a step does.
type Action string

// The actions.
const (
	Pull      Action = "pull"      // get images to the node
	Snapshot  Action = "snapshot"  // save etcd
	Drain     Action = "drain"     // cordon and drain
	Install   Action = "install"   // mark the node, run the installer; before Talos 1.13 it reboots too
	Transfer  Action = "transfer"  // let another member lead etcd
	Rollback  Action = "rollback"  // mark the node, let it boot the system of before
	Boot      Action = "boot"      // reboot, and wait for another boot
	Confirm   Action = "confirm"   // remove the mark: the node runs what was installed
	Forget    Action = "forget"    // remove the mark of a failure, to try again
	Uncordon  Action = "uncordon"  // let pods in again
	Configure Action = "component" // give a program of Kubernetes its version and section
	Manifests Action = "manifests" // bring Talos' own objects to the version
	Delete    Action = "delete"    // mark the node, delete its server, and then the node
	Contract  Action = "contract"  // send the configuration in the contract that Git has
)

// Step is one thing to do.
type Step struct {
	Action Action `json:"action"`
	Node   string `json:"node"`
	// What the node has after it. Component is the program of Kubernetes, also of the
	// image that Pull gets.
	Version   string `json:"version,omitempty"`
	Component string `json:"component,omitempty"`
	// Of Pull, Install and Configure: the image. Schematic is that of the installer, Try how
	// often it was tried with this.
	Image     string `json:"image,omitempty"`
	Schematic string `json:"schematic,omitempty"`
	Try       int    `json:"try,omitempty"`
	// Of Delete: the group of the autoscaler that the server is of.
	Group string `json:"group,omitempty"`
	// Of Install, Configure and Delete: somebody else has cordoned the node, and keeps it so;
	// its pods leave as the step begins.
	Evict bool `json:"evict,omitempty"`
	// Of Configure: what Git starts the program with moves with its image.
	Section bool `json:"section,omitempty"`
	// Of Install: the node has the call of before Talos 1.13, which reboots.
	Legacy bool `json:"legacy,omitempty"`
	// What is noted at the node of the Talos that it ran before: of Install, and of the
	// Confirm of a node that went back to it.
	Before *Before `json:"-"`
	// Hop is that which the step belongs to.
	Hop string `json:"hop,omitempty"`
	// Risks are the ids that it takes consent to.
	Risks []string `json:"risks,omitempty"`
}

// Over are the budgets, with their namespaces, that somebody has agreed to break.
func (s Step) Over() (names []string) {
	for _, id := range s.Risks {
		if name, is := strings.CutPrefix(id, RiskBudget+":"); is {
			names = append(names, name)
		}
	}
	return names
}

// Kubelet is the program of Kubernetes that every node runs.
const Kubelet = "kubelet"

// Note is a refusal, or what is waited for.
type Note struct {
	// The rule, such as R3; empty for what is no rule of the reference.
	ID   string `json:"id,omitempty"`
	Node string `json:"node,omitempty"`
	Text string `json:"text"`
	Hint string `json:"hint,omitempty"`
	// Of a step without consent: the ids that are missing.
	Risks []string `json:"risks,omitempty"`
	// AccessDenied says that somebody does not accept the certificate of talosgen.
	AccessDenied bool `json:"accessDenied,omitempty"`
	// Retry says that the node is tried again if the policy names it.
	Retry bool `json:"retry,omitempty"`
}
