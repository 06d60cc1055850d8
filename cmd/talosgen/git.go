package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/apply"
	"github.com/talosgen/talosgen/internal/diag"
)

// gitError is what git said, and how it ended.
type gitError struct {
	command, text string
	code          int
}

func (e *gitError) Error() string { return "git " + e.command + ": " + e.text }

// gitOutput runs git in a directory and returns what it prints.
func gitOutput(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-C", dir}, args...)...)
	unknown := func(string) bool { return false }
	cmd.Env = append(childEnvironment(cmd.Environ(), unknown), "LC_ALL=C") // some of its messages are compared
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	err := cmd.Run()
	var exit *exec.ExitError
	switch text := strings.TrimSpace(problems.String()); {
	case errors.As(err, &exit) && text != "":
		return "", &gitError{args[0], text, exit.ExitCode()}
	case errors.As(err, &exit):
		return "", &gitError{args[0], exit.Error(), exit.ExitCode()}
	case err != nil:
		return "", fmt.Errorf("git %s: %w", args[0], err)
	}
	return out.String(), nil
}

// gitLine is gitOutput for one line; empty if git says no (exit code 1).
func gitLine(ctx context.Context, dir string, args ...string) (string, error) {
	out, err := gitOutput(ctx, dir, args...)
	var failed *gitError
	if errors.As(err, &failed) && failed.code == 1 {
		return "", nil
	}
	return strings.TrimSpace(out), err
}

// notInGit lists files of ours in a directory that git does not have as they
// are: untracked, ignored, or changed; and files that are gone and still in
// git. That is compared with the index, or with a commit if one is given. Files
// of others in that directory are their business.
func notInGit(ctx context.Context, root string, dirs []string, ours []string, commit ...string) ([]string, error) {
	diff := func(filter string) []string {
		return append([]string{"diff", "-z", "--name-only", "--no-ext-diff", "--relative", "--diff-filter=" + filter}, commit...)
	}
	var missing []string
	for i, args := range [][]string{{"ls-files", "-z", "--others"}, diff("d"), diff("D")} {
		out, err := gitOutput(ctx, root, append(append(args, "--"), dirs...)...)
		if err != nil {
			return nil, err
		}
		gone := i == 2
		for _, file := range strings.Split(out, "\x00") {
			if file != "" && (gone || slices.Contains(ours, file)) {
				missing = append(missing, file)
			}
		}
	}
	slices.Sort(missing)
	return slices.Compact(missing), nil
}

// gitSource asks git where the tree of an environment comes from; files are
// those of the tree, follows is the branch that Flux follows, if there is one.
func gitSource(ctx context.Context, root, env string, files []string, follows string) (apply.Source, error) {
	s := apply.Source{}
	if _, err := gitOutput(ctx, root, "rev-parse", "--git-dir"); err != nil {
		if strings.Contains(err.Error(), "not a git repository (") {
			return s, nil
		}
		return s, notAsked(err)
	}
	s.Repository = true
	tree := "rendered/" + env
	files = inTree(tree, files)
	var err error
	if s.Commit, err = gitLine(ctx, root, "rev-parse", "--verify", "--quiet", "--short", "HEAD"); err != nil {
		return s, notAsked(err)
	}
	if s.Commit == "" {
		s.Changed = files
		return s, nil
	}
	if s.Changed, err = notInGit(ctx, root, []string{tree}, files, "HEAD"); err != nil {
		return s, notAsked(err)
	}
	if s.Branch, err = gitLine(ctx, root, "symbolic-ref", "--quiet", "--short", "HEAD"); err != nil {
		return s, notAsked(err)
	}
	if s.Upstream, err = gitUpstream(ctx, root, s.Branch); err != nil || s.Upstream == "" {
		return s, notAsked(err)
	}
	folder, err := gitLine(ctx, root, "rev-parse", "--show-prefix")
	if err != nil {
		return s, notAsked(err)
	}
	s.Place = folder + tree
	if s.Follows = follows; follows != "" {
		remote, _, _ := strings.Cut(s.Upstream, "/")
		s.Upstream = remote + "/" + follows
	}
	s.Pushed, err = sameTree(ctx, root, "HEAD", s.Upstream, tree)
	return s, notAsked(err)
}

// gitUpstream is what a branch follows elsewhere. Without a branch, as in CI, it
// is a branch elsewhere that has the commit.
func gitUpstream(ctx context.Context, root, branch string) (string, error) {
	if branch != "" {
		return gitLine(ctx, root, "for-each-ref", "--format=%(upstream:short)", "refs/heads/"+branch)
	}
	out, err := gitOutput(ctx, root, "for-each-ref", "--format=%(refname:short)", "--contains=HEAD", "refs/remotes")
	first, _, _ := strings.Cut(out, "\n")
	return first, err
}

// sameTree reports whether a directory is the same in two commits.
func sameTree(ctx context.Context, root, a, b, dir string) (bool, error) {
	var ids [2]string
	for i, commit := range []string{a, b} {
		var err error
		if ids[i], err = gitLine(ctx, root, "rev-parse", "--verify", "--quiet", commit+":./"+dir); err != nil {
			return false, err
		}
	}
	return ids[0] == ids[1] && ids[0] != "", nil
}

func notAsked(err error) error {
	if err == nil {
		return nil
	}
	return diag.On("", "the Git history of the tree cannot be read: %v", err).
		WithHint("--allow-dirty skips this check").WithCause(err)
}
