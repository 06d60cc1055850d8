package image

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/internal/labelselector"
	"github.com/talosgen/talosgen/internal/sorting"
	"github.com/talosgen/talosgen/schemas"
)

// Selector finds the snapshots with Talos of a project, whoever made them.
const Selector = "os=talos"

// Environment is what a rendered tree of the repository wants.
type Environment struct {
	Name           string
	Infrastructure schemas.Infrastructure
}

// Use is a snapshot, and what refers to it.
type Use struct {
	cloudplan.Image
	// What refers to it, for people: environments, servers, autoscalers.
	By []string
	// What may refer to it, because nobody knows.
	Maybe []string
}

// Prunable reports whether nothing refers to a snapshot that talosgen made.
func (u Use) Prunable() bool {
	return len(u.By) == 0 && len(u.Maybe) == 0 && !u.Protected && u.Status == "available" &&
		u.Labels[schemas.LabelManagedBy] == schemas.ManagedBy
}

// Project is what decides about the use of snapshots.
type Project struct {
	Snapshots    []cloudplan.Image
	Servers      []cloudplan.Server // all there are
	Environments []Environment      // all there are in the repository
	// The configurations of living autoscalers, by cluster, as far as they are
	// known.
	Autoscalers map[string]Autoscaler
}

// Uses says what refers to each snapshot, the newest first.
//
// Of several snapshots that a selector finds the newest is the one that counts:
// that is the one which servers are made from.
func (p Project) Uses() []Use {
	uses := make([]Use, len(p.Snapshots))
	for i, s := range p.Snapshots {
		uses[i].Image = s
	}
	sorting.By(uses, func(a, b Use) int {
		return cmp.Or(b.Created.Compare(a.Created), cmp.Compare(b.ID, a.ID))
	})
	p.byEnvironments(uses)
	p.byServers(uses)
	p.byAutoscalers(uses)
	for i := range uses {
		slices.Sort(uses[i].By)
		uses[i].By = slices.Compact(uses[i].By)
	}
	return uses
}

func (p Project) byEnvironments(uses []Use) {
	for _, e := range p.Environments {
		infra := e.Infrastructure
		var wanted []schemas.InfraImage
		for _, s := range infra.Images {
			wanted = append(wanted, schemas.InfraImage{Selector: s.Selector, Architecture: s.Architecture})
		}
		for _, s := range infra.Servers {
			wanted = append(wanted, s.Image)
		}
		for _, a := range infra.AutoscalerPools {
			wanted = append(wanted, a.Image)
		}
		for _, w := range wanted {
			if u := newest(uses, w.Selector, w.Architecture); u != nil {
				u.By = append(u.By, "environment "+e.Name)
			}
		}
	}
}

// newest finds the first that fits; uses are the newest first.
func newest(uses []Use, selector, architecture string) *Use {
	s, err := labelselector.Parse(selector)
	if err != nil || selector == "" {
		return nil
	}
	for i := range uses {
		if uses[i].Status == "available" && uses[i].Architecture == architecture && s.Matches(uses[i].Labels) {
			return &uses[i]
		}
	}
	return nil
}

func (p Project) byServers(uses []Use) {
	for i := range uses {
		var names []string
		for _, s := range p.Servers {
			if s.ImageID == uses[i].ID {
				names = append(names, s.Name)
			}
		}
		slices.Sort(names)
		switch len(names) {
		case 0:
		case 1:
			uses[i].By = append(uses[i].By, "server "+names[0])
		default:
			uses[i].By = append(uses[i].By, fmt.Sprintf("server %s and %d more", names[0], len(names)-1))
		}
	}
}

// byAutoscalers adds what living autoscalers make servers from. The
// configuration of one is in its cluster. Where nobody has told what is in it,
// everything may be.
func (p Project) byAutoscalers(uses []Use) {
	for _, cluster := range p.clusters() {
		config, known := p.Autoscalers[cluster]
		if known {
			config.mark(uses, "autoscaler of "+cluster)
			continue
		}
		if maybe := p.maybe(cluster); maybe != "" {
			for i := range uses {
				uses[i].Maybe = append(uses[i].Maybe, maybe)
			}
		}
	}
}

// clusters are those that have servers in the project.
func (p Project) clusters() (names []string) {
	for _, s := range p.Servers {
		if name := s.Labels[schemas.LabelCluster]; name != "" {
			names = append(names, name)
		}
	}
	for name := range p.Autoscalers {
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// maybe says why a cluster may have an autoscaler that nobody knows of; "" if
// it has none.
func (p Project) maybe(cluster string) string {
	known := false
	for _, e := range p.Environments {
		if e.Infrastructure.Cluster != cluster {
			continue
		}
		known = true
		if len(e.Infrastructure.AutoscalerPools) > 0 {
			return "autoscaler of " + cluster
		}
	}
	for _, s := range p.Servers {
		if s.Labels[schemas.LabelCluster] == cluster && s.Labels[schemas.LabelNodeGroup] != "" {
			return "autoscaler of " + cluster
		}
	}
	if known {
		return ""
	}
	return "cluster " + cluster + ", which is not in this repository"
}

// Autoscaler is what the configuration of a living autoscaler says of images:
// by architecture as it names them, label selectors, names or ids.
type Autoscaler []ArchImage

// ArchImage is an image for an architecture.
type ArchImage struct{ Arch, Image string }

// hetznerArch are the architectures as Hetzner Cloud names them.
var hetznerArch = map[string]string{"amd64": "x86", "arm64": "arm"}

// mark adds an autoscaler to what refers to images.
func (a Autoscaler) mark(uses []Use, who string) {
	for _, one := range a {
		if id, err := strconv.ParseInt(one.Image, 10, 64); err == nil {
			for i := range uses {
				if uses[i].ID == id {
					uses[i].By = append(uses[i].By, who)
				}
			}
			continue
		}
		if u := newest(uses, one.Image, hetznerArch[one.Arch]); u != nil {
			u.By = append(u.By, who)
		}
	}
}
