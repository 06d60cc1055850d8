package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/printable"
	"github.com/talosgen/talosgen/render"
)

func diffCommand(w *world) *cli.Command {
	return &cli.Command{
		Name:         "diff",
		Usage:        "show what a render would change",
		ArgsUsage:    "<env>",
		BashComplete: w.completeEnvironments(false),
		Description: `Renders in memory and compares with the committed tree, value by value. Of
secrets it only says that they changed. Encrypted sources that changed since the
last render are named first; with --reveal they are decrypted, and their lines
that changed are printed. Exits 1 if there are differences.

Examples:
   talosgen diff dev
   talosgen diff dev --reveal`,
		Flags: []cli.Flag{&cli.BoolFlag{Name: "reveal", Usage: "decrypt the encrypted sources that changed"}, outputFlag()},
		Action: func(c *cli.Context) error {
			if c.Bool("reveal") && wantsJSON(c) {
				return diag.On("", "--reveal is for people, not for -o json").WithCode(diag.Usage)
			}
			env, err := w.environment(c)
			if err != nil {
				return err
			}
			repo, err := w.openRepo(c)
			if err != nil {
				return err
			}
			defer repo.Close()
			res, err := repo.WithNewKeys().Render(c.Context, env, render.Options{}) // nothing is written
			if res != nil {
				w.printWarnings(res.Warnings)
			}
			if err != nil {
				return err
			}
			changes, err := repo.Diff(c.Context, res)
			if err != nil {
				return err
			}
			if err := w.printEncrypted(c, repo, res); err != nil {
				return err
			}
			if err := w.printChanges(c, env, changes); err != nil {
				return err
			}
			if len(changes) > 0 || len(res.Encrypted) > 0 {
				return errDifferences
			}
			return nil
		},
	}
}

// printEncrypted names the encrypted sources that changed, on stderr, where they
// are no part of the list of changes; what is in them is data.
func (w *world) printEncrypted(c *cli.Context, repo *render.Repo, res *render.Result) error {
	for _, source := range res.Encrypted {
		w.say("encrypted source %s: %s", source.Action, source.File)
		if !c.Bool("reveal") {
			continue
		}
		lines, err := repo.Reveal(c.Context, res.Env, source)
		if err != nil {
			return err
		}
		for _, line := range lines {
			if err := w.printData([]byte("  " + printable.Line(line) + "\n")); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *world) printChanges(c *cli.Context, env string, changes []render.Change) error {
	if wantsJSON(c) {
		if changes == nil {
			changes = []render.Change{}
		}
		return w.printJSON(changes)
	}
	if len(changes) == 0 {
		w.say("rendered/%s: a render would change nothing", env)
		return nil
	}
	var b strings.Builder
	file := ""
	for _, ch := range changes {
		if ch.File != file {
			file = ch.File
			fmt.Fprintf(&b, "%s\n", file)
		}
		b.WriteString(changeLine(ch) + "\n")
	}
	return w.printText(b.String())
}

// changeLine prints a change: + added, - removed, ~ changed.
func changeLine(ch render.Change) string {
	if ch.Path == "" {
		return map[string]string{
			render.Added: "  + the whole file", render.Removed: "  - the whole file",
			render.Changed: "  ~ encryption or order only",
		}[ch.Action]
	}
	place := strings.TrimSpace(ch.Document + " " + ch.Path)
	if ch.Secret {
		return map[string]string{render.Added: "  + ", render.Removed: "  - ", render.Changed: "  ~ "}[ch.Action] + place + ": secret " + ch.Action
	}
	switch ch.Action {
	case render.Added:
		return "  + " + place + ": " + quoteValue(ch.New)
	case render.Removed:
		return "  - " + place + ": " + quoteValue(ch.Old)
	default:
		old, now := quoteChange(ch.Old, ch.New)
		return "  ~ " + place + ": " + old + " -> " + now
	}
}

func explainCommand(w *world) *cli.Command {
	return &cli.Command{
		Name:         "explain",
		Usage:        "show which layer set a value of a node, and what it overrode",
		ArgsUsage:    "<env> <node> [path]",
		BashComplete: w.completeEnvironments(true),
		Description: `For every value at or below the path: the layer, file and line that set it,
then those that it overrode. Values of documents other than machine: and
cluster: are named by their kind (and name): HostnameConfig.hostname,
UserVolumeConfig/data.provisioning.

Layers, later wins: Talos' generated base, options of cluster.yaml,
patches/common, patches/<role>, then envs/<env>/patches: common, <role>,
pools/<pool>, nodes/<node>.

In place of a node, addon/<name> stands for the values of a chart: those of
talosgen's catalogue, then those that options of cluster.yaml make, then
patches/addons/<name>/values.yaml, then envs/<env>/addons/<name>/values.yaml.

Examples:
   talosgen explain dev dev-worker-1 machine.nodeLabels
   talosgen explain dev addon/podinfo replicaCount
   talosgen explain dev dev-worker-1 --all`,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "all", Usage: "the whole configuration"},
			outputFlag(),
		},
		Action: w.explainAction,
	}
}

