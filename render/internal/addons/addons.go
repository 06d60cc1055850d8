// Package addons makes the objects of the addons of a model: the values of each,
// with the layers that they come from, its files, what Helm and kustomize make of
// them with the secrets and with others, and where they go in a rendered tree.
package addons

import (
	"context"
	"fmt"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/render/internal/addon"
	"github.com/talosgen/talosgen/render/internal/catalogue"
	"github.com/talosgen/talosgen/render/internal/cleartext"
	"github.com/talosgen/talosgen/render/internal/gitops"
	"github.com/talosgen/talosgen/render/internal/machine"
	"github.com/talosgen/talosgen/render/internal/model"
	"github.com/talosgen/talosgen/render/internal/needs"
	"github.com/talosgen/talosgen/render/internal/placeholder"
	"github.com/talosgen/talosgen/render/internal/secretsfile"
	"github.com/talosgen/talosgen/render/internal/subst"
)

// Input is what addons are made from.
type Input struct {
	Model     *model.Model
	Texts     *cleartext.Texts
	Broken    diag.List            // links of addons that lead nowhere
	Variables subst.Vars           // secret ones
	Secrets   *secretsfile.Secrets // nil without keys
	// Compose makes the machine configuration of a node.
	Compose func(model.Node) (*machine.Config, error)
	// ChartCache returns what is not in the repository, by its SHA-256 in hex; may be nil.
	ChartCache func(digest string) ([]byte, error)
	// BoundTemplates returns a context that ends when the templates of a chart take
	// too much; may be nil.
	BoundTemplates func(context.Context) (context.Context, context.CancelFunc)
}

// allAddons are the addons of the catalogue, and the engine itself, or Flux' operator, if
// the tree is to bring it.
func allAddons(f catalogue.Facts) ([]catalogue.Addon, error) {
	all, err := catalogue.Addons(f)
	if err != nil {
		return nil, err
	}
	engine, managed, err := catalogue.Engine(f)
	if managed {
		all = append(all, engine)
	}
	return all, err
}

// ErrAbandoned tells that the templates of a chart run on, because nothing stops
// them: the program that gets it is best ended.
var ErrAbandoned = addon.ErrAbandoned

// Files makes the objects of all addons, and lays them out. It returns what there is
// to warn of, too.
func Files(ctx context.Context, in Input) (files []gitops.File, warnings diag.List, err error) {
	b := newBuilder(ctx, in)
	files, err = b.files()
	return files, b.warnings, err
}

// MachineNeeds are what the addons of an environment need of its machines.
func MachineNeeds(m *model.Model) []needs.Needs {
	return catalogue.MachineNeeds(catalogue.Facts{Environment: m.Env, Cluster: m.Config.Cluster, Infrastructure: *m.Infra})
}

// Declared returns the addons of an environment, without any secret.
func Declared(in Input) ([]catalogue.Addon, error) {
	s := secrets{in, in.Model}
	v := s.real()
	for _, n := range in.Model.Autoscaled {
		v.autoscaled[n.Pool] = secret.New(placeholder.Text) // the configurations do not decide about sources
	}
	all, err := allAddons(s.facts(v))
	if err != nil {
		return nil, fmt.Errorf("environment %s: %w", in.Model.Env, err)
	}
	return all, nil
}
