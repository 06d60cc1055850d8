package main

import (
	"context"
	"errors"
	"io/fs"

	"github.com/talosgen/talosgen/internal/diag"
)

// committedFile is a file as the commit that is checked out has it, or, if it is
// gone there, as it was last committed; [fs.ErrNotExist] without a repository of
// Git, or if it never was.
func committedFile(ctx context.Context, root, file string) ([]byte, error) {
	if _, err := gitOutput(ctx, root, "rev-parse", "--verify", "--quiet", "HEAD"); err != nil {
		return nil, notCommitted(err)
	}
	commit, err := gitLine(ctx, root, "rev-parse", "--verify", "--quiet", "HEAD:./"+file)
	if err == nil && commit != "" {
		commit = "HEAD"
	} else {
		commit, err = gitLine(ctx, root, "log", "-1", "-m", "--first-parent", "--format=%H", "--diff-filter=AMT", "--", file)
	}
	if err != nil {
		return nil, notCommitted(err)
	}
	if commit == "" {
		return nil, fs.ErrNotExist
	}
	text, err := gitOutput(ctx, root, "show", commit+":./"+file)
	return []byte(text), notCommitted(err)
}

// notCommitted tells where there is no history from a history that cannot be
// read.
func notCommitted(err error) error {
	var failed *gitError
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &failed), failed.command == "rev-parse":
		return fs.ErrNotExist // no git, no repository, no commit
	}
	return diag.On("", "what was committed cannot be read: %v", err).WithCause(err)
}
