package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"

	"github.com/urfave/cli/v2"

	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/apply/reach"
	"github.com/talosgen/talosgen/apply/rehearsal"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/sim/hetznersim"
	"github.com/talosgen/talosgen/internal/sim/kubesim"
	"github.com/talosgen/talosgen/internal/sim/rescuesim"
	"github.com/talosgen/talosgen/internal/sim/talossim"
	"github.com/talosgen/talosgen/internal/sshkey"
)

// cloudChange is a change of a plan for Hetzner Cloud.
type cloudChange = cloudplan.Change

// resembling makes a site as a cluster was observed.
func resembling(c *cli.Context, o *rehearsal.Observed) populating {
	return func(t *trySite, ctx context.Context, random io.Reader, key secret.String, flux *kubesim.Flux) (err error) {
		public, err := sshkey.Public(key)
		if err != nil {
			return err
		}
		if t.rescue, err = rescuesim.New(random, fetchPicture); err != nil {
			return fmt.Errorf("no randomness for a key: %w", err)
		}
		token, err := newToken(random)
		if err != nil {
			return err
		}
		t.fleet = talossim.New(talossim.Options{Clock: t.clock, Random: random, Flux: flux, Extensions: extensions(o), Timing: timing(o)})
		servers := talossim.NewServers(t.fleet, t.rescue)
		t.sim = hetznersim.New(hetznersim.Options{Clock: t.clock, Token: token, Machines: servers})
		if o.Hetzner != nil {
			if err := t.sim.Load(withKey(o.Hetzner, public)); err != nil {
				return notResembled(err)
			}
		}
		endpoints, err := reach.ParseEndpoints(c.StringSlice(flagEndpoints))
		if err != nil {
			return err
		}
		return notResembled(t.fleet.Stand(t.found(o, public, endpoints), servers))
	}
}

// notResembled is the error of something that was read and cannot be simulated.
func notResembled(err error) error {
	if err == nil {
		return nil
	}
	return diag.On("rehearse", "what was read cannot be simulated: %v", err).WithCode(diag.Remote).WithCause(err)
}

// withKey are the answers of a project whose SSH keys are all the one of the site:
// nobody has the private halves of others.
func withKey(from map[string][]json.RawMessage, public string) hetznersim.Answers {
	to := hetznersim.Answers{}
	for kind, items := range from {
		to[kind] = items
	}
	to["ssh_keys"] = nil
	for _, item := range from["ssh_keys"] {
		var key map[string]any
		if json.Unmarshal(item, &key) == nil {
			key["public_key"] = public
			if text, err := json.Marshal(key); err == nil {
				item = text
			}
		}
		to["ssh_keys"] = append(to["ssh_keys"], item)
	}
	return to
}

// timing is how long machines take: as usual, but for what was read.
func timing(o *rehearsal.Observed) talossim.Timing {
	usual := talossim.DefaultTiming()
	if pods, known := o.PodStart(); known {
		usual.Pods = pods
	}
	return usual
}

// extensions are those of images that run.
func extensions(o *rehearsal.Observed) map[string][]string {
	all := map[string][]string{}
	for _, n := range o.Nodes {
		if n.Schematic != "" {
			all[n.Schematic] = n.Extensions
		}
	}
	return all
}

// found is an observed cluster as simulated nodes know it.
func (t *trySite) found(o *rehearsal.Observed, public string, endpoints map[string]string) talossim.Found {
	f := talossim.Found{Kubernetes: o.Kubernetes, Leader: o.Leader}
	for _, m := range o.Etcd {
		f.Members = append(f.Members, talossim.FoundMember(m))
	}
	for _, object := range o.Objects {
		f.Objects = append(f.Objects, object)
	}
	for _, m := range t.infra.Machines {
		if n := o.Node(m.Name); n != nil {
			s := standing(*n)
			spec := preinstalled(m)
			s.Public = spec.Public
			if len(s.Disks) == 0 {
				s.Disks = spec.Disks
			}
			s.reachedAt(endpoints)
			f.Machines = append(f.Machines, s.Standing)
		}
	}
	for _, server := range o.Servers() {
		machine, running, there := t.sim.Machine(server)
		n := o.Node(server)
		gateway := t.infra.Access.Leads(server) && !o.HostKey.IsZero()
		if !there || n == nil && !gateway {
			continue
		}
		var s stander
		if gateway {
			s.SSH = &talossim.SSHServer{HostKey: o.HostKey.Reveal(), Keys: []string{public}}
		} else {
			s = standing(*n)
		}
		s.Server, s.Off = &machine, !running
		f.Machines = append(f.Machines, s.Standing)
	}
	return f
}

// stander is a machine that is being put in its place.
type stander struct{ talossim.Standing }

// reachedAt adds the address at which the operator reaches it.
func (s *stander) reachedAt(endpoints map[string]string) {
	address := endpoints[s.Name]
	if host, _, err := net.SplitHostPort(address); err == nil {
		address = host
	}
	if address != "" {
		s.Public = append(s.Public, address)
	}
}

// standing is a node as a simulated one.
func standing(n rehearsal.Node) (s stander) {
	s.Spec = talossim.Spec{
		Name: n.Name, UUID: n.UUID, Serial: n.Serial, MACs: n.MACs, Talos: n.Talos, Schematic: n.Schematic, Platform: n.Platform,
		SecureBoot: n.SecureBoot, BootSize: n.BootSize, Installed: n.Platform == "hcloud",
	}
	if n.SecureBoot {
		s.Bootloader = talossim.SystemdBoot
	}
	for _, d := range n.Disks {
		s.Disks = append(s.Disks, talossim.Disk{Path: d.Path, Model: d.Model, Serial: d.Serial, WWID: d.WWID, Symlinks: d.Symlinks, Size: d.Size})
	}
	s.Config, s.Member = n.Config.Reveal(), n.Member
	s.BootID, s.Images, s.Other, s.BootsOther = n.Boot, n.Images, talossim.System(n.Other), n.BootsOther
	s.Cut = n.Reach == string(nodeplan.Unreachable)
	return s
}
