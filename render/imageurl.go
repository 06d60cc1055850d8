package render

import (
	"context"
	"slices"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render/internal/config"
	"github.com/talosgen/talosgen/render/internal/machine"
	"github.com/talosgen/talosgen/render/internal/model"
	"github.com/talosgen/talosgen/schemas"
)

// Architectures are those that Talos has images for, as the Image Factory names them.
func Architectures() []string { return []string{"amd64", "arm64"} }

// ImageURLs are the images of some nodes that have the same.
type ImageURLs struct {
	Nodes        []string `json:"nodes"`
	Platform     string   `json:"platform"`
	SecureBoot   bool     `json:"secureBoot"`
	Architecture string   `json:"architecture"`
	Version      string   `json:"talosVersion"`
	Schematic    string   `json:"schematic"`
	// Definition is what the factory has to be told once, before it makes images of the
	// schematic; empty if only the id is known.
	Definition string `json:"definition"`
	machine.ImageURLs
}

// FindImageURLs returns where the images of the nodes of an environment are, or of one
// node, for machines of an architecture; that of a server follows from its type. It asks
// nobody, and needs no key.
func FindImageURLs(ctx context.Context, r *Repo, env, node, architecture string) ([]ImageURLs, error) {
	if architecture != "" && !slices.Contains(Architectures(), architecture) {
		return nil, diag.On("--arch", "%q is no architecture that Talos has images for", architecture).
			WithHint("%s or %s", Architectures()[0], Architectures()[1]).WithCode(diag.Usage)
	}
	e, err := r.src.ReadEnvironment(env)
	if err != nil {
		return nil, err
	}
	p, err := load(ctx, e, true)
	if err != nil {
		return nil, err
	}
	var names []string
	if node != "" {
		names = []string{node}
	}
	nodes, err := p.Selected(names)
	if err != nil {
		return nil, err
	}
	var all []ImageURLs
	for _, n := range nodes {
		image, err := imageURLs(p.Model, n, architecture)
		if err != nil {
			return nil, err
		}
		at := slices.IndexFunc(all, func(o ImageURLs) bool { return o.ImageURLs == image.ImageURLs })
		if at < 0 {
			all = append(all, image)
			continue
		}
		all[at].Nodes = append(all[at].Nodes, n.Name)
	}
	return all, nil
}

func imageURLs(m *model.Model, n model.Node, architecture string) (out ImageURLs, err error) {
	out = ImageURLs{
		Nodes: []string{n.Name}, Platform: n.Platform, SecureBoot: n.SecureBoot, Architecture: architecture,
		Version: m.Config.Talos.Version, Schematic: n.Schematic.ID, Definition: n.Schematic.Text,
	}
	if m.Config.Provider == schemas.Hetzner && !n.Dedicated {
		out.Architecture = Architectures()[0]
		if config.Arm(n.Type) {
			out.Architecture = Architectures()[1]
		}
		if architecture != "" && architecture != out.Architecture {
			return out, diag.New(n.Pos("type"), "%s is a server type of %s", n.Type, out.Architecture).
				WithHint("leave out --arch: it is for machines that exist already").WithCode(diag.Usage)
		}
	}
	if out.Architecture == "" {
		out.Architecture = Architectures()[0]
	}
	out.ImageURLs, err = machine.Image{
		Factory: m.Config.Talos.ImageFactory, Platform: out.Platform, Architecture: out.Architecture,
		Schematic: out.Schematic, Version: out.Version, SecureBoot: out.SecureBoot,
	}.URLs()
	return out, err
}
