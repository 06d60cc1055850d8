package check

import (
	"io/fs"
	"path"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/manifest"
	"github.com/talosgen/talosgen/render"
	"github.com/talosgen/talosgen/render/internal/addon"
	"github.com/talosgen/talosgen/render/internal/ownership"
	"github.com/talosgen/talosgen/render/internal/source"
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
	paths, err := r.Repository().Inputs(env)
	switch {
	case diag.CodeOf(err) == diag.Usage: // the environment is gone, its tree is not
	case err != nil:
		return nil, err
	default:
		if err := r.Repository().CheckPlaintext(env, paths); err != nil {
			return nil, err
		}
	}
	return check(r.Repository().Files, path.Join(source.RenderedDir, env), true, o)
}

// Directory is [Tree] for any directory of manifests, such as a
// repository of Flux. Paths in Kustomizations are relative to the root of the
// file system.
func Directory(root fs.FS, dir string, o Options) (*Report, error) {
	return check(root, dir, false, o)
}

func check(root fs.FS, dir string, isRendered bool, o Options) (*Report, error) {
	return treecheck.Check(treecheck.Input{
		Repository: root, Dir: dir, Rendered: isRendered, Kubernetes: o.Kubernetes,
		Terraform: o.TerraformPlan, TerraformFile: o.TerraformFile,
		Build: func(dir string) ([]manifest.Located, error) {
			engine := addon.Engine{Repository: root}
			objects, err := engine.Customize(dir, nil)
			located := make([]manifest.Located, len(objects))
			for i, o := range objects {
				located[i] = manifest.Located{Object: o, Pos: diag.Pos{File: dir}}
			}
			return located, err
		},
	})
}

// OwnersText lists every thing with its owners, for people.
func OwnersText(claims []Claim) string { return ownership.Table(claims) }

// Owners are the names of the owners of each thing, by its name.
func Owners(claims []Claim) map[string][]string { return ownership.Owners(claims) }
