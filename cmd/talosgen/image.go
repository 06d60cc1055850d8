package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/apply"
	"github.com/talosgen/talosgen/apply/image"
	"github.com/talosgen/talosgen/apply/preflight"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/natural"
	"github.com/talosgen/talosgen/schemas"
)

// Flags of the commands about images.
const (
	flagImageURL   = "image-url"
	flagAutoscaler = "autoscaler-config"
	flagDryRun     = "dry-run"
)

// imageURLFlag says where images come from.
func imageURLFlag() cli.Flag {
	return &cli.StringSliceFlag{Name: flagImageURL, Usage: "download images from `[ARCH=]URL` instead of the Image Factory, with {path}, {arch} and #sha256=DIGEST (repeatable)"}
}

// imageBuilder is what images are made with.
func (k clusters) imageBuilder(c *cli.Context) (b apply.Builder, err error) {
	b.Random = k.random
	if b.Mirrors, err = image.ParseMirrors(c.StringSlice(flagImageURL)); err != nil {
		return b, err
	}
	b.Dial, err = serverDialer(k.vars, k.out.masker)
	return b, err
}

func autoscalerFlag() cli.Flag {
	return &cli.StringSliceFlag{Name: flagAutoscaler, Usage: "autoscaler configuration of a cluster, `CLUSTER=FILE`; CLUSTER=none if it has none (repeatable)"}
}

// imageCommand makes, lists and deletes snapshots with Talos.
type imageCommand struct{ clusters clusters }

func (i imageCommand) command() *cli.Command {
	return &cli.Command{
		Name:  "image",
		Usage: "manage the Talos snapshots that servers are created from, and find images",
		Subcommands: []*cli.Command{
			i.buildCommand(), i.listCommand(), i.pruneCommand(), i.urlCommand(),
		},
	}
}

func (i imageCommand) buildCommand() *cli.Command {
	return &cli.Command{
		Name:      "build",
		Usage:     "build the missing Talos snapshots of an environment",
		ArgsUsage: "<env>",
		Description: `Hetzner Cloud accepts no uploads. A temporary server for each architecture boots
the rescue system, downloads the image from the Image Factory, writes it to its
disk, verifies it and powers off; then a snapshot of that disk is created. The
server and its SSH key are removed, and so are those of an interrupted run.
` + "`talosgen apply`" + ` also builds missing snapshots.

The servers are reached on port 22, through $` + proxyVariable + ` if that is set.

Examples:
   talosgen image build prod
   talosgen image build prod --dry-run
   talosgen image build prod --image-url https://mirror.example.com/{path}
   talosgen image build prod --image-url arm64=https://example.com/talos.xz`,
		Flags:  sessionFlags(imageURLFlag(), &cli.BoolFlag{Name: flagDryRun, Usage: "only show missing snapshots; exits 1 if there are any"}),
		Action: i.build,
	}
}

func (i imageCommand) build(c *cli.Context) error {
	return i.clusters.use(c, func(s *session) error { return i.buildIn(c, s) })
}

// buildIn makes the images that a project lacks.
func (i imageCommand) buildIn(c *cli.Context, s *session) error {
	missing, err := s.MissingImages(c.Context)
	if err != nil {
		return err
	}
	for _, want := range missing {
		s.view.line(fmt.Sprintf("missing: %s for %s", want.Selector, image.Arch(want.Architecture)))
	}
	if len(missing) == 0 {
		s.view.line("all images exist")
	}
	found := s.CheckImages(c.Context, missing)
	s.warn(found)
	switch err = preflight.Failures(found); {
	case err != nil:
	case !c.Bool(flagDryRun):
		err = s.BuildImages(c.Context, missing, i.clusters.owner())
	case len(missing) > 0:
		err = errDifferences
	}
	s.stop()
	s.sayRequests()
	return err
}

func (i imageCommand) pruneCommand() *cli.Command {
	return &cli.Command{
		Name:      "prune",
		Usage:     "delete unused Talos snapshots",
		ArgsUsage: "<env>",
		Description: `Deletes unused Talos snapshots in the project of an environment. Snapshots of
other programs are kept. A snapshot is in use if any environment of the
repository refers to it, if a server was created from it, or if an autoscaler
may create servers from it. Those of an autoscaler are named in a Secret of its
cluster: without --autoscaler-config every snapshot counts as used. The same is
true for clusters in the project that are not in the repository.

Examples:
   talosgen image prune prod --dry-run   what would be deleted, and why
   talosgen image prune prod             show, ask, delete
   talosgen image prune prod --yes --autoscaler-config prod=config.json`,
		Flags: sessionFlags(autoscalerFlag(),
			&cli.BoolFlag{Name: flagDryRun, Usage: "only show what would be deleted; exits 1 if there is anything"},
			&cli.BoolFlag{Name: flagYes, Usage: "do not ask for approval"}, outputFlag()),
		Action: i.prune,
	}
}

