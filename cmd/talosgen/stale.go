package main

import (
	"fmt"

	"github.com/talosgen/talosgen/apply/preflight"
	"github.com/talosgen/talosgen/internal/natural"
	"github.com/talosgen/talosgen/render"
)

// staleSources warns if sources of an environment have changed since the last render:
// what is planned is what was rendered, so a change of theirs is not in it.
func staleSources(repo *render.Repo, env string) []preflight.Finding {
	f := preflight.Finding{Check: "sources", State: preflight.Warning}
	differences, err := repo.Check(env)
	if err != nil {
		f.Text = fmt.Sprintf("they cannot be compared with rendered/%s: %v", env, err)
		return []preflight.Finding{f}
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
	f.Text = first + " has changed since the last render"
	if others > 0 {
		f.Text = first + " and " + natural.Count(others, "other file") + " have changed since the last render"
	}
	f.Text += ": rendered/" + env + " is used as it is"
	f.Hint = "`talosgen diff " + env + "` shows the changes, `talosgen render " + env + "` renders them"
	return []preflight.Finding{f}
}
