package main

import "github.com/urfave/cli/v2"

// showCommand prints rendered configurations.
type showCommand struct {
	ws  workspace
	out *console
}

func (s showCommand) command() *cli.Command {
	return &cli.Command{
		Name:      "show",
		Usage:     "print the rendered configuration of a node",
		ArgsUsage: "<env> <node>",
		Description: `Prints the committed machine configuration. Secrets are masked, which needs no
key; --reveal decrypts them, and talosctl accepts the result.
Without talosgen, ` + "`sops -d rendered/<env>/nodes/<node>.yaml`" + ` prints the same.

Examples:
   talosgen show dev dev-control-plane-1
   talosgen show dev dev-control-plane-1 --reveal |
      talosctl apply-config -n <ip> -f /dev/stdin`,
		Flags: []cli.Flag{&cli.BoolFlag{Name: "reveal", Usage: "decrypt the secrets"}},
		Action: func(c *cli.Context) error {
			env, err := s.ws.environment(c, "<node>")
			if err != nil {
				return err
			}
			repo, err := s.ws.open(c)
			if err != nil {
				return err
			}
			defer repo.Close()
			data, err := repo.Show(c.Context, env, c.Args().Get(1), c.Bool("reveal"))
			if err != nil {
				return err
			}
			return s.out.printData(data)
		},
	}
}
