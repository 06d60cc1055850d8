package main

import (
	"net/netip"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/apply"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/apply/wayin"
	"github.com/talosgen/talosgen/internal/diag"
)

// nameAccess is the name of the command.
const nameAccess = "access"

// Flags of access.
const (
	flagFor    = "for"
	flagSource = "source"
	flagAll    = "all"
)

// Bounds of how long access stays open.
const (
	shortestAccess = time.Minute
	longestAccess  = 24 * time.Hour
	usualAccess    = 2 * time.Hour
)

// nodeAccessCommand opens access to the nodes of a cluster for a while.
type nodeAccessCommand struct{ clusters clusters }

func (a nodeAccessCommand) command() *cli.Command {
	return &cli.Command{
		Name:  nameAccess,
		Usage: "show, open and close access to the nodes of a cluster",
		Description: `Lets your address in to the nodes of a cluster for a while, or takes you to nodes
without public addresses.

Examples:
   talosgen access show prod          who is let in, until when
   talosgen access open prod          let your address in for 2 hours
   talosgen access close prod         end it
   talosgen access proxy prod         through the gateway of private nodes`,
		Subcommands: []*cli.Command{a.showCommand(), a.openCommand(), a.closeCommand(), a.proxyCommand()},
	}
}

func (a nodeAccessCommand) showCommand() *cli.Command {
	return &cli.Command{
		Name:      "show",
		Usage:     "show who is let in to the nodes, and until when",
		ArgsUsage: "<env>",
		Description: `Shows which addresses firewalls let in to the nodes of a cluster: those that
cluster.yaml names for good (hetzner.firewall.apiSource), and those that an
operator or a run has opened for a while, until when.

Examples:
   talosgen access show prod
   talosgen access show prod -o json`,
		Flags:  sessionFlags(append(nodeFlags(), outputFlag())...),
		Action: func(c *cli.Context) error { return a.clusters.read(c, func(s *session) error { return a.show(c, s) }) },
	}
}

// shownAccess is who is let in to a cluster.
type shownAccess struct {
	wayin.Way
	Open []cloudplan.OpenAccess `json:"open"`
}

func (a nodeAccessCommand) show(c *cli.Context, s *session) error {
	open, err := apply.Access{Session: s.Session}.List(c.Context)
	s.stop()
	if err != nil {
		return err
	}
	shown := shownAccess{wayin.Of(&s.env.Infrastructure), open}
	if forPrograms(c) {
		return s.out.printValue(c, shown)
	}
	text := shown.String() + "\n"
	for _, access := range open {
		text += access.String() + "\n"
	}
	return s.out.printText(text)
}

func (a nodeAccessCommand) openCommand() *cli.Command {
	return &cli.Command{
		Name:      "open",
		Usage:     "let your address in to the nodes for a while",
		ArgsUsage: "<env>",
		Description: `Makes a firewall of its own that lets your public address in to the APIs of
Kubernetes and Talos (ports 6443 and 50000), or to SSH at the NAT gateway of nodes
without public addresses. Your address is what icanhazip.com says; --source names
others. It is no drift, and not part of a plan. Opened again, it is renewed, from
where you are then.

Hetzner does not end it: talosgen access close does, and once it has expired, the
next run of talosgen that takes the lock of the cluster. plan, status and access
show tell of it until then.

Examples:
   talosgen access open prod
   talosgen access open prod --for 30m --source 198.51.100.0/24`,
		Flags: sessionFlags(append(nodeFlags(), durationFlag(),
			&cli.StringSliceFlag{Name: flagSource, Usage: "address or range, `CIDR`, to let in, in place of your public address (repeatable)"}, outputFlag())...),
		Action: func(c *cli.Context) error {
			from, err := accessSources(c.StringSlice(flagSource))
			if err != nil {
				return err
			}
			return a.clusters.read(c, func(s *session) error { return a.open(c, s, from) })
		},
	}
}

// durationFlag is how long access stays open.
func durationFlag() cli.Flag {
	return &cli.DurationFlag{Name: flagFor, Usage: "`DURATION` until it ends, at most 24h", Value: usualAccess, Action: checkDuration}
}

