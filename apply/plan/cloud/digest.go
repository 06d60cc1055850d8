package cloud

import (
	"slices"
	"strings"

	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/internal/natural"
	"github.com/talosgen/talosgen/internal/sorting"
)

// reader digests what was observed.
type reader struct {
	attachment
	observed *Observed
}

// reads digests the objects that changes write or rely on. The ids are those of
// objects that are desired and there.
func (r reader) reads(changes []Change, ids map[plan.Key]int64) []plan.Digest {
	reads, seen := []plan.Digest{}, map[plan.Key]bool{}
	read := func(key plan.Key, id int64) {
		if key == "" || seen[key] {
			return
		}
		seen[key] = true
		reads = append(reads, r.digest(key, id))
	}
	for _, c := range changes {
		read(c.Key, c.ID)
		for _, k := range c.relies {
			read(k, ids[k])
		}
		if c.Image != 0 {
			read(KeyOf(KindImage, idText(c.Image)), c.Image)
		}
	}
	sorting.By(reads, func(a, b plan.Digest) int { return natural.Compare(string(a.Key), string(b.Key)) })
	return reads
}

// digest identifies the state of an object.
func (r reader) digest(key plan.Key, id int64) plan.Digest {
	d := plan.Digest{Key: key, ID: id}
	if object := r.observe(key, id); object != nil {
		d.Digest = plan.DigestOf(object)
	}
	return d
}

// observe returns the object of a key, without what comes and goes while
// nobody changes it; nil if it is not there. The id decides, if there is one.
func (r reader) observe(key plan.Key, id int64) any {
	kind, name, _ := strings.Cut(string(key), "/")
	o := r.observed
	switch Kind(kind) {
	case KindNetwork:
		return lookup(o.Networks, id, name, func(n *Network) { n.Subnets, n.Routes, n.Servers, n.LoadBalancers = nil, nil, nil, nil })
	case KindSubnet:
		return orNil(r.subnet(name))
	case KindRoute:
		return orNil(r.route(name))
	case KindFirewall:
		return lookup(o.Firewalls, id, name, func(f *Firewall) { f.Servers = nil })
	case KindPlacementGroup:
		return lookup(o.PlacementGroups, id, name, func(*PlacementGroup) {})
	case KindFloatingIP:
		return lookup(o.FloatingIPs, id, name, func(f *FloatingIP) { f.Server = 0 })
	case KindPrimaryIP:
		return lookup(o.PrimaryIPs, id, name, func(*PrimaryIP) {})
	case KindServer:
		return lookup(o.Servers, id, name, r.steady)
	case KindVolume:
		return lookup(o.Volumes, id, name, func(*Volume) {})
	case KindLoadBalancer:
		return lookup(o.LoadBalancers, id, name, func(*LoadBalancer) {})
	case KindImage:
		return lookup(o.Images, id, name, func(*Image) {})
	case KindRRSet:
		return o.recordSet(name)
	}
	return nil
}

// steady drops from a server what changes by itself: it starts, the volumes of
// pods and the alias IP of the Kubernetes API come and go, and so does the
// firewall that lets in whoever runs apply.
func (r reader) steady(s *Server) {
	if s.Status != statusOff && s.Status != statusStopping && s.Status != statusDeleting {
		s.Status = "on"
	}
	s.Locked, s.Volumes = false, nil
	s.PrivateNets = slices.Clone(s.PrivateNets)
	for i := range s.PrivateNets {
		s.PrivateNets[i].AliasIPs = nil
	}
	s.Firewalls = slices.DeleteFunc(slices.Clone(s.Firewalls), func(a AppliedFirewall) bool {
		return slices.ContainsFunc(r.observed.Firewalls, func(f Firewall) bool { return f.ID == a.ID && transient(f.Labels) })
	})
	for i := range s.Firewalls {
		s.Firewalls[i].Status = ""
	}
}

// lookup finds an object and strips it. What belongs to a run counts as absent:
// runs renew their locks and session firewalls while they last.
func lookup[T object](list []T, id int64, name string, strip func(*T)) any {
	for _, o := range list {
		if transient(o.meta().Labels) {
			continue
		}
		if o.meta().ID == id && id != 0 || id == 0 && o.meta().Name == name {
			strip(&o)
			return o
		}
	}
	return nil
}

func orNil[T any](p *T) any {
	if p == nil {
		return nil
	}
	return *p
}

// again digests the same objects as they are now.
func (r reader) again(reads []plan.Digest) []plan.Digest {
	now := make([]plan.Digest, len(reads))
	for i, was := range reads {
		now[i] = r.digest(was.Key, was.ID)
	}
	return now
}
