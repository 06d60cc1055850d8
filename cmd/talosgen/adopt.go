package main

import (
	"context"
	"net"
	"net/netip"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/apply/image"
	"github.com/talosgen/talosgen/apply/running"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render/importer"
)

// adoptCommand makes environments of clusters that run.
type adoptCommand struct {
	importCommand
	clusters
}

func (a adoptCommand) command() *cli.Command {
	return &cli.Command{
		Name:      "adopt",
		Usage:     "make an environment of a cluster that runs",
		ArgsUsage: "<env>",
		Description: `Reads the machine configurations of running nodes, and writes an environment
that renders to the same ones, as import does: rendered in memory and compared value
by value before anything is written. Nothing is changed on a node.

The nodes are asked with the talosconfig that talosctl uses. Name all nodes of the
cluster, workers too. They must be members of one etcd, run one version of Talos, and
have the same authorities, tokens and cluster id.

With --hcloud the nodes are servers in the Hetzner Cloud project of $HCLOUD_TOKEN,
which is only read. The environment describes them as they are, under the names and
addresses that they have, so that apply adds labels to them and changes nothing else;
otherwise nothing is written. What Terraform has to forget is told.

A file of --names says which pool a server is in, and which index it has there, where
its name does not: lines such as db-server: worker/3.

Examples:
   talosgen adopt home --nodes 192.168.1.11,192.168.1.21
   talosgen adopt home --talosconfig ~/home/talosconfig --check
   talosgen adopt prod --hcloud --nodes 203.0.113.11,203.0.113.21 --check`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "talosconfig", Usage: "talosconfig `FILE`", DefaultText: "$TALOSCONFIG, else ~/.talos/config"},
			&cli.StringFlag{Name: "context", Usage: "`NAME` of a context in it (default: the current one)"},
			&cli.StringSliceFlag{Name: "nodes", Usage: "`ADDRESS` of a node (repeatable; default: the nodes of the context)"},
			&cli.BoolFlag{Name: flagHcloud, Usage: "the nodes are servers in a Hetzner Cloud project, which is described too"},
			&cli.StringFlag{Name: flagPlaces, Usage: "`FILE` that says which pool each server is in, with --hcloud"},
			endpointFlag(),
			&cli.BoolFlag{Name: "check", Usage: "compare only, and write nothing"},
		},
		Action: a.run,
	}
}

func (a adoptCommand) run(c *cli.Context) error {
	env, err := a.importCommand.ws.environment(c)
	if err != nil {
		return err
	}
	access, err := a.access(c, env)
	if err != nil {
		return err
	}
	repo, err := a.importCommand.ws.openNew(c)
	if err != nil {
		return err
	}
	defer repo.Close()
	dial, err := serverDialer(a.clusters.vars, a.importCommand.out.masker)
	if err != nil {
		return err
	}
	nodes, err := running.Read(c.Context, access, dialing{dial}, a.clusters.clock.now)
	if err != nil {
		return err
	}
	o := importer.Options{Check: c.Bool("check")}
	for _, n := range nodes {
		o.Running = append(o.Running, importer.Running{
			Hostname: n.Hostname, Address: n.Address, UUID: n.UUID, Serial: n.Serial, MAC: n.MAC, Talos: n.Talos, Config: n.Config,
		})
	}
	var cloud *cloudAdoption
	if c.Bool(flagHcloud) {
		if cloud, err = a.inCloud(c, o.Running); err != nil {
			return err
		}
		o.Hetzner, o.Prove = cloud.options(), cloud.prove
	} else if c.String(flagPlaces) != "" {
		return diag.On("--"+flagPlaces, "is for --%s", flagHcloud).WithCode(diag.Usage)
	}
	report, err := importer.Import(c.Context, repo, env, o)
	if err != nil {
		return err
	}
	a.print(report, o.Check, "it is as it runs already")
	var take []string
	if cloud != nil {
		cloud.show(a.importCommand.out)
		take = cloud.adopts()
	}
	if !o.Check {
		a.next(report, take)
	}
	return nil
}

// next says what is to be done with the environment, and what apply is to take over.
func (a adoptCommand) next(r *importer.Report, take []string) {
	if r.Marked != "" && !r.Written { // of a new one it was said with the notes
		a.importCommand.out.say("next: edit what is marked with EDIT in %s", r.Marked)
	}
	a.importCommand.out.say("next: talosgen render %s", r.Env)
	flag := ""
	if len(take) > 0 {
		flag = " --" + flagAdopt + " " + strings.Join(take, ",")
	}
	a.importCommand.out.say("next: talosgen plan %s%s", r.Env, flag)
	if flag != "" {
		a.importCommand.out.say("next: talosgen apply %s%s", r.Env, flag)
	}
}

// access is the context of the talosconfig, with the nodes to ask.
func (a adoptCommand) access(c *cli.Context, env string) (*running.Access, error) {
	file := c.String("talosconfig")
	if file == "" {
		var err error
		if file, err = talosconfigFile(a.clusters.vars); err != nil {
			return nil, err
		}
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, unreadable(file, err)
	}
	access, err := running.ParseAccess(file, data, c.String("context"))
	if err != nil {
		return nil, err
	}
	a.importCommand.out.masker.Add(access.Key())
	if named := c.StringSlice("nodes"); len(named) > 0 {
		access.Nodes = named
	}
	if len(access.Nodes) == 0 {
		return nil, diag.On("", "adopt which nodes?").
			WithHint("name all of the cluster: talosgen adopt %s --nodes 192.168.1.11,192.168.1.21", env).WithCode(diag.Usage)
	}
	for _, node := range access.Nodes {
		if _, err := netip.ParseAddr(node); err != nil {
			return nil, diag.On(node, "is no address of a node").WithHint("the environment will hold it: give the IP address").WithCode(diag.Usage)
		}
	}
	return access, nil
}

// dialing is a way to nodes.
type dialing struct{ dial image.Dialer }

// Dial connects.
func (d dialing) Dial(ctx context.Context, address string) (net.Conn, error) {
	return d.dial(ctx, address)
}
