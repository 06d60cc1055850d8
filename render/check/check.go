package check

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/manifest"
	"github.com/talosgen/talosgen/render"
	"github.com/talosgen/talosgen/render/internal/addon"
	"github.com/talosgen/talosgen/render/internal/config"
	"github.com/talosgen/talosgen/render/internal/ownership"
	"github.com/talosgen/talosgen/render/internal/source"
	"github.com/talosgen/talosgen/render/internal/subst"
	"github.com/talosgen/talosgen/render/internal/treecheck"
)

// Options says with what a tree is checked.
type Options struct {
	// The version of Kubernetes; empty: the one that the tree's control planes
	// run, or else the newest that is known.
	Kubernetes string
	// A plan of Terraform as JSON, and the name of its file; may be nil.
	TerraformPlan []byte
	TerraformFile string
}

type (
	// Report is what a check of a tree has found.
	Report = treecheck.Report
	// Conflict is something with two owners.
	Conflict = ownership.Conflict
	// Claim is that an owner has something.
	Claim = ownership.Claim
)

// ConflictsText lists what has two owners, for people.
func ConflictsText(conflicts []Conflict) string { return ownership.String(conflicts) }

// Tree checks all Kubernetes objects of a rendered tree: against the
// schemas of their kinds, what they refer to, and who owns each. It needs no
// keys. What is wrong in the tree is in the report; secrets in the clear among
// the sources are an error.
func Tree(r *render.Repo, env string, o Options) (*Report, error) {
	if err := r.Repository().CheckRendered(env); err != nil {
		return nil, err
	}
	in := treecheck.Input{Dir: path.Join(source.RenderedDir, env), Rendered: true}
	paths, err := r.Repository().Inputs(env)
	switch {
	case diag.CodeOf(err) == diag.Usage: // the environment is gone, its tree is not
	case err != nil:
		return nil, err
	default:
		if err := r.Repository().CheckPlaintext(env, paths); err != nil {
			return nil, err
		}
		if err := settings(r, env, &in); err != nil {
			return nil, err
		}
	}
	return check(r.Repository().Files, in, o)
}

// settings reads what the cluster.yaml of an environment says to a check, without
// any key.
func settings(r *render.Repo, env string, in *treecheck.Input) error {
	e, err := r.Repository().ReadEnvironment(env)
	if err != nil {
		return err
	}
	variables, err := e.Variables(&source.Secrets{Variables: e.SecretVariables()})
	if err != nil {
		return err
	}
	file := e.File(source.ClusterFile)
	c, err := config.Load(file, e.Raw, &subst.Scope{Vars: variables})
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(c.Addons)) {
		in.Makes = append(in.Makes, c.Addons[name].Makes...)
	}
	for i, ignore := range c.Check.Ignore {
		in.Ignore = append(in.Ignore, treecheck.Ignore{
			Object: ignore.Object, Field: ignore.Field, Reason: ignore.Reason, Pos: c.Near(fmt.Sprintf("check.ignore.%d", i)),
		})
	}
	return nil
}

// Directory is [Tree] for any directory of manifests, such as a
// repository of Flux. Paths in Kustomizations are relative to the root of the
// file system.
func Directory(root fs.FS, dir string, o Options) (*Report, error) {
	return check(root, treecheck.Input{Dir: dir}, o)
}

func check(root fs.FS, in treecheck.Input, o Options) (*Report, error) {
	in.Repository, in.Kubernetes, in.Terraform, in.TerraformFile = root, o.Kubernetes, o.TerraformPlan, o.TerraformFile
	in.Build = func(dir string) ([]manifest.Located, error) {
		engine := addon.Engine{Repository: root}
		objects, err := engine.Customize(dir, nil)
		located := make([]manifest.Located, len(objects))
		for i, o := range objects {
			located[i] = manifest.Located{Object: o, Pos: diag.Pos{File: dir}}
		}
		return located, err
	}
	return treecheck.Check(in)
}

// OwnersText lists every thing with its owners, for people.
func OwnersText(claims []Claim) string { return ownership.Table(claims) }

// Owners are the names of the owners of each thing, by its name.
func Owners(claims []Claim) map[string][]string { return ownership.Owners(claims) }
