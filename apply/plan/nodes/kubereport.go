package nodes

import "strings"

// KubeReport is what others say of a node that is not reached. The zero value is that
// nobody says anything.
type KubeReport struct {
	// The status of its server at the cloud, such as off; empty: it runs, or nobody
	// knows.
	Server string
	// Whether Kubernetes gets reports of its kubelet, and since when it gets them, or
	// gets none, for people. Empty: Kubernetes was not asked, or does not know the
	// node.
	Ready bool
	Since string
	// Whether it gets none for longer than a start takes.
	Long bool
}

// off is the status of a server that is switched off.
const off = "off"

// text is what is said, for a message; empty if nobody says anything.
func (h KubeReport) text() string {
	var parts []string
	if h.Server != "" {
		parts = append(parts, "Hetzner says that its server is "+h.Server)
	}
	if h.Since != "" {
		state := "not ready"
		if h.Ready {
			state = "ready"
		}
		parts = append(parts, "Kubernetes says that it is "+state+" since "+h.Since)
	}
	return strings.Join(parts, "; ")
}

// hint says what to do about a node that is not reached. That it is to be replaced is
// said of one only that has been away for longer than a start takes.
func (h KubeReport) hint() string {
	switch {
	case h.Server == off:
		return "it is reached when its server runs; apply switches that on"
	case h.Server != "":
		return "plan again when its server runs"
	case h.Ready:
		// Kubernetes notices the loss of a node after about a minute.
		return "plan again in a few minutes: if it is still ready then, the way to it is closed: do firewalls let you in, and is its address right?"
	case h.Long:
		return "see its console; if the machine is lost for good, replace it: talosgen replace"
	}
	return "it may be starting, or its network may be down: plan again in a few minutes, or see its console"
}

// because is why a node is not reached or not used, and what others say, in
// brackets; empty if nothing is known.
func because(n Node) string {
	parts := []string{}
	for _, part := range []string{n.Reason, n.KubeReport.text()} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, "; ") + ")"
}