func checkDuration(_ *cli.Context, d time.Duration) error {
	switch {
	case d < shortestAccess:
		return diag.On("--"+flagFor, "%v is too short", d).WithHint("the shortest is %v", shortestAccess).WithCode(diag.Usage)
	case d > longestAccess:
		return diag.On("--"+flagFor, "%v is too long: an address may be that of others by then", d).
			WithHint("24h is the longest, and it can be opened again; an address that stays yours goes to hetzner.firewall.apiSource of cluster.yaml").WithCode(diag.Usage)
	}
	return nil
}

// accessSources reads ranges of addresses.
func accessSources(texts []string) (from []netip.Prefix, err error) {
	for _, text := range texts {
		p, err := netip.ParsePrefix(text)
		if addr, err := netip.ParseAddr(text); err == nil && addr.Zone() == "" {
			p = netip.PrefixFrom(addr, addr.BitLen())
		} else if err != nil && !p.IsValid() {
			return nil, diag.On("--"+flagSource, "%q is neither an address nor a range", text).WithHint("such as 203.0.113.7 or 198.51.100.0/24").WithCode(diag.Usage)
		}
		if p.Bits() == 0 {
			return nil, diag.On("--"+flagSource, "%s is the whole internet", text).WithHint("name the addresses that are to be let in").WithCode(diag.Usage)
		}
		if err == nil && p != p.Masked() {
			return nil, diag.On("--"+flagSource, "%s is an address with a range", text).
				WithHint("the range is %s, the address alone %s", p.Masked(), p.Addr()).WithCode(diag.Usage)
		}
		from = append(from, p)
	}
	return from, nil
}

func (a nodeAccessCommand) open(c *cli.Context, s *session, from []netip.Prefix) error {
	opened, err := apply.Access{Session: s.Session}.Open(c.Context, wayin.Opening{Lasts: c.Duration(flagFor), From: from}, s.owner())
	s.stop()
	if err != nil {
		return err
	}
	if forPrograms(c) {
		return s.out.printValue(c, opened)
	}
	of := s.commands(c).Of
	s.out.say("%s", opened)
	if wayin.Of(&s.env.Infrastructure).Gateway != "" {
		s.out.say("to use kubectl and talosctl: %s", of(nameAccess+" proxy"))
	}
	s.out.say("to end it: %s", of(nameAccess+" close"))
	return nil
}

func (a nodeAccessCommand) closeCommand() *cli.Command {
	return &cli.Command{
		Name:      "close",
		Usage:     "end the access that you have opened",
		ArgsUsage: "<env>",
		Description: `Removes the firewalls by which you have opened access, as this user on this
machine, and those of others that have expired.

Examples:
   talosgen access close prod
   talosgen access close prod --all   also what others have opened`,
		Flags: sessionFlags(append(nodeFlags(), &cli.BoolFlag{Name: flagAll, Usage: "also what other operators have opened"}, outputFlag())...),
		Action: func(c *cli.Context) error {
			return a.clusters.read(c, func(s *session) error { return a.close(c, s) })
		},
	}
}

// closedAccess is what was closed, and what is open nevertheless.
type closedAccess struct {
	Closed []cloudplan.OpenAccess `json:"closed"`
	Open   []cloudplan.OpenAccess `json:"open"`
}

func (a nodeAccessCommand) close(c *cli.Context, s *session) error {
	closed, err := apply.Access{Session: s.Session}.Close(c.Context, s.owner(), c.Bool(flagAll))
	if err != nil {
		return err
	}
	left, err := apply.Access{Session: s.Session}.List(c.Context)
	s.stop()
	if err != nil {
		return err
	}
	if forPrograms(c) {
		return s.out.printValue(c, closedAccess{append([]cloudplan.OpenAccess{}, closed...), left})
	}
	if len(closed) == 0 {
		s.out.say("there was nothing to close")
	}
	for _, access := range closed {
		s.out.say("closed: %s", access)
	}
	for _, access := range left {
		s.out.note("%s", access)
	}
	return nil
}
