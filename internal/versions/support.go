package versions

import (
	"fmt"
	"time"
)

// SupportRead is the day on which the table of Kubernetes was read.
const SupportRead = "2026-08-22"

// kubernetesEnds is the day until which a minor version of Kubernetes 1 gets patches, as
// the Kubernetes project says (https://kubernetes.io/releases); read by way of
// https://endoflife.date/kubernetes on [SupportRead]. A new one is a line here.
var kubernetesEnds = map[int]string{
	29: "2025-02-28", 30: "2025-07-15", 31: "2025-11-11", 32: "2026-02-28", 33: "2026-06-28",
	34: "2026-10-27", 35: "2027-02-28", 36: "2027-06-28",
}

// Support is until when a version is supported.
type Support struct {
	Ends  string // the day, such as 2027-06-28; empty if none is known
	Ended bool
	Text  string // for people
}

// KubernetesSupport is that of a version of Kubernetes, such as v1.36.3.
func KubernetesSupport(version string, now time.Time) Support {
	oldest, newest := 0, 0
	for minor := range kubernetesEnds {
		newest = max(newest, minor)
		if oldest == 0 || minor < oldest {
			oldest = minor
		}
	}
	minor := Minor(version)
	ends, known := kubernetesEnds[minor]
	switch {
	case !isOne(version) || minor > newest || minor < 0:
		return Support{Text: fmt.Sprintf("not known: this talosgen knows up to 1.%d, as of %s", newest, SupportRead)}
	case !known:
		return Support{Ended: true, Text: "ended before " + kubernetesEnds[oldest]}
	case now.UTC().Format(time.DateOnly) > ends:
		return Support{Ends: ends, Ended: true, Text: "ended on " + ends}
	}
	return Support{Ends: ends, Text: "until " + ends}
}

// TalosSupport is that of a version of Talos by its community, which ends when the next
// minor release is out, as the support matrix of each version says
// (https://docs.siderolabs.com, "Support Matrix").
func TalosSupport(version string) Support {
	minor, newest := Minor(version), Newest().Minor
	switch {
	case !isOne(version) || minor < 0 || minor > newest:
		return Support{Text: fmt.Sprintf("not known: this talosgen knows up to 1.%d", newest)}
	case minor < newest:
		return Support{Ended: true, Text: fmt.Sprintf("ended when 1.%d was released", minor+1)}
	}
	return Support{Text: fmt.Sprintf("until 1.%d is released", minor+1)}
}
