package main

import (
	"context"
	"errors"
	"io/fs"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/natural"
	"github.com/talosgen/talosgen/render"
	"github.com/talosgen/talosgen/render/vault"
)

func rekeyCommand(w *world) *cli.Command {
	return &cli.Command{
		Name: "rekey", Usage: "encrypt again after the recipients changed", ArgsUsage: "<env>",
		Description: `Encrypts every encrypted source of the environment for the recipients that
.sops.yaml has now, with new data keys that no earlier keyring fits, and renders
with them. It shows first who comes and who goes, with the names that comments
in .sops.yaml give them, and asks.

Examples:
   talosgen secrets rekey dev
   talosgen secrets rekey dev --yes`,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: flagYes, Usage: "do it without asking"},
			newKeysFlag(),
		},
		Action: w.rekeyAction,
	}
}

// newKeysFlag names the case in which the keys are not those of the last render.
func newKeysFlag() cli.Flag {
	return &cli.BoolFlag{Name: render.FlagNewKeys, Usage: "the data keys are not those of the last render, and that is right"}
}

// told is the repository for a command that was told that keys are new, if it was.
func told(c *cli.Context, repo *render.Repo) *render.Repo {
	if c.Bool(render.FlagNewKeys) {
		return repo.WithNewKeys()
	}
	return repo
}

func (w *world) rekeyAction(c *cli.Context) error {
	env, err := w.environment(c)
	if err != nil {
		return err
	}
	repo, err := w.openRepo(c)
	if err != nil {
		return err
	}
	defer repo.Close()
	repo = told(c, repo)
	earlier, err := committedFile(c.Context, repo.Root(), ".sops.yaml")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	done, err := vault.Rekey(c.Context, repo, env, earlier)
	if err != nil {
		if done != nil && done.Result != nil {
			w.printWarnings(done.Result.Warnings)
			w.say("nothing was written")
		}
		return err
	}
	if err := w.agreeToRekey(c, done); err != nil {
		return err
	}
	report, summary, err := done.Write(repo)
	if err != nil {
		return err
	}
	w.printSecrets(report)
	if done.Result != nil {
		w.printWarnings(done.Result.Warnings)
		w.say("rendered/%s: %s, %s", env, natural.Count(len(done.Result.Nodes), "node"), whatChanged(summary))
	}
	return nil
}

// agreeToRekey shows who will be able to read the environment, and asks.
func (w *world) agreeToRekey(c *cli.Context, done *vault.Rekeying) error {
	for _, group := range []struct {
		what string
		who  []vault.Recipient
	}{{"comes:", done.Coming}, {"goes: ", done.Going}, {"stays:", done.Staying}} {
		for _, r := range group.who {
			w.say("%s %s", group.what, r)
		}
	}
	if c.Bool(flagYes) {
		return nil
	}
	question := "encrypt everything of " + done.Env + " for those who come and stay?"
	if !w.answers {
		return diag.On("", "there is nobody to ask: %s", question).WithHint("--%s answers it", flagYes).WithCode(diag.Usage)
	}
	if !w.yes(c.Context, question) {
		return diag.On("", "nothing was changed").WithCode(diag.Differences)
	}
	return c.Context.Err()
}

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
