package main

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/pmezard/go-difflib/difflib"
	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/natural"
	"github.com/talosgen/talosgen/render"
	"github.com/talosgen/talosgen/render/nodepools"
)

func (p poolCommand) list(c *cli.Context) error {
	env, err := p.ws.environment(c)
	if err != nil {
		return err
	}
	repo, err := p.ws.open(c)
	if err != nil {
		return err
	}
	defer repo.Close()
	pools, err := nodepools.List(repo, env)
	switch {
	case err != nil:
		return err
	case forPrograms(c):
		return p.out.printValue(c, pools)
	default:
		return p.out.printText(string(poolTable(pools)))
	}
}

// poolTable is a table for people.
func poolTable(pools []nodepools.Pool) []byte {
	var out bytes.Buffer
	table := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "POOL\tROLE\tTYPE\tNODES\tSUBNET\tOFFSET\tINDEX\tADDRESS")
	for _, p := range pools {
		nodes, offset := strconv.Itoa(len(p.Nodes)), "-"
		if p.Autoscaled {
			nodes = fmt.Sprintf("%d to %d", p.Min, p.Max)
		}
		if p.Offset != nil {
			offset = strconv.Itoa(*p.Offset)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s", p.Name, p.Role, dash(p.Type), nodes, dash(p.Subnet), offset)
		for i, n := range p.Nodes {
			if i > 0 {
				fmt.Fprint(table, "\t\t\t\t\t")
			}
			fmt.Fprintf(table, "\t%s\t%s\n", indexOrName(n), dash(n.Address))
		}
		if len(p.Nodes) == 0 {
			fmt.Fprintln(table, "\t-\t-")
		}
	}
	table.Flush()
	return out.Bytes()
}

// indexOrName is what tells a node from others of its pool.
func indexOrName(n nodepools.Node) string {
	if n.Index > 0 {
		return strconv.Itoa(n.Index)
	}
	return n.Name
}

func dash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

func (p poolCommand) add(c *cli.Context) error {
	env, err := p.ws.environment(c, "<pool>")
	if err != nil {
		return err
	}
	pool := nodepools.New{
		Name: c.Args().Get(1), Type: c.String("type"), Location: c.String("location"), Subnet: c.String("subnet"),
		Count: c.Int("count"), Spread: c.Bool("placement-group"), Taints: c.StringSlice("taint"),
		ControlPlane: c.Bool("control-plane"),
		Autoscaled:   c.IsSet("max"), Min: c.Int("min"), Max: c.Int("max"),
	}
	switch {
	case pool.Type == "":
		return diag.On("", "which server type?").WithHint("for example --type cpx22").WithCode(diag.Usage)
	case c.IsSet("min") && !c.IsSet("max"):
		return diag.On("", "--min without --max").WithHint("give both for a pool of the autoscaler, or --count").WithCode(diag.Usage)
	case pool.Autoscaled && (c.IsSet("count") || c.IsSet("placement-group")):
		return diag.On("", "--max is for pools of the autoscaler, which have no --count and no --placement-group").WithCode(diag.Usage)
	case pool.ControlPlane && (pool.Autoscaled || c.IsSet("placement-group") || c.IsSet("subnet")):
		return diag.On("", "control planes share a subnet, are always spread, and none comes or goes by itself: --control-plane is without --max, --subnet and --placement-group").WithCode(diag.Usage)
	case pool.Count < 0 || pool.Min < 0 || pool.Max < 0:
		return diag.On("", "a number of nodes is not negative").WithCode(diag.Usage)
	}
	if pool.Labels, err = pairs(c, "label"); err != nil {
		return err
	}
	if pool.Annotations, err = pairs(c, "annotation"); err != nil {
		return err
	}
	return p.change(c, func(repo *render.Repo) (*nodepools.Change, error) { return nodepools.Add(repo, env, pool) })
}

// pairs reads a flag that is given as KEY=VALUE, several times.
func pairs(c *cli.Context, flag string) (map[string]string, error) {
	all := map[string]string{}
	for _, text := range c.StringSlice(flag) {
		key, value, ok := strings.Cut(text, "=")
		if !ok {
			return nil, diag.On("", "--%s %s: expected KEY=VALUE", flag, text).WithCode(diag.Usage)
		}
		all[key] = value
	}
	return all, nil
}

func (p poolCommand) scale(c *cli.Context) error {
	env, err := p.ws.environment(c, "<pool>", "[<count>]")
	if err != nil {
		return err
	}
	name := c.Args().Get(1)
	limits := c.IsSet("min") || c.IsSet("max")
	if limits == (c.NArg() == 3) {
		return diag.On("", "give the number of nodes, or --min and --max for a pool of the autoscaler").
			WithHint("talosgen pool scale %s %s 3", env, name).WithCode(diag.Usage)
	}
	if limits {
		return p.change(c, func(repo *render.Repo) (*nodepools.Change, error) {
			return nodepools.ScaleLimits(repo, env, name, number(c, "min"), number(c, "max"))
		})
	}
	count, err := strconv.Atoi(c.Args().Get(2))
	if err != nil || count < 0 {
		return diag.On("", "%q is not a number of nodes", c.Args().Get(2)).WithCode(diag.Usage)
	}
	return p.change(c, func(repo *render.Repo) (*nodepools.Change, error) { return nodepools.Scale(repo, env, name, count) })
}

