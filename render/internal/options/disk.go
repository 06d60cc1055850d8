package options

import (
	"strconv"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render/internal/machine"
	"github.com/talosgen/talosgen/render/internal/model"
	"github.com/talosgen/talosgen/schemas"
)

// volumes are those of Hetzner Cloud that a node has for itself.
func volumes(n model.Node) (list []machine.AttachedVolume) {
	for i, v := range n.Volumes {
		at := func(key string) diag.Pos { return n.Pos("volumes", strconv.Itoa(i), key) }
		list = append(list, machine.AttachedVolume{
			Name: machine.Option{Value: v.Name, Pos: at("name")}, Size: v.Size, SizePos: at("size"),
		})
	}
	return list
}

// diskSelector is what the disk of a node is like, with the places that say so: its own,
// its pool's, or the cluster's.
func (c places) diskSelector(n model.Node) (d machine.DiskSelector) {
	s := n.DiskSelector
	if s == (schemas.DiskSelector{}) {
		return d
	}
	of := func(key, value string, cluster *string) machine.Option {
		pos := diag.Pos{}
		if pos = n.Pos("diskSelector", key); pos.Line == 0 {
			pos = c.config.At(cluster)
		}
		return machine.Option{Value: value, Pos: pos}
	}
	all := &c.config.Talos.DiskSelector
	for _, f := range []struct {
		key, value string
		cluster    *string
	}{
		{"size", s.Size, &all.Size}, {"model", s.Model, &all.Model}, {"serial", s.Serial, &all.Serial}, {"modalias", s.Modalias, &all.Modalias},
		{"uuid", s.UUID, &all.UUID}, {"wwid", s.WWID, &all.WWID}, {"type", s.Type, &all.Type}, {"busPath", s.BusPath, &all.BusPath},
	} {
		if f.value != "" {
			d.Fields = append(d.Fields, machine.NamedOption{Name: f.key, Option: of(f.key, f.value, f.cluster)})
		}
	}
	if s.Match != "" {
		d.Match = of("match", s.Match, &all.Match)
	}
	return d
}
