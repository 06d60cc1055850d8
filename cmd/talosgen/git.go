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
	others, err := gitOutput(ctx, root, append([]string{"ls-files", "-z", "--others", "--"}, dirs...)...)
	if err != nil {
		return nil, err
	}
	args := append([]string{"diff", "-z", "--name-status", "--no-renames", "--no-ext-diff", "--relative"}, commit...)
	diff, err := gitOutput(ctx, root, append(append(args, "--"), dirs...)...)
	if err != nil {
		return nil, err
	}
	known := make(map[string]bool, len(ours))
	for _, file := range ours {
		known[file] = true
	}
	var missing []string
	for file := range strings.SplitSeq(others, "\x00") {
		if known[file] {
			missing = append(missing, file)
		}
	}
	fields := strings.Split(diff, "\x00") // a letter, and the file that it is about
	for i := 0; i+1 < len(fields); i += 2 {
		if gone := fields[i] == "D"; gone || known[fields[i+1]] {
			missing = append(missing, fields[i+1])
		}
	}
	slices.Sort(missing)
	return slices.Compact(missing), nil
}

// gitTree is the tree of an environment as git knows it.
type gitTree struct {
	root, dir  string
	repository bool     // whether there is one at all
	folder     string   // where root is in it, with a slash at its end
	commit     string   // what is checked out; empty before the first one
	changed    []string // files of the tree that are not as in that commit, from root
}

// readGitTree asks git about the tree of an environment; files are those of the tree.
func readGitTree(ctx context.Context, root, env string, files []string) (gitTree, error) {
	t := gitTree{root: root, dir: "rendered/" + env}
	files = inTree(t.dir, files)
	places, err := gitOutput(ctx, root, "rev-parse", "--git-dir", "--show-prefix")
	if err != nil {
		if strings.Contains(err.Error(), "not a git repository (") {
			return t, nil
		}
		return t, err
	}
	t.repository = true
	_, folder, _ := strings.Cut(places, "\n")
	t.folder = strings.TrimSuffix(folder, "\n")
	if t.commit, err = gitLine(ctx, root, "rev-parse", "--verify", "--quiet", "HEAD^{commit}"); err != nil {
		return t, err
	}
	if t.commit == "" {
		t.changed = files
		return t, nil
	}
	t.changed, err = notInGit(ctx, root, []string{t.dir}, files, t.commit)
	return t, err
}

// gitSource asks git where a tree comes from; follows is the branch that Flux follows, if
// there is one.
func gitSource(ctx context.Context, t gitTree, follows string) (apply.Source, error) {
	s := apply.Source{Repository: t.repository, Commit: t.commit[:min(len(t.commit), 10)], Changed: t.changed}
	if t.commit == "" {
		return s, nil
	}
	var err error
	if s.Branch, err = gitLine(ctx, t.root, "symbolic-ref", "--quiet", "--short", "HEAD"); err != nil {
		return s, err
	}
	if s.Upstream, err = gitUpstream(ctx, t.root, s.Branch); err != nil || s.Upstream == "" {
		return s, err
	}
	s.Place = t.folder + t.dir
	if s.Follows = follows; follows != "" {
		remote, _, _ := strings.Cut(s.Upstream, "/")
		s.Upstream = remote + "/" + follows
	}
	s.Pushed, err = sameTree(ctx, t.root, t.commit, s.Upstream, t.dir)
	return s, err
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