func (w *world) explainAction(c *cli.Context) error {
	env, err := w.environment(c, "<node>", "[path]")
	if err != nil {
		return err
	}
	path := c.Args().Get(2)
	if path == "" && !c.Bool("all") {
		return diag.On("", "which value?").WithHint("name a path, such as machine.kubelet, or say --all").WithCode(diag.Usage)
	}
	repo, err := w.openRepo(c)
	if err != nil {
		return err
	}
	defer repo.Close()
	values, err := repo.Explain(c.Context, env, c.Args().Get(1), path)
	if err != nil {
		return err
	}
	if wantsJSON(c) {
		return w.printJSON(values)
	}
	var b strings.Builder
	for _, v := range values {
		explainValue(&b, v)
	}
	return w.printText(b.String())
}

// explainValue prints a value, the layer that set it, and those below.
func explainValue(b *strings.Builder, v render.Explained) {
	fmt.Fprintf(b, "%s: %s\n", v.Name(), quoteValue(v.Value))
	for i := len(v.Origins) - 1; i >= 0; i-- {
		o := v.Origins[i]
		where := o.Layer
		if o.File != "" {
			where = fmt.Sprintf("%s:%d (%s)", o.File, o.Line, o.Layer)
		}
		if i == len(v.Origins)-1 {
			fmt.Fprintf(b, "    set by %s\n", where)
			continue
		}
		fmt.Fprintf(b, "    over   %s: %s\n", where, quoteValue(o.Value))
	}
}

func showCommand(w *world) *cli.Command {
	return &cli.Command{
		Name:         "show",
		Usage:        "print the rendered configuration of a node",
		ArgsUsage:    "<env> <node>",
		BashComplete: w.completeEnvironments(true),
		Description: `Prints the committed machine configuration. Secrets are masked, which needs no
key; with --reveal they are decrypted, and the result is what talosctl takes.
Without talosgen, ` + "`sops -d rendered/<env>/nodes/<node>.yaml`" + ` prints the same.

Examples:
   talosgen show dev dev-control-plane-1
   talosgen show dev dev-control-plane-1 --reveal |
      talosctl apply-config -n <ip> -f /dev/stdin`,
		Flags: []cli.Flag{&cli.BoolFlag{Name: "reveal", Usage: "decrypt the secrets"}},
		Action: func(c *cli.Context) error {
			env, err := w.environment(c, "<node>")
			if err != nil {
				return err
			}
			repo, err := w.openRepo(c)
			if err != nil {
				return err
			}
			defer repo.Close()
			data, err := repo.Show(c.Context, env, c.Args().Get(1), c.Bool("reveal"))
			if err != nil {
				return err
			}
			return w.printData(data)
		},
	}
}
