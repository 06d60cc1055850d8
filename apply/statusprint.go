package apply

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/talosgen/talosgen/apply/plan"
)

// notCompared is what a status does not look at.
const notCompared = "  not compared: configurations of nodes, infrastructure (talosgen plan)"

// String prints the status for people.
func (s *Status) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", s.Cluster, plan.Printable(s.head()))
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	row := func(cells ...string) { fmt.Fprintln(w, "  "+plan.Printable(strings.Join(cells, " "))) }
	table := func(title string, rows [][]string) {
		if len(rows) == 0 {
			return
		}
		fmt.Fprintf(w, "%s:\n", title)
		for _, cells := range rows {
			for i, cell := range cells {
				cells[i] = plan.Printable(cell)
			}
			fmt.Fprintln(w, strings.TrimRight("  "+strings.Join(cells, "\t"), "\t "))
		}
	}
	var nodes, flux, argo, certificates, support, rotations, access [][]string
	for _, n := range s.Nodes {
		nodes = append(nodes, []string{n.Name, n.state(), n.Kubelet, n.Talos})
	}
	for _, f := range s.Flux {
		flux = append(flux, []string{f.Name, f.state(), f.Revision})
	}
	for _, f := range s.ArgoCD {
		argo = append(argo, []string{f.Name, f.state(), f.Revision})
	}
	for _, c := range s.Certificates {
		until, since := "until "+c.Expires.UTC().Format(time.DateOnly), "since "+c.Begins.UTC().Format(time.DateOnly)
		if c.Problem != "" {
			until, since = "not known", ""
		}
		certificates = append(certificates, []string{c.Name, until, since})
	}
	for _, v := range s.Support {
		support = append(support, []string{v.Program + " " + v.Version, v.Text})
	}
	for _, kind := range s.Rotations {
		rotations = append(rotations, []string{kind, "under way: see talosgen rotate " + s.Environment + " " + kind + " --status"})
	}
	table("nodes", nodes)
	if s.Objects != nil {
		table("objects", [][]string{{s.Objects.Summary()}})
	}
	table("Flux", flux)
	table("Argo CD", argo)
	table("certificates", certificates)
	table("rotations", rotations)
	table("support", support)
	for _, a := range s.Access {
		access = append(access, []string{a.String()})
	}
	table("access", access)
	switch {
	case len(s.Differences) == 0 && s.Problem != "":
		fmt.Fprintln(w, "what could be looked at is as in Git\n"+notCompared)
	case len(s.Differences) == 0:
		fmt.Fprintln(w, "as in Git\n"+notCompared)
	default:
		fmt.Fprintln(w, "differs from Git:")
		for _, d := range s.Differences {
			row(d)
		}
	}
	_ = w.Flush() // into memory
	return b.String()
}

// head says which Kubernetes it is, and what was not to be had of it.
func (s *Status) head() string {
	switch {
	case s.Problem == "":
		return "Kubernetes " + s.Version
	case s.Version == "":
		return "Kubernetes not known: " + s.Problem
	}
	return "Kubernetes " + s.Version + ", not known further: " + s.Problem
}

func (n NodeStatus) state() string {
	switch {
	case n.Unknown:
		return "not known"
	case !n.Registered:
		return "missing"
	case !n.Ready:
		return "not ready"
	case n.Cordoned:
		return "ready, cordoned"
	}
	return "ready"
}

func (f FluxStatus) state() string {
	switch {
	case !f.There:
		return "missing"
	case f.Suspended:
		return "suspended"
	case !f.Ready:
		return "not ready"
	case !f.Current:
		return "ready, of another tree"
	}
	return "ready"
}
