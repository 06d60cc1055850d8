package main

import (
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/render"
	"github.com/talosgen/talosgen/render/vault"
)

// longestSecret bounds what is read from standard input.
const longestSecret = 1 << 20

func (s secretsCommand) setCommand() *cli.Command {
	return &cli.Command{
		Name: "set", Usage: "set a secret variable to what stands on standard input", ArgsUsage: "<env> <name>",
		Description: `Adds the variable to secrets.sops.yaml, or gives it another value. The value is
read from standard input and never from an argument, which other programs and the
history of the shell would see. One line break at its end is not a part of it.

Examples:
   talosgen secrets set dev REGISTRY_PASSWORD < password.txt
   openssl rand -hex 32 | talosgen secrets set dev WEBHOOK_TOKEN`,
		Flags:  []cli.Flag{newKeysFlag()},
		Action: s.set,
	}
}

func (s secretsCommand) set(c *cli.Context) error {
	if c.NArg() > 2 {
		// What is too many may be the secret.
		return diag.On("", "expected <env> <name>").
			WithHint("the value is read from standard input, and is no argument").WithCode(diag.Usage)
	}
	env, err := s.ws.environment(c, "<name>")
	if err != nil {
		return err
	}
	name := c.Args().Get(1)
	if err := vault.CheckVariable(name); err != nil {
		return err
	}
	value, err := s.givenSecret(c)
	if err != nil {
		return err
	}
	return s.on(c, env, func(c *cli.Context, repo *render.Repo, env string) (*vault.Report, error) {
		return vault.Set(c.Context, repo, env, name, value)
	})
}

// givenSecret reads a value from standard input. A terminal would show what is typed.
func (s secretsCommand) givenSecret(c *cli.Context) (secret.String, error) {
	if s.out.answers {
		return secret.String{}, diag.On("", "the value is read from standard input, and a terminal would show it").
			WithHint("%s %s %s < FILE", c.Command.HelpName, c.Args().First(), c.Args().Get(1)).WithCode(diag.Usage)
	}
	text, err := interruptible(c.Context, func() (string, error) {
		data, err := io.ReadAll(io.LimitReader(s.out.stdin, longestSecret+1))
		return string(data), err
	})
	if err != nil {
		return secret.String{}, diag.On("", "standard input cannot be read: %v", err).WithCause(err)
	}
	if len(text) > longestSecret {
		return secret.String{}, diag.On("", "standard input has more than %d bytes", longestSecret).WithCode(diag.Usage)
	}
	text, cut := strings.CutSuffix(text, "\n")
	if cut {
		text = strings.TrimSuffix(text, "\r")
	}
	return secret.New(text), nil
}
