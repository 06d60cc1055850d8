package main

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/apply/image"
)

func (i imageCommand) listCommand() *cli.Command {
	return &cli.Command{
		Name:      "list",
		Usage:     "list the Talos snapshots in the project of an environment",
		ArgsUsage: "<env>",
		Description: `Lists the snapshots, the newest first, with their users: environments of the
repository, servers and autoscalers.

Examples:
   talosgen image list prod
   talosgen image list prod -o json`,
		Flags:  sessionFlags(autoscalerFlag(), outputFlag()),
		Action: i.list,
	}
}

func (i imageCommand) list(c *cli.Context) error {
	return i.clusters.use(c, func(s *session) error { return i.listIn(c, s) })
}

// listIn lists the snapshots of a project.
func (i imageCommand) listIn(c *cli.Context, s *session) error {
	uses, err := i.uses(c, s)
	s.stop()
	if err != nil {
		return err
	}
	if forPrograms(c) {
		return s.out.printValue(c, imageReports(uses))
	}
	return s.out.printText(imageTable(uses, s.ServerTime()))
}

// imageReport is a snapshot for programs.
type imageReport struct {
	ID           int64  `json:"id"`
	Version      string `json:"talosVersion"`
	Schematic    string `json:"schematic"`
	Architecture string `json:"architecture"` // as Talos names it
	// GB, compressed: what is paid for.
	Size      float64   `json:"sizeGB"`
	Created   time.Time `json:"created"`
	Status    string    `json:"status"`
	Protected bool      `json:"protected"`
	UsedBy    []string  `json:"usedBy"`
	// What may refer to it, if that is not known.
	MaybeUsedBy []string `json:"maybeUsedBy"`
	// Whether prune deletes it.
	Prunable bool `json:"prunable"`
}

func imageReports(uses []image.Use) []imageReport {
	out := make([]imageReport, len(uses))
	for i, u := range uses {
		out[i] = imageReport{
			ID: u.ID, Version: u.Labels["talos_version"], Schematic: u.Labels["talos_schematic_id"],
			Architecture: image.Arch(u.Architecture), Size: u.ImageSize, Created: u.Created, Status: u.Status, Protected: u.Protected,
			UsedBy: append([]string{}, u.By...), MaybeUsedBy: append([]string{}, u.Maybe...), Prunable: u.Prunable(),
		}
	}
	return out
}

// schematicShown is how much of the id of a schematic people need.
const schematicShown = 8

// imageTable shows snapshots to people.
func imageTable(uses []image.Use, now time.Time) string {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "ID\tTALOS\tSCHEMATIC\tARCH\tSIZE\tAGE\tUSED BY")
	for _, u := range uses {
		schematic := u.Labels["talos_schematic_id"]
		fmt.Fprintf(t, "%d\t%s\t%s\t%s\t%.2f GB\t%s\t%s\n", u.ID, u.Labels["talos_version"], schematic[:min(len(schematic), schematicShown)],
			image.Arch(u.Architecture), u.ImageSize, age(now.Sub(u.Created)), usedBy(u))
	}
	_ = t.Flush() // into memory
	return b.String()
}

// usedBy says why a snapshot stays, or that it does not.
func usedBy(u image.Use) string {
	parts := append([]string{}, u.By...)
	for _, m := range u.Maybe {
		parts = append(parts, "maybe "+m)
	}
	switch {
	case u.Status != "available":
		parts = append(parts, u.Status)
	case u.Protected:
		parts = append(parts, "protected")
	case len(parts) == 0 && !u.Prunable():
		parts = append(parts, "not created by talosgen")
	case len(parts) == 0:
		parts = append(parts, "nothing")
	}
	return strings.Join(parts, ", ")
}

// age prints a duration as people count it.
func age(d time.Duration) string {
	switch {
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	default:
		return fmt.Sprintf("%d days", int(d.Hours()/24))
	}
}
