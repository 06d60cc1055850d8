package render

import (
	"io/fs"
	"path"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/manifest"
	"github.com/talosgen/talosgen/render/internal/addon"
	"github.com/talosgen/talosgen/render/internal/ownership"
	"github.com/talosgen/talosgen/render/internal/source"
	"github.com/talosgen/talosgen/render/internal/treecheck"
)

// TreeCheck says with what a tree is checked.
type TreeCheck struct {
	// The version of Kubernetes; empty: the one that the tree's control planes
	// run, or else the newest that is known.
	Kubernetes string
	// A plan of Terraform as JSON, and the name of its file; may be nil.
	TerraformPlan []byte
	TerraformFile string
}

type (
	// TreeReport is what a check of a tree has found.
	TreeReport = treecheck.Report
	// Conflict is something with two owners.
	Conflict = ownership.Conflict
	// Claim is that an owner has something.
	Claim = ownership.Claim
)

// ConflictsText lists what has two owners, for people.
func ConflictsText(conflicts []Conflict) string { return ownership.String(conflicts) }

// CheckTree checks all Kubernetes objects of a rendered tree: against the
// schemas of their kinds, what they refer to, and who owns each. It needs no
// keys. What is wrong in the tree is in the report; secrets in the clear among
// the sources are an error.
func (r *Repo) CheckTree(env string, o TreeCheck) (*TreeReport, error) {
	if err := r.isRendered(env); err != nil {
		return nil, err
	}
	paths, err := r.src.Inputs(env)
	switch {
	case diag.CodeOf(err) == diag.Usage: // the environment is gone, its tree is not
	case err != nil:
		return nil, err
	default:
		if err := r.src.CheckPlaintext(env, paths); err != nil {
			return nil, err
		}
	}
	return checkTree(r.src.Files, path.Join(source.RenderedDir, env), true, o)
}

// CheckDirectory is [Repo.CheckTree] for any directory of manifests, such as a
// repository of Flux. Paths in Kustomizations are relative to the root of the
// file system.
func CheckDirectory(root fs.FS, dir string, o TreeCheck) (*TreeReport, error) {
	return checkTree(root, dir, false, o)
}

func checkTree(root fs.FS, dir string, isRendered bool, o TreeCheck) (*TreeReport, error) {
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