// number is the value of a flag, nil if it is not given.
func number(c *cli.Context, flag string) *int {
	if !c.IsSet(flag) {
		return nil
	}
	n := c.Int(flag)
	return &n
}

func (p poolCommand) remove(c *cli.Context) error {
	env, err := p.ws.environment(c, "<pool>")
	if err != nil {
		return err
	}
	return p.change(c, func(repo *render.Repo) (*nodepools.Change, error) {
		return nodepools.Remove(repo, env, c.Args().Get(1), c.StringSlice("node"))
	})
}

func (p poolCommand) place(c *cli.Context) error {
	env, err := p.ws.environment(c, "[<pool>]")
	if err != nil {
		return err
	}
	return p.change(c, func(repo *render.Repo) (*nodepools.Change, error) {
		return nodepools.Place(repo, env, c.Args().Slice()[1:])
	})
}

// change makes a change, shows it, renders what follows from it, and writes
// both. Nothing is written if the render fails, but for what makes cluster.yaml
// valid.
func (p poolCommand) change(c *cli.Context, make func(*render.Repo) (*nodepools.Change, error)) error {
	repo, err := p.ws.open(c)
	if err != nil {
		return err
	}
	defer repo.Close()
	change, err := make(repo)
	if err != nil {
		return err
	}
	if bytes.Equal(change.Before, change.After) {
		p.out.say("%s is unchanged", change.File)
		return nil
	}
	if err := p.print(change); err != nil {
		return err
	}
	if err := mayDelete(c, change); err != nil {
		p.out.say("nothing was written")
		return err
	}
	if c.Bool(flagDryRun) {
		return errDifferences
	}
	if c.Bool("no-render") {
		return p.write(change)
	}
	res, err := change.Render(c.Context)
	if res != nil {
		p.out.printWarnings(res.Warnings)
	}
	if err != nil {
		return p.notRendered(c, repo, change, err)
	}
	if err := c.Context.Err(); err != nil {
		return err
	}
	if err := p.write(change); err != nil {
		return err
	}
	if err := p.deleteUnused(change); err != nil {
		return err
	}
	summary, err := repo.Write(res)
	if err != nil {
		return err
	}
	p.out.say("rendered/%s: %s, %s", change.Env, natural.Count(len(res.Nodes), "node"), whatChanged(summary))
	return nil
}

// notRendered returns why an environment does not render with a change.
// The change is not written, unless it made cluster.yaml valid: other commands
// that mend what is left, such as secrets sync, read cluster.yaml too.
func (p poolCommand) notRendered(c *cli.Context, repo *render.Repo, change *nodepools.Change, err error) error {
	if _, before := nodepools.List(repo, change.Env); before == nil || c.Context.Err() != nil {
		p.out.say("nothing was written")
		return err
	}
	if failed := p.write(change); failed != nil {
		return failed
	}
	p.out.say("rendered/%s was not written: other problems are left", change.Env)
	return err
}

func (p poolCommand) write(change *nodepools.Change) error {
	if err := change.Write(); err != nil {
		return err
	}
	p.out.say("wrote %s", change.File)
	return nil
}

// mayDelete refuses a change that leaves patches without a pool or a node, unless
// they are to be deleted.
func mayDelete(c *cli.Context, change *nodepools.Change) error {
	var problems diag.List
	for _, file := range change.Unused {
		if !c.Bool(flagDeletePatches) && !c.Bool("no-render") {
			problems.Add(diag.New(diag.Pos{File: file}, "is a patch of what the change removes").
				WithHint("--%s deletes it too", flagDeletePatches))
		}
	}
	return problems.Err()
}

// deleteUnused deletes the patches of what the change removed.
func (p poolCommand) deleteUnused(change *nodepools.Change) error {
	if err := change.DeleteUnused(); err != nil {
		return err
	}
	for _, file := range change.Unused {
		p.out.say("deleted %s", file)
	}
	return nil
}

// print prints the difference to stdout, as git does.
func (p poolCommand) print(change *nodepools.Change) error {
	for _, note := range change.Notes {
		p.out.note("%s", note)
	}
	text, err := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{
		A: slices.Collect(strings.Lines(string(change.Before))), FromFile: "a/" + change.File,
		B: slices.Collect(strings.Lines(string(change.After))), ToFile: "b/" + change.File,
		Context: 3,
	})
	if err != nil {
		return err
	}
	return p.out.printText(text)
}
