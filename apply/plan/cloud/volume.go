package cloud

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/schemas"
)

// volumes plans the volumes that servers have for themselves. What is on one is lost only
// by consent to exactly that.
type volumes struct{ *planner }

// compare plans them, and tells of those that no server has any more.
func (p *volumes) compare() {
	for _, s := range p.desired.Servers {
		for _, want := range s.Volumes {
			p.volume(s, want)
		}
	}
	stale(p.planner, KindVolume, p.observed.Volumes, p.unwanted)
}

// volume plans one volume of a server. One that a server is made with, it gets with that.
func (p *volumes) volume(s schemas.InfraServer, want schemas.InfraVolume) {
	have, blocked := claim(p.planner, KindVolume, want.Name, p.observed.Volumes)
	if blocked {
		return
	}
	lives := p.stayingServer(s.Name)
	place := p.volumesIn(s)
	if lives != nil {
		place = lives.Location
	}
	switch {
	case have == nil:
		p.create(s, want, lives)
	case have.Location != place:
		p.instead(s, want, have, lives)
	default:
		p.update(s, want, have, lives)
	}
}

// stayingServer is the server of a name that stays as it is; nil if it is made, or made anew.
func (p *volumes) stayingServer(name string) *Server {
	anew := slices.ContainsFunc(p.plan.Changes, func(c Change) bool {
		return c.Key == KeyOf(KindServer, name) && (c.Action == Create || c.Action == Replace)
	})
	i := slices.IndexFunc(p.observed.Servers, func(o Server) bool { return o.Name == name && o.Status != statusDeleting })
	if anew || i < 0 {
		return nil
	}
	return &p.observed.Servers[i]
}

// create plans a new volume, attached to its server.
func (p *volumes) create(s schemas.InfraServer, want schemas.InfraVolume, lives *Server) {
	d := buildChange(KindVolume, want.Name, 0, Create)
	d.Reason = missing
	p.whole(d, s, want)
	p.alike(d, s, want, lives)
	p.add(d)
}

// whole shows a volume that is made.
func (p *volumes) whole(d *changeBuilder, s schemas.InfraServer, want schemas.InfraVolume) {
	d.show(FieldSize, gigabytes(want.Size))
	d.show(FieldServer, s.Name)
	if s.Protected {
		d.show(FieldProtected, "on")
	}
	d.needs(KeyOf(KindServer, s.Name))
}

// instead plans another volume in the place of one that is not where its server is:
// volumes do not move. It takes consent to lose what is on it.
func (p *volumes) instead(s schemas.InfraServer, want schemas.InfraVolume, have *Volume, lives *Server) {
	to := words(s.Locations)
	if lives != nil {
		to = lives.Location
	}
	d := buildChange(KindVolume, want.Name, have.ID, Replace)
	why := fmt.Sprintf("a volume does not move: it is in %s, and its server in %s", have.Location, to)
	if !p.policy.LosesVolumes(s.Name, s.Pool) && !p.deletes(d.Key) {
		p.refusal(d.Key, why, fmt.Sprintf("keep the location, or agree to lose what is on it: --allow %s%s", plan.VolumesKey, cmp.Or(s.Pool, s.Name)))
		return
	}
	d.Destructive, d.LiftProtection, d.Reason = true, have.Protected, why+"; what is on it is lost"
	d.Consent, d.Allowed = plan.ConsentDestroy, true
	p.whole(d, s, want)
	p.alike(d, s, want, lives)
	p.add(d)
}

// update compares a volume that stays.
func (p *volumes) update(s schemas.InfraServer, want schemas.InfraVolume, have *Volume, lives *Server) {
	d := buildChange(KindVolume, want.Name, have.ID, Update)
	labels := s.Labels
	if p.desired.KeepOthers {
		labels = keptOf(labels, want.Name, p.observed.Volumes)
	}
	d.labels(have.Labels, labels)
	switch {
	case have.Size < want.Size:
		d.differ(FieldSize, gigabytes(have.Size), gigabytes(want.Size), "")
	case have.Size > want.Size:
		d.refuse(Field{Name: FieldSize, from: gigabytes(have.Size), to: gigabytes(want.Size), Reason: "a volume does not shrink"},
			"set its size to %d, or copy what is on it to a volume of another name", have.Size)
	}
	d.differ(FieldProtected, onOff(have.Protected), onOff(s.Protected), "")
	p.attach(d, s, want, have, lives)
	p.add(d)
}

