package main

import (
	"context"
	"regexp"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/apply"
	"github.com/talosgen/talosgen/apply/plan/lineage"
)

// commitDigits is how much of a commit is recorded: all of SHA-1, and of SHA-256
// what a label has room for.
const commitDigits = 40

var commitHash = regexp.MustCompile(`^[0-9a-f]{40}$`)

// sourceOf asks git where the tree of an environment comes from, and refuses one
// that others could not see. With --allow-dirty git need not know anything.
func sourceOf(c *cli.Context, root string, env *apply.Environment) (*apply.History, error) {
	dirty := c.Bool(flagAllowDirty)
	tree, err := readGitTree(c.Context, root, env.Name(), env.Files())
	if dirty {
		if err != nil {
			tree.commit = ""
		}
		return gitHistory(tree), nil
	}
	if err != nil {
		return nil, notAsked(err)
	}
	branch, followed, engine := env.Follows()
	source, err := gitSource(c.Context, tree, branch)
	if err != nil {
		return nil, notAsked(err)
	}
	source.Engine, source.FollowedPath = engine, followed
	return gitHistory(tree), source.Check(env.Name())
}

// gitHistory is the commit that a tree is from, and how others stand to it. Without a
// repository, and with a tree that is in no commit as it is, there is none.
func gitHistory(t gitTree) *apply.History {
	h := &apply.History{}
	h.Relation = func(ctx context.Context, applied string) (lineage.Relation, error) {
		relation, err := commitRelation(ctx, t.root, applied, h.Commit)
		return relation, notAsked(err)
	}
	if len(t.commit) >= commitDigits && len(t.changed) == 0 {
		h.Commit = t.commit[:commitDigits]
	}
	return h
}

// inTree names files from the root of the repository.
func inTree(tree string, files []string) []string {
	names := make([]string, 0, len(files))
	for _, f := range files {
		names = append(names, tree+"/"+f)
	}
	return names
}

// commitRelation says how a commit stands to one that was applied. Of a history
// that is not all here, only what it shows is believed.
func commitRelation(ctx context.Context, root, applied, present string) (lineage.Relation, error) {
	if !commitHash.MatchString(applied) {
		return lineage.Unknown, nil // no talosgen wrote that
	}
	var ids [2]string
	for i, commit := range []string{applied, present} {
		var err error
		if ids[i], err = gitLine(ctx, root, "rev-parse", "--verify", "--quiet", commit+"^{commit}"); err != nil {
			return lineage.Unknown, err
		}
		if ids[i] == "" {
			return lineage.Unknown, nil
		}
	}
	// If one of them comes after the other, that is their only best common ancestor.
	base, err := gitLine(ctx, root, "merge-base", ids[0], ids[1])
	switch {
	case err != nil:
		return lineage.Unknown, err
	case base == ids[0]:
		return lineage.Newer, nil
	case base == ids[1]:
		return lineage.Older, nil
	}
	shallow, err := gitLine(ctx, root, "rev-parse", "--is-shallow-repository")
	if err != nil || shallow != "false" {
		return lineage.Unknown, err
	}
	return lineage.Apart, nil
}
