package apply

import (
	"cmp"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
)

// Source is what Git knows of a rendered tree.
type Source struct {
	// Repository says whether the tree is in a repository of Git at all.
	Repository bool
	// Commit is the one that is checked out, abbreviated; empty before the
	// first.
	Commit string
	// Changed are the files of the tree that are not as in that commit, from the
	// root of the repository.
	Changed []string
	// Branch is what is checked out; empty if it is no branch.
	Branch string
	// Upstream is the branch elsewhere that it follows, such as origin/main, or
	// the one that Flux or Argo CD follows; empty if there is none.
	Upstream string
	// Follows is the branch that the engine follows which runs the addons; empty if
	// there is none.
	Follows string
	// Engine is its name for people.
	Engine string
	// Place is where the tree is in the repository of Git, and FollowedPath where the engine
	// looks for it.
	Place, FollowedPath string
	// Pushed says whether the upstream, as far as is known here, has the same
	// tree.
	Pushed bool
}

// misplaced reports whether the engine would not find the tree where Git has it. A path
// that does not end as that of the tree is one that trees are brought to by other means.
func (s Source) misplaced(tree string) bool {
	return s.Follows != "" && s.Place != "" && s.FollowedPath != s.Place && strings.HasSuffix("/"+s.FollowedPath, "/"+tree)
}

// Check refuses a tree that others could not see: what runs must be what was
// reviewed, and what the engine will find.
func (s Source) Check(env string) error {
	const allow = "--allow-dirty applies it nevertheless"
	tree := "rendered/" + env
	switch {
	case !s.Repository:
		return diag.On(tree, "is in no Git repository").
			WithHint("apply makes what was committed and pushed, so that all operators can see what runs; %s", allow)
	case s.Commit == "" || len(s.Changed) > 0:
		const most = 5
		list := s.Changed[:min(most, len(s.Changed))]
		if len(s.Changed) > most {
			list = append(list[:most:most], "…")
		}
		return diag.On(tree, "is not committed: %s", strings.Join(list, ", ")).
			WithHint("commit it; %s", allow)
	case s.Upstream == "":
		return diag.On(tree, "commit %s is on no branch that is pushed anywhere", s.Commit).
			WithHint("push it, with an upstream (git push -u); %s", allow)
	case s.misplaced(tree):
		return diag.On(tree, "is %s in the Git repository, and %s would look for it at %s", s.Place, cmp.Or(s.Engine, "Flux"), s.FollowedPath).
			WithHint("set gitops.path: %s, and render; if another repository is followed, %s", s.Place, allow)
	case !s.Pushed && s.Follows != "":
		return diag.On(tree, "commit %s is not on %s: the tree differs there", s.Commit, s.Upstream).
			WithHint("%s follows the branch %s, and would run something else: merge it there, then fetch; %s", cmp.Or(s.Engine, "Flux"), s.Follows, allow)
	case !s.Pushed:
		return diag.On(tree, "commit %s is not on %s: the tree differs there", s.Commit, s.Upstream).
			WithHint("push it, or fetch and take over what is there; %s", allow)
	}
	return nil
}
