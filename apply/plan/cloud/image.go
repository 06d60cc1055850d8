package cloud

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/talosgen/talosgen/internal/labelselector"
	"github.com/talosgen/talosgen/schemas"
)

// images plans images, and finds those that are there.
type images struct{ *planner }

// compare plans to make the images that are missing.
func (p *images) compare() {
	for _, want := range p.desired.Images {
		image := schemas.InfraImage{Selector: want.Selector, Architecture: want.Architecture}
		if p.imageID(image) != 0 || p.desired.KeepOthers && !p.needed(image) {
			continue
		}
		d := buildChange(KindImage, ImageName(want), 0, Create)
		if !want.Build {
			p.refusal(d.Key, fmt.Sprintf("there is no image for %s with the labels %s", want.Architecture, want.Selector),
				"make one, or let apply make it: images in cluster.yaml")
			continue
		}
		d.Reason = missing
		d.show("url", want.URL)
		if p.builder(d, want) {
			p.add(d)
		}
	}
}

// needed reports whether a server is to be made from an image: those that were adopted
// are made of others.
func (p *images) needed(image schemas.InfraImage) bool {
	for _, s := range p.desired.Servers {
		there := slices.ContainsFunc(p.observed.Servers, func(o Server) bool { return o.Name == s.Name && o.Status != statusDeleting })
		if (!there || p.policy.Recreates(s.Name, s.Pool)) && s.Image.Selector == image.Selector && s.Image.Architecture == image.Architecture {
			return true
		}
	}
	return slices.ContainsFunc(p.desired.AutoscalerPools, func(a schemas.InfraAutoscalerPool) bool {
		return a.Image.Selector == image.Selector && a.Image.Architecture == image.Architecture
	})
}

// builder chooses the server that makes an image, and says so; false if there is
// none.
func (p *images) builder(d *changeBuilder, want schemas.InfraSnapshot) bool {
	choice := ChooseBuilder(p.observed.Catalogue, *p.desired, want, p.observed.Time)
	if len(choice.Candidates) == 0 {
		p.refusal(d.Key, "it cannot be made: "+choice.Problem,
			"choose other server types in cluster.yaml, or make the snapshot with these labels yourself")
		return false
	}
	d.Candidates = choice.Candidates
	first := choice.Candidates[0]
	d.field(Field{Name: "builder", to: first.Type + " in " + first.Location, Class: InPlace, Reason: choice.Reason})
	if choice.Problem != "" {
		p.warn(d.Key, choice.Problem, fmt.Sprintf("it is made with a %s in %s; hetzner.images in cluster.yaml names another", first.Type, first.Location))
	}
	return true
}

// ImageName is how an image is called in a plan.
func ImageName(s schemas.InfraSnapshot) string { return s.Selector + "/" + s.Architecture }

// imageID finds the image to make a server from: the newest that is available;
// 0 if there is none.
func (p *images) imageID(want schemas.InfraImage) int64 {
	selector, err := labelselector.Parse(want.Selector)
	var found *Image
	for i := range p.observed.Images {
		have := &p.observed.Images[i]
		switch {
		case have.Status != "available" || have.Architecture != want.Architecture:
		case want.Name != "" && have.Name != want.Name:
		case want.Name == "" && (err != nil || have.Name != "" || !selector.Matches(have.Labels)):
		case found == nil || newer(have, found):
			found = have
		}
	}
	if found == nil {
		return 0
	}
	return found.ID
}

func newer(a, b *Image) bool {
	return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID)) > 0
}

// choose sets what a new server is made from.
func (p *images) choose(d *changeBuilder, want schemas.InfraImage) {
	d.Image = p.imageID(want)
	what := cmp.Or(want.Name, want.Selector)
	d.show(FieldImage, what+" "+want.Architecture)
	if d.Image != 0 {
		return
	}
	i := slices.IndexFunc(p.desired.Images, func(s schemas.InfraSnapshot) bool {
		return s.Selector == want.Selector && s.Architecture == want.Architecture
	})
	if i < 0 {
		p.refusal(d.Key, fmt.Sprintf("there is no image %s for %s", what, want.Architecture), "make it: talosgen image build")
		return
	}
	d.needs(KeyOf(KindImage, ImageName(p.desired.Images[i])))
}
