package main

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/render/charts"
)

const flagFailOutdated = "fail"

func (h chartsCommand) outdatedCommand() *cli.Command {
	return &cli.Command{
		Name: "outdated", Usage: "list newer versions of pinned charts", ArgsUsage: "[env]",
		Description: `Asks the repositories of pinned charts, of one environment or of all, which
versions they have, and prints the pinned one, the newest of the same major
version, and the newest of all. Versions that come before a release count only for
a chart that is pinned at one. Manifests of a URL have no versions. A repository
that cannot be asked is an error of its chart. Needs no keys, and changes nothing.

Examples:
   talosgen charts outdated
   talosgen charts outdated prod
   talosgen charts outdated --fail     exit code 1 if a chart is outdated
   talosgen charts outdated -o json`,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: flagFailOutdated, Usage: "end with exit code 1 if a chart is outdated"},
			registryConfigFlag(), outputFlag(),
		},
		Action: h.outdated,
	}
}

func (h chartsCommand) outdated(c *cli.Context) error {
	if c.NArg() > 1 {
		return tooMany(c, 1)
	}
	repo, err := h.ws.open(c)
	if err != nil {
		return err
	}
	defer repo.Close()
	network, err := h.network.open(c)
	if err != nil {
		return err
	}
	ages, err := charts.Ages(c.Context, repo, network, c.Args().First())
	if ages == nil {
		return err
	}
	if printed := h.printAges(c, ages); printed != nil || err != nil {
		return errors.Join(err, printed)
	}
	if c.Bool(flagFailOutdated) && charts.IsOutdated(ages) {
		return errDifferences
	}
	return nil
}

func (h chartsCommand) printAges(c *cli.Context, ages []charts.Age) error {
	if forPrograms(c) {
		return h.out.printValue(c, ages)
	}
	if len(ages) == 0 {
		h.out.say("no addon uses a chart of a repository")
		return nil
	}
	rows := [][]string{{"CHART", "PINNED", "SAME MAJOR", "NEWEST", "STATE", "REPOSITORY"}}
	for _, a := range ages {
		rows = append(rows, []string{a.Name, cmp.Or(a.Locked, "-"), cmp.Or(a.SameMajor, "-"), cmp.Or(a.Newest, "-"), a.State, a.Repository})
	}
	return h.out.printData([]byte(h.columns(rows)))
}

// columns are rows with their cells below each other.
func (h chartsCommand) columns(rows [][]string) string {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		for i, cell := range row {
			row[i] = h.out.clean(cell)
		}
		fmt.Fprintln(t, strings.Join(row, "\t"))
	}
	_ = t.Flush() // into memory
	return b.String()
}
