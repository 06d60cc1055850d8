package main

import (
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/render"
	"github.com/talosgen/talosgen/render/vault"
)

// secretsCommand makes and changes the secrets of an environment.
type secretsCommand struct {
	ws     workspace
	out    *console
	editor editor
}

func (s secretsCommand) command() *cli.Command {
	return &cli.Command{
		Name:  "secrets",
		Usage: "create and change the secrets of an environment",
		Subcommands: []*cli.Command{
			{
				Name: "init", Usage: "create the secrets of a new environment", ArgsUsage: "<env>",
				Description: `Creates the Talos secrets bundle, the age key of the cluster and the keyring,
encrypted for the recipients in .sops.yaml. Existing secrets are never
overwritten.

Example:
   talosgen secrets init dev`,
				Action: s.action(func(c *cli.Context, repo *render.Repo, env string) (*vault.Report, error) {
					return vault.Init(c.Context, repo, env)
				}),
			},
			{
				Name: "sync", Usage: "add missing secrets", ArgsUsage: "<env>",
				Description: `Generates every secret that the environment needs and does not have. Existing
secrets keep their ciphertext. A keyring of an older version is upgraded, with
the same data keys.

Example:
   talosgen secrets sync dev`,
				Flags: []cli.Flag{newKeysFlag()},
				Action: s.action(func(c *cli.Context, repo *render.Repo, env string) (*vault.Report, error) {
					return vault.Sync(c.Context, repo, env)
				}),
			},
			{
				Name: "edit", Usage: "edit secrets.sops.yaml in $EDITOR", ArgsUsage: "<env>",
				Description: `Opens the decrypted file in $SOPS_EDITOR or $EDITOR. Values that you do not
change keep their ciphertext. Secret variables stand under variables:, and
patches use them as ${NAME}.

Example:
   talosgen secrets edit dev`,
				Flags: []cli.Flag{newKeysFlag()},
				Action: s.action(func(c *cli.Context, repo *render.Repo, env string) (*vault.Report, error) {
					return vault.Edit(c.Context, repo, env, func(plain []byte) ([]byte, error) {
						return s.editor.edit(c, plain, func(text []byte) error { return vault.Check(env, text) })
					})
				}),
			},
			s.setCommand(),
			rekeyCommand{s.ws, s.out}.command(),
			{
				Name: "import", Usage: "import the secrets of an existing cluster", ArgsUsage: "<env> <file>",
				Description: `Reads a file that ` + "`talosctl gen secrets`" + ` wrote, or the machine configuration of
a control plane node, in plain text or encrypted with SOPS.

Example:
   talosgen secrets import prod ~/controlplane.yaml`,
				Flags:  []cli.Flag{newKeysFlag()},
				Action: s.importSecrets,
			},
		},
	}
}

// action runs a command on the secrets of one environment.
func (s secretsCommand) action(do func(*cli.Context, *render.Repo, string) (*vault.Report, error)) cli.ActionFunc {
	return func(c *cli.Context) error {
		env, err := s.ws.environment(c)
		if err != nil {
			return err
		}
		return s.on(c, env, do)
	}
}

func (s secretsCommand) importSecrets(c *cli.Context) error {
	env, err := s.ws.environment(c, "<file>")
	if err != nil {
		return err
	}
	file := c.Args().Get(1)
	data, err := os.ReadFile(file)
	if err != nil {
		return unreadable(file, err)
	}
	return s.on(c, env, func(c *cli.Context, repo *render.Repo, env string) (*vault.Report, error) {
		return vault.Import(c.Context, repo, env, file, data)
	})
}

func (s secretsCommand) on(c *cli.Context, env string, do func(*cli.Context, *render.Repo, string) (*vault.Report, error)) error {
	repo, err := s.ws.open(c)
	if err != nil {
		return err
	}
	defer repo.Close()
	report, err := do(c, confirmedKeys(c, repo), env)
	if err != nil {
		return err
	}
	printSecrets(s.out, report)
	return nil
}

func printSecrets(out *console, report *vault.Report) {
	if len(report.Changed) == 0 {
		out.say("nothing changed")
	}
	for _, file := range report.Changed {
		out.say("wrote %s", file)
	}
	if len(report.Added) > 0 {
		out.say("added %s", strings.Join(report.Added, ", "))
	}
	for _, note := range report.Notes {
		out.say("%s", note)
	}
}
