package main

import (
	"fmt"

	"github.com/talosgen/talosgen/apply"
	"github.com/talosgen/talosgen/internal/natural"
	"github.com/talosgen/talosgen/render"
)

// staleSources warns if sources of an environment were changed and not rendered:
// what is planned is what was rendered, so a change of theirs is not in it.
func staleSources(repo *render.Repo, env string) []apply.Finding {
	f := apply.Finding{Check: "sources", State: apply.Warning}
	differences, err := repo.Check(env)
	if err != nil {
		f.Text = fmt.Sprintf("whether they are newer than rendered/%s cannot be told: %v", env, err)
		return []apply.Finding{f}
	}
	first, others := "", 0
	for _, d := range differences {
		switch {
		case d.Output:
		case first == "":
			first = d.Path
		default:
			others++
		}
	}
	if first == "" {
		return nil
	}
	f.Text = first + " was changed and not rendered"
	if others > 0 {
		f.Text = first + " and " + natural.Count(others, "other file") + " were changed and not rendered"
	}
	f.Text += ": this is about rendered/" + env + " as it is"
	f.Hint = "`talosgen diff " + env + "` shows what a render would change, `talosgen render " + env + "` makes it"
	return []apply.Finding{f}
}
