package robot

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/apply/internal/node"
	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/internal/natural"
)

// Target is a node whose dedicated server gets Talos, as the tree and its cluster say.
type Target struct {
	Node   string
	Number int64 // of the server at Robot
	// What cluster.yaml has of public addresses, one of which must be the server's.
	Addresses []string
	Image     Image
	Disk      *node.DiskSelector
	// Whether it waits for its configuration already.
	Waits bool
	// Why it must be left alone, and what to do; empty: it need not.
	Refusal, Hint string
	// Whether a disk that holds something else may be overwritten.
	Overwrite bool
}

// Observed is what Robot says of a server.
type Observed struct {
	Server Server
	Rescue Rescue
}

// Entry is what is done to one server.
type Entry struct {
	Target
	Observed
}

// Plan is what is done to some servers, one after the other.
type Plan struct {
	Environment string
	Entries     []Entry
	Refusals    []plan.Note
}

// ConsentDisk begins the keys by which the operator agrees that a disk is overwritten that
// holds something else; the name of the node follows.
const ConsentDisk = "disk/"

// keyName is the name of the key of a session in the account.
func keyName(number int64) string { return fmt.Sprintf("talosgen-install-%d", number) }

// Make says what is done, from what was observed of each target.
func Make(environment string, targets []Target, observed []Observed) *Plan {
	p := &Plan{Environment: environment}
	for i, t := range targets {
		e := Entry{Target: t, Observed: observed[i]}
		p.Entries = append(p.Entries, e)
		if text, hint := e.refusal(); text != "" {
			p.Refusals = append(p.Refusals, plan.Note{Key: plan.Key("node/" + t.Node), Text: text, Hint: hint})
		}
	}
	return p
}

// Todo are the servers that get Talos.
func (p *Plan) Todo() (todo []Entry) {
	for _, e := range p.Entries {
		if text, _ := e.refusal(); text == "" && !e.Waits {
			todo = append(todo, e)
		}
	}
	return todo
}

// refusal says why a server must be left alone; empty: it need not.
func (e Entry) refusal() (text, hint string) {
	switch {
	case e.Refusal != "":
		return e.Refusal, e.Hint
	case e.Waits:
		return "", ""
	case e.Server.Cancelled:
		return fmt.Sprintf("server %d is cancelled at Robot", e.Number), ""
	case e.Server.Status == "in process":
		return fmt.Sprintf("Hetzner still prepares server %d", e.Number), "try again when Robot shows it as ready"
	case !slices.ContainsFunc(e.Addresses, e.Server.has):
		return fmt.Sprintf("server %d at Robot has the address %s, and cluster.yaml has %s", e.Number, e.Server.address(), strings.Join(e.Addresses, ", ")),
			"correct robotServer, or bootAddress and address, of the node in cluster.yaml"
	case e.Rescue.Active && !e.ours():
		return fmt.Sprintf("the rescue system of server %d is active, and was not activated by talosgen", e.Number),
			"another administrator may work on it; if not, deactivate it in Robot"
	}
	return "", ""
}

// ours reports whether a run of talosgen has activated the rescue system.
func (e Entry) ours() bool {
	foreign := func(k SSHKey) bool { return k.Name != keyName(e.Number) }
	return len(e.Rescue.Authorized) > 0 && !slices.ContainsFunc(e.Rescue.Authorized, foreign)
}

// has reports whether an address, which may have the length of a prefix, is one of the
// server.
func (s Server) has(text string) bool {
	text, _, _ = strings.Cut(text, "/")
	a, err := netip.ParseAddr(text)
	if err != nil {
		return false
	}
	for _, own := range append(slices.Clone(s.IPs), s.IP) {
		if b, err := netip.ParseAddr(own); err == nil && a == b {
			return true
		}
	}
	nets := []string{s.IPv6Net + "/64"}
	for _, n := range s.Subnets {
		nets = append(nets, n.IP+"/"+n.Mask)
	}
	return slices.ContainsFunc(nets, func(text string) bool {
		prefix, err := netip.ParsePrefix(text)
		return err == nil && prefix.Contains(a)
	})
}

// address is where the rescue system of a server is: without IPv4 the second address of
// its network.
func (s Server) address() string {
	if s.IP != "" {
		return s.IP
	}
	first, err := netip.ParseAddr(s.IPv6Net)
	if err != nil {
		return ""
	}
	return first.Next().Next().String()
}

// String shows the plan.
func (p *Plan) String() string {
	var w plan.Printer
	w.Line(0, "%s, install: %s", p.Environment, natural.Count(len(p.Todo()), "server"))
	for _, e := range p.Entries {
		w.Line(2, "%s: server %d, %s", e.Node, e.Number, e.Server.describe())
		switch refused, _ := e.refusal(); {
		case refused != "":
		case e.Waits:
			w.Line(4, "nothing to do: it runs Talos and waits for its configuration")
		default:
			w.Line(4, "it restarts into Hetzner's rescue system, and then into Talos")
			w.Line(4, "the disk %s is OVERWRITTEN with Talos %s, schematic %s", e.Disk, e.Image.Version, e.Image.Schematic)
			if e.Overwrite {
				w.Line(4, "also if that disk holds something else")
			}
		}
	}
	w.Paragraph("refused", p.Refusals)
	return w.String()
}

// describe is the server in words.
func (s Server) describe() string {
	return fmt.Sprintf("%q, %s in %s, %s", s.Name, s.Product, s.DC, strings.Join(append([]string{s.address()}, s.others()...), ", "))
}

// others are its addresses besides the one of the rescue system.
func (s Server) others() (all []string) {
	for _, a := range append(slices.Clone(s.IPs), s.IPv6Net) {
		if a != "" && a != s.address() {
			all = append(all, a)
		}
	}
	return all
}