// attach wants a volume at its server.
func (p *volumes) attach(d *changeBuilder, s schemas.InfraServer, want schemas.InfraVolume, have *Volume, lives *Server) {
	at := p.observed.serverKey(have.Server)
	switch {
	case lives != nil && have.Server == lives.ID, lives == nil && at == KeyOf(KindServer, s.Name):
	case have.Server != 0:
		p.refusal(d.Key, "it is attached to "+string(at), "detach it there in Hetzner's console, or rename it")
	case lives != nil || !p.owner.owns(have.Labels): // else its server is made with it
		d.field(Field{Name: FieldServer, to: s.Name, Class: InPlace})
		d.needs(KeyOf(KindServer, s.Name))
		p.alike(d, s, want, lives)
	}
}

// alike refuses a volume beside one of the same size: Talos finds those that it has not
// seen by their sizes.
func (p *volumes) alike(d *changeBuilder, s schemas.InfraServer, want schemas.InfraVolume, lives *Server) {
	if lives == nil {
		return
	}
	for _, v := range p.observed.Volumes {
		own := slices.ContainsFunc(s.Volumes, func(w schemas.InfraVolume) bool { return w.Name == v.Name })
		if v.Server == lives.ID && v.Size == want.Size && !own {
			p.refusal(d.Key, fmt.Sprintf("the volume %s at the server %s has %d GB too, and Talos finds a new one by its size", v.Name, s.Name, v.Size),
				"choose another size")
		}
	}
}

// unwanted is a volume of a node that is not in Git, or has it no more. It stays, unless
// somebody agrees to lose it by its key.
func (p *volumes) unwanted(v *Volume) {
	d := buildChange(KindVolume, v.Name, v.ID, Delete)
	if !p.deletes(d.Key) {
		where := "in " + v.Location
		if v.Server != 0 && !p.goes(KindServer, v.Server) {
			where = "at " + string(p.observed.serverKey(v.Server))
		}
		p.warn(d.Key, fmt.Sprintf("no node in Git has it: it stays %s, with its %s, and is paid for", where, gigabytes(v.Size)),
			fmt.Sprintf("a node of that name gets it again; to delete it with what is on it: --allow %s", d.Key))
		return
	}
	d.Destructive, d.LiftProtection, d.Reason = true, v.Protected, unwanted+"; what is on it is lost"
	d.Consent, d.Allowed = plan.ConsentDestroy, true
	if v.Server != 0 {
		d.after(p.observed.serverKey(v.Server))
	}
	p.add(d)
}

// deletes reports whether somebody agreed to delete a volume. Consent to everything
// destructive, or to what only has its name, does not.
func (p *planner) deletes(key plan.Key) bool { return slices.Contains(p.policy.Allow, string(key)) }

// volumesIn is where a server has to be made for the volumes that it has already; empty if
// there are none where it may be.
func (p *planner) volumesIn(s schemas.InfraServer) string {
	for _, want := range s.Volumes {
		for _, v := range p.observed.Volumes {
			ours := p.owner.owns(v.Labels) || plan.Named(p.policy.Adopt, KeyOf(KindVolume, v.Name), v.Name)
			if v.Name == want.Name && ours && slices.Contains(s.Locations, v.Location) {
				return v.Location
			}
		}
	}
	return ""
}

// behind are the volumes of a server that stay where it leaves.
func (p *planner) behind(s schemas.InfraServer, have *Server) (names []string) {
	if len(s.Locations) == 0 || slices.Contains(s.Locations, have.Location) {
		return nil
	}
	for _, want := range s.Volumes {
		if slices.ContainsFunc(p.observed.Volumes, func(v Volume) bool { return v.Name == want.Name && v.Location == have.Location }) {
			names = append(names, want.Name)
		}
	}
	return names
}

// madeWithVolumes are the volumes that a server is made with, for people.
func (p *planner) madeWithVolumes(s schemas.InfraServer) string {
	var names []string
	place := p.volumesIn(s)
	for _, want := range s.Volumes {
		if slices.ContainsFunc(p.observed.Volumes, func(v Volume) bool { return v.Name == want.Name && v.Location == place }) {
			names = append(names, want.Name)
		}
	}
	return strings.Join(names, ", ")
}

func gigabytes(n int) string { return strconv.Itoa(n) + " GB" }
