package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/rendered"
	"github.com/talosgen/talosgen/render"
)

// flagSince names the commit that a rendered tree is compared with.
const flagSince = "since"

func sinceFlag() cli.Flag {
	return &cli.StringFlag{Name: flagSince, Usage: "compare rendered/<env> with that in `COMMIT`, value by value, without any key"}
}

// treeSince is the rendered tree of an environment as it is, beside what it was in a
// commit.
type treeSince struct {
	root, dir, commit string
}

// changes are the values that are not as they were in the commit.
func (t treeSince) changes(ctx context.Context) ([]render.Change, error) {
	id, err := gitLine(ctx, t.root, "rev-parse", "--verify", "--quiet", "--end-of-options", t.commit+"^{commit}")
	if err != nil || id == "" {
		return nil, diag.On("--"+flagSince, "git has no commit %q", t.commit).
			WithHint("a pipeline that fetches the whole history has it: fetch-depth: 0 at GitHub, GIT_DEPTH: 0 at GitLab").WithCode(diag.Usage)
	}
	t.commit = id
	files, err := t.files(ctx)
	if err != nil || len(files) == 0 {
		return nil, err
	}
	there, err := gitOutput(ctx, t.root, "ls-tree", "-r", "-z", "--name-only", t.commit, "--", t.dir)
	if err != nil {
		return nil, notCommitted(err)
	}
	before := map[string]bool{}
	for name := range strings.SplitSeq(there, "\x00") {
		before[name] = true
	}
	root, err := os.OpenRoot(t.root) // a link leads nowhere else
	if err != nil {
		return nil, unreadable(t.root, err)
	}
	defer root.Close()
	var changes []render.Change
	var problems diag.List
	for _, file := range files {
		found, err := t.compare(ctx, root, file, before[file])
		problems.AddErr(err)
		changes = append(changes, found...)
	}
	return changes, problems.Err()
}

// files are those that may differ, but the lock, which says nothing that they do not.
func (t treeSince) files(ctx context.Context) ([]string, error) {
	var all []string
	for _, args := range [][]string{
		{"diff", "-z", "--name-only", "--no-ext-diff", "--no-renames", "--relative", t.commit},
		{"ls-files", "-z", "--others", "--exclude-standard"},
	} {
		out, err := gitOutput(ctx, t.root, append(args, "--", t.dir)...)
		if err != nil {
			return nil, diag.On("", "the history of %s cannot be read: %v", t.dir, err).WithCause(err)
		}
		all = append(all, strings.Split(out, "\x00")...)
	}
	all = slices.DeleteFunc(all, func(file string) bool { return file == "" || file == t.dir+"/"+rendered.LockName })
	slices.Sort(all)
	return slices.Compact(all), nil
}

// compare compares a file with what it was, if it was there.
func (t treeSince) compare(ctx context.Context, root *os.Root, file string, there bool) ([]render.Change, error) {
	now, err := root.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, unreadable(file, err)
	}
	var old []byte
	if there {
		text, err := gitOutput(ctx, t.root, "show", t.commit+":./"+file)
		if err != nil {
			return nil, notCommitted(err)
		}
		old = []byte(text)
	}
	return render.DiffVersions(strings.TrimPrefix(file, t.dir+"/"), old, now)
}

// sinceOf is the tree of an environment beside the commit that --since names.
func sinceOf(c *cli.Context, root, env string) treeSince {
	return treeSince{root: root, dir: "rendered/" + env, commit: c.String(flagSince)}
}
