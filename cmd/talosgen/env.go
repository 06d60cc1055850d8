package main

import (
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render/newenv"
)

// envCommand makes environments.
type envCommand struct {
	ws  workspace
	out *console
}

const (
	flagLike        = "like"
	flagSet         = "set"
	flagNetwork     = "network"
	flagClusterName = "cluster-name"
)

func (e envCommand) command() *cli.Command {
	return &cli.Command{
		Name:        "env",
		Usage:       "create an environment from another one",
		Subcommands: []*cli.Command{e.addCommand()},
	}
}

func (e envCommand) addCommand() *cli.Command {
	return &cli.Command{
		Name:      "add",
		Usage:     "create an environment that is like another one",
		ArgsUsage: "<env>",
		Description: `Copies cluster.yaml, cluster.env, patches and addons of an environment, and gives
the new one a cluster of its own: another name, a private network that no other
environment has, secrets and keys that are made for it. Names of nodes follow that
of the cluster. Secrets are never copied, nor is what was learned of the other
cluster, in facts.yaml.

What only one cluster can have, such as a name in DNS, the address of a machine or
a bucket for backups, has to be said with --set, by the variable of cluster.env or
the option of cluster.yaml that has it. Without it nothing is written, and each of
them is named. The same value says that both may have it.

Examples:
   talosgen env add staging --like prod --set API_HOST=api.staging.example
   talosgen env add lab --like dev --cluster-name lab --network 10.7.0.0/16
   talosgen env add b --like a --set 'endpoint=https://10.2.0.9:6443'`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: flagLike, Usage: "the environment `NAME` that it is like"},
			&cli.StringSliceFlag{Name: flagSet, Usage: "`NAME=VALUE` of a variable in cluster.env, or of an option in cluster.yaml (repeatable)"},
			&cli.StringFlag{Name: flagClusterName, Usage: "`NAME` of the cluster; default: that of the other, with the name of the environment in it"},
			&cli.StringFlag{Name: flagNetwork, Usage: "private network `CIDR` at Hetzner Cloud; default: the next one that no environment has"},
			outputFlag(),
		},
		Action: e.add,
	}
}

func (e envCommand) add(c *cli.Context) error {
	env, err := e.ws.environment(c)
	if err != nil {
		return err
	}
	o := newenv.Options{Like: c.String(flagLike), ClusterName: c.String(flagClusterName), Network: c.String(flagNetwork), Set: map[string]string{}}
	if o.Like == "" {
		return diag.On("--"+flagLike, "which environment is it like?").WithHint("talosgen env add %s --%s <env>", env, flagLike).WithCode(diag.Usage)
	}
	for _, text := range c.StringSlice(flagSet) {
		name, value, is := strings.Cut(text, "=")
		if !is || name == "" {
			return diag.On("--"+flagSet, "%q is not NAME=VALUE", text).WithCode(diag.Usage)
		}
		o.Set[name] = value
	}
	repo, err := e.ws.open(c)
	if err != nil {
		return err
	}
	defer repo.Close()
	report, err := newenv.Add(c.Context, repo, env, o)
	if err != nil {
		return err
	}
	if forPrograms(c) {
		return e.out.printValue(c, report)
	}
	e.say(report)
	return nil
}

// say says what was made, and what comes next.
func (e envCommand) say(r *newenv.Report) {
	network := ""
	if r.Network != "" {
		network = ", in " + r.Network
	}
	e.out.say("wrote envs/%s: the cluster %s%s", r.Env, r.Cluster, network)
	for _, note := range r.Notes {
		e.out.note("%s", note)
	}
	next := "\nnext:"
	for _, name := range r.Missing {
		next += "\n  talosgen secrets set " + r.Env + " " + name
	}
	e.out.say("%s\n  talosgen render %s", next, r.Env)
}
