package main

import (
	"errors"
	"io/fs"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/natural"
	"github.com/talosgen/talosgen/render"
	"github.com/talosgen/talosgen/render/vault"
)

// rekeyCommand encrypts an environment for the recipients that .sops.yaml has now.
type rekeyCommand struct {
	ws  workspace
	out *console
}

func (r rekeyCommand) command() *cli.Command {
	return &cli.Command{
		Name: "rekey", Usage: "encrypt secrets again after the recipients have changed", ArgsUsage: "<env>",
		Description: `Encrypts every encrypted source of the environment for the recipients that
.sops.yaml has now, with new data keys that no earlier keyring opens, and renders
with them. It first shows which recipients are added and removed, with the names
from comments in .sops.yaml, and asks for approval.

Examples:
   talosgen secrets rekey dev
   talosgen secrets rekey dev --yes`,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: flagYes, Usage: "do not ask for approval"},
			newKeysFlag(),
		},
		Action: r.run,
	}
}

// newKeysFlag names the case in which the keys are not those of the last render.
func newKeysFlag() cli.Flag {
	return &cli.BoolFlag{Name: render.FlagNewKeys, Usage: "confirm that the data keys differ from those of the last render"}
}

// confirmedKeys is the repository for a command whose flags confirm new data keys.
func confirmedKeys(c *cli.Context, repo *render.Repo) *render.Repo {
	if c.Bool(render.FlagNewKeys) {
		return repo.WithNewKeys()
	}
	return repo
}

func (r rekeyCommand) run(c *cli.Context) error {
	env, err := r.ws.environment(c)
	if err != nil {
		return err
	}
	repo, err := r.ws.open(c)
	if err != nil {
		return err
	}
	defer repo.Close()
	repo = confirmedKeys(c, repo)
	earlier, err := committedFile(c.Context, repo.Root(), ".sops.yaml")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	done, err := vault.Rekey(c.Context, repo, env, earlier)
	if err != nil {
		if done != nil && done.Result != nil {
			r.out.printWarnings(done.Result.Warnings)
			r.out.say("nothing was written")
		}
		return err
	}
	if err := r.agree(c, done); err != nil {
		return err
	}
	report, summary, err := done.Write(repo)
	if err != nil {
		return err
	}
	printSecrets(r.out, report)
	if done.Result != nil {
		r.out.printWarnings(done.Result.Warnings)
		r.out.say("rendered/%s: %s, %s", env, natural.Count(len(done.Result.Nodes), "node"), whatChanged(summary))
	}
	return nil
}

// agree shows who will be able to read the environment, and asks.
func (r rekeyCommand) agree(c *cli.Context, done *vault.Rekeying) error {
	for _, group := range []struct {
		what string
		who  []vault.Recipient
	}{{"added:    ", done.Coming}, {"removed:  ", done.Going}, {"unchanged:", done.Staying}} {
		for _, recipient := range group.who {
			r.out.say("%s %s", group.what, recipient)
		}
	}
	if c.Bool(flagYes) {
		return nil
	}
	question := "encrypt everything of " + done.Env + " for these recipients?"
	if !r.out.answers {
		return diag.On("", "cannot ask without a terminal: %s", question).WithHint("--%s answers it", flagYes).WithCode(diag.Usage)
	}
	if !r.out.yes(c.Context, question) {
		return diag.On("", "nothing was changed").WithCode(diag.Differences)
	}
	return c.Context.Err()
}
