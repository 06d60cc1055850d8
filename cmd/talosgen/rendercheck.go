package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render"
)

// check compares the tree with its lock, without keys.
func (r renderCommand) check(c *cli.Context, repo *render.Repo, env string) (*renderReport, error) {
	differences, err := repo.Check(env)
	if err != nil {
		return nil, err
	}
	report := &renderReport{Env: env, UpToDate: len(differences) == 0}
	if report.UpToDate {
		r.out.say("rendered/%s is up to date", env)
		return r.hook(c, repo, report)
	}
	for _, d := range differences {
		report.Differences = append(report.Differences, difference{Path: d.Path, Change: string(d.Kind), Output: d.Output})
	}
	r.sayDifferences(repo, env, differences)
	r.out.say("run `talosgen render %s` and commit the result", env)
	return report, nil
}

// sayDifferences tells what is not as in the lock, if the environment has a tree.
func (r renderCommand) sayDifferences(repo *render.Repo, env string, differences []render.Difference) {
	if _, err := os.Stat(filepath.Join(repo.Root(), "rendered", env)); errors.Is(err, fs.ErrNotExist) {
		r.out.say("%s was never rendered", env)
		return
	}
	r.out.say("rendered/%s is not up to date:", env)
	for _, d := range differences {
		path := d.Path
		if d.Output {
			path = "rendered/" + env + "/" + path
		}
		r.out.say("  %-8s %s", d.Kind, path)
	}
}

// hook adds, for pre-commit, the rendered files that a commit would miss.
func (r renderCommand) hook(c *cli.Context, repo *render.Repo, report *renderReport) (*renderReport, error) {
	if !c.Bool("hook") {
		return report, nil
	}
	outputs, err := repo.Outputs(report.Env)
	if err != nil {
		return report, err
	}
	sources, dirs, err := repo.Sources(report.Env)
	if err != nil {
		return report, err
	}
	missing, err := notInGit(c.Context, repo.Root(), []string{"rendered/" + report.Env}, outputs)
	if err != nil {
		return report, notAGitRepository(err)
	}
	unstaged, err := notInGit(c.Context, repo.Root(), dirs, sources)
	if err != nil {
		return report, notAGitRepository(err)
	}
	report.NotInIndex = append(missing, unstaged...)
	if len(missing) > 0 {
		r.out.say("not in the git index as rendered: %s", strings.Join(missing[:min(len(missing), 10)], ", "))
		r.out.say("run `%s add rendered/%s`", r.ws.git(repo.Root()), report.Env)
	}
	if len(unstaged) > 0 {
		first := strings.Join(unstaged[:min(len(unstaged), 10)], ", ")
		r.out.say("not in the git index as they were rendered from: %s", first)
		r.out.say("run `%s add %s`: commit sources and their rendered files together", r.ws.git(repo.Root()), strings.ReplaceAll(first, ", ", " "))
	}
	return report, nil
}

// notAGitRepository is the problem that the index cannot be looked at.
func notAGitRepository(err error) error {
	return diag.On("", "%v", err).WithHint("--hook is for pre-commit hooks, inside of a git repository").WithCode(diag.Usage)
}
