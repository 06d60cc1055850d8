package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/apply/robot"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/natural"
)

const flagYesInstall = "yes-install"

// Variables of the account at Hetzner Robot, as Hetzner's cloud controller has them.
const (
	robotUserVariable     = "ROBOT_USER"
	robotPasswordVariable = "ROBOT_PASSWORD"
	robotEndpointVariable = "ROBOT_ENDPOINT"
)

// installCommand puts Talos on dedicated servers.
type installCommand struct{ clusters clusters }

func (i installCommand) command() *cli.Command {
	return &cli.Command{
		Name:      "install",
		Usage:     "install Talos on dedicated servers of Hetzner Robot",
		ArgsUsage: "<env> <node>...",
		Description: `For machines of cluster.yaml with robotServer, the number of a dedicated server.
One after the other, they restart into Hetzner's rescue system, which downloads the
disk image of the node from the Image Factory, writes it to the install disk and
reads it back; then they restart into Talos, and wait for ` + "`talosgen apply`" + `.
Only a rescue system with a host key that Robot names is connected to.

All data on the install disk is lost. Nodes of a running cluster are refused. A disk
with something else on it is refused as well, unless --allow disk/<node> is given;
the server then restarts from that disk. If it is interrupted, run it again.

The login is that of Robot's web service: $` + robotUserVariable + ` and $` + robotPasswordVariable + `, else that of
hetzner.robot in the tree. $` + robotEndpointVariable + ` is the URL of the web service, if it is not
Hetzner's. Servers are reached on port 22, through $` + proxyVariable + ` if that is set.

Examples:
   talosgen install home home-1 home-2
   talosgen install home home-1 --allow disk/home-1   its disk is not empty
   talosgen install home home-1 --yes-install home    do not ask, as in CI`,
		Flags: sessionFlags(append(nodeFlags(),
			&cli.StringFlag{Name: flagYesInstall, Usage: "confirm with the `NAME` of the cluster"},
			&cli.StringSliceFlag{Name: flagAllow, Usage: "allow overwriting `WHAT`: disk/ with a node allows a disk that holds something else, node/ with a node one that was configured before (repeatable)"},
			imageURLFlag())...),
		Action: i.run,
	}
}

func (i installCommand) run(c *cli.Context) error {
	if c.NArg() < 2 {
		return diag.On("", "which environment and nodes?").WithHint("%s <env> <node>...", c.Command.HelpName).WithCode(diag.Usage)
	}
	return i.clusters.useOf(c, c.Args().First(), func(s *session) error { return i.install(c, s) })
}

// install plans, asks, and installs.
func (i installCommand) install(c *cli.Context, s *session) error {
	cluster := s.env.Infrastructure.Cluster
	if name := c.String(flagYesInstall); name != "" && name != cluster {
		return diag.On("--"+flagYesInstall, "the cluster of %s is named %s, not %s", s.env.Name(), cluster, name).WithCode(diag.Usage)
	}
	if err := s.CheckTree(c.Context); err != nil { // apply would not let them join
		return err
	}
	allow := c.StringSlice(flagAllow)
	p, err := s.PlanInstall(c.Context, c.Args().Tail(), allow)
	if err != nil {
		return err
	}
	s.view.line(strings.TrimRight(p.String(), "\n"))
	if len(p.Refusals) == 0 && len(p.Todo()) == 0 {
		return nil
	}
	if len(p.Refusals) == 0 {
		question := fmt.Sprintf("all data on these disks will be lost. type the name of the cluster (%s) to install Talos: ", cluster)
		if err := s.agreeByName(c, cluster, c.String(flagYesInstall), flagYesInstall, question); err != nil {
			return err
		}
	}
	err = s.Install(c.Context, p, allow, i.clusters.owner())
	s.stop()
	if err == nil {
		s.out.say("installed Talos on %s; next: talosgen apply %s", natural.Count(len(p.Todo()), "server"), s.env.Name())
	}
	return err
}

// robotAccount is the login for Hetzner Robot, as variables say.
func (k clusters) robotAccount() robot.Account {
	return robot.Account{
		Endpoint: k.vars.get(robotEndpointVariable), User: k.vars.secret(robotUserVariable), Password: k.vars.secret(robotPasswordVariable),
	}
}
