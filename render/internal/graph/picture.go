// Package graph draws an environment from its rendered tree: the network with
// what is in it, who gets in, and what runs in the cluster in which order. It
// is pure: from values to a [Picture], and from that to text, as SVG or Mermaid.
package graph

// Picture is what is drawn: groups from top to bottom, and arrows between what
// is in them. It knows nothing of sizes and places.
type Picture struct {
	Title    string
	Subtitle string
	Groups   []Group
	Arrows   []Arrow
}

// Group is a frame around rows. One without a title has no frame.
type Group struct {
	Title    string
	Subtitle string
	Rows     []Row
}

// Row is cards side by side, with a title in front.
type Row struct {
	ID       string // what arrows know it by
	Title    string
	Subtitle string
	Cards    []Card
}

// Card is a thing, or several that are alike.
type Card struct {
	ID    string // what arrows know it by
	Kind  Kind
	Title string
	Lines []Line
	// The objects that it stands for, as plans name them; none: they are not marked.
	Objects []string
	// What becomes of them, and in words; see [Picture.Mark].
	Become Become
	Note   string
}

// Line is a line of text of a card: its beginning, and its end. Either may be
// empty.
type Line struct{ Left, Right string }

// Arrow leads from one card to another, or from one row to another.
type Arrow struct{ From, To string }

// Kind says what a card stands for. It decides on the colour.
type Kind string

// What a card can stand for, as it is written on the card.
const (
	People       Kind = "people"
	Firewall     Kind = "firewall"
	FloatingIP   Kind = "floating IP"
	SharedIP     Kind = "shared address"
	DNSRecord    Kind = "DNS record"
	LoadBalancer Kind = "load balancer"
	NATGateway   Kind = "NAT gateway"
	ControlPlane Kind = "control plane"
	Worker       Kind = "worker"
	Autoscaler   Kind = "autoscaler pool"
	Addon        Kind = "addon"
	Repository   Kind = "Git repository"
	Leaving      Kind = "not in the tree"
)

// card finds a card by its id.
func (p *Picture) card(id string) (found Card, ok bool) {
	for _, g := range p.Groups {
		for _, r := range g.Rows {
			for _, c := range r.Cards {
				if c.ID == id {
					return c, true
				}
			}
		}
	}
	return found, false
}