func (i imageCommand) prune(c *cli.Context) error {
	return i.clusters.use(c, func(s *session) error { return i.pruneIn(c, s) })
}

// pruneIn shows what nothing refers to in a project, asks, and deletes it.
func (i imageCommand) pruneIn(c *cli.Context, s *session) error {
	uses, err := i.uses(c, s)
	if err != nil {
		return err
	}
	unused := 0
	for _, u := range uses {
		if u.Prunable() {
			unused++
		}
	}
	s.view.clear()
	if c.Bool(flagDryRun) || unused == 0 {
		return i.showUses(c, s, uses, unused)
	}
	if !forPrograms(c) {
		s.view.line(strings.TrimRight(imageTable(uses, s.ServerTime()), "\n"))
	}
	if err := s.out.agree(c, s.view, fmt.Sprintf("delete %s?", natural.Count(unused, "snapshot"))); err != nil {
		return err
	}
	removed, err := s.PruneImages(c.Context, uses, i.clusters.owner())
	s.stop()
	if forPrograms(c) {
		if err := s.out.printValue(c, imageReports(removed)); err != nil {
			return err
		}
	}
	s.out.say("deleted %s", natural.Count(len(removed), "snapshot"))
	return err
}

// showUses shows the snapshots, of which some are unused, and nothing else happens.
func (imageCommand) showUses(c *cli.Context, s *session, uses []image.Use, unused int) error {
	if forPrograms(c) {
		if err := s.out.printValue(c, imageReports(uses)); err != nil {
			return err
		}
	} else {
		s.view.line(strings.TrimRight(imageTable(uses, s.ServerTime()), "\n"))
		s.out.say("%s to delete", natural.Count(unused, "snapshot"))
	}
	if unused > 0 {
		return errDifferences
	}
	return nil
}

// uses lists the snapshots, and what refers to them.
func (i imageCommand) uses(c *cli.Context, s *session) ([]image.Use, error) {
	autoscalers, err := readAutoscalers(c.StringSlice(flagAutoscaler))
	if err != nil {
		return nil, err
	}
	repo, err := i.clusters.ws.open(c)
	if err != nil {
		return nil, err
	}
	defer repo.Close()
	environments, err := allInfrastructure(repo.Root())
	if err != nil {
		return nil, err
	}
	return s.Images(c.Context, environments, autoscalers)
}

// allInfrastructure reads what every environment of a repository wants. One that
// cannot be read is an error: its images would be unknown.
func allInfrastructure(root string) (all []image.Environment, err error) {
	found, err := os.ReadDir(filepath.Join(root, "rendered"))
	if err != nil {
		return nil, diag.New(diag.Pos{File: "rendered"}, "cannot be read: %v", reasonOf(err)).WithCause(err)
	}
	for _, entry := range found {
		_, err := os.Stat(filepath.Join(root, "rendered", entry.Name(), schemas.InfrastructureFile))
		if os.IsNotExist(err) || !entry.IsDir() {
			continue // not the tree of an environment
		}
		infra, err := renderedInfrastructure(root, entry.Name())
		if err != nil {
			return nil, err
		}
		all = append(all, image.Environment{Name: entry.Name(), Infrastructure: infra})
	}
	sources, err := os.ReadDir(filepath.Join(root, "envs"))
	if err != nil && !os.IsNotExist(err) {
		return nil, diag.New(diag.Pos{File: "envs"}, "cannot be read: %v", reasonOf(err)).WithCause(err)
	}
	return all, checkRendered(root, sources)
}

// checkRendered refuses environments that are not rendered.
func checkRendered(root string, sources []fs.DirEntry) error {
	var problems diag.List
	for _, entry := range sources {
		if !entry.IsDir() {
			continue
		}
		if _, err := os.Stat(filepath.Join(root, "envs", entry.Name(), "cluster.yaml")); os.IsNotExist(err) {
			continue
		}
		if _, err := os.Stat(filepath.Join(root, "rendered", entry.Name(), schemas.InfrastructureFile)); err != nil {
			problems.Add(diag.New(diag.Pos{File: "rendered/" + entry.Name()}, "does not exist: the images of this environment are unknown").
				WithHint("render it: `talosgen render %s`", entry.Name()))
		}
	}
	return problems.Err()
}

// noAutoscaler stands for a cluster that has none.
const noAutoscaler = "none"

// readAutoscalers reads the configurations that are given as cluster=file.
func readAutoscalers(texts []string) (map[string]image.Autoscaler, error) {
	all := map[string]image.Autoscaler{}
	for _, text := range texts {
		cluster, file, found := strings.Cut(text, "=")
		if !found || cluster == "" || file == "" {
			return nil, diag.On("--"+flagAutoscaler, "%q is not CLUSTER=FILE", text).WithCode(diag.Usage)
		}
		if file == noAutoscaler {
			all[cluster] = nil
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, unreadable(file, err)
		}
		if all[cluster], err = image.ParseAutoscaler(file, data); err != nil {
			return nil, err
		}
	}
	return all, nil
}
