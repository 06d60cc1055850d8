package main

import (
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/natural"
	"github.com/talosgen/talosgen/render"
)

// renderCommand renders environments.
type renderCommand struct {
	ws     workspace
	out    *console
	charts chartNetwork
}

func (r renderCommand) command() *cli.Command {
	return &cli.Command{
		Name:      "render",
		Usage:     "render the machine configurations and manifests of an environment",
		ArgsUsage: "<env> | --all | --env <env>,<env>",
		Description: `Reads envs/<env> and patches, and writes rendered/<env>: a complete, validated
machine configuration for each node, the manifests of its addons, and a lock with
the digests of all inputs. Secrets are encrypted. Either all files are written or
none. If no input has changed since the last render, nothing is written; else
what the changed inputs have no part in is taken over from rendered/<env>.

Examples:
   talosgen render dev              render one environment
   talosgen render --all            render every environment
   talosgen render dev --check      is rendered/dev up to date? needs no key
   talosgen render dev --keyless    validate everything without any key
   talosgen render dev --node dev-control-plane-1
                                    render one node, write nothing

The lock shows whether the data keys are those of the last render. If they are
not, the render fails, because they may have been replaced by an attacker.
--new-keys confirms a change that is intended.`,
		Flags: append([]cli.Flag{
			&cli.BoolFlag{Name: "check", Usage: "write nothing; exit 1 and list what changed if the tree is not up to date"},
			&cli.BoolFlag{Name: flagKeyless, Usage: "write nothing; render with placeholders in place of secrets"},
			&cli.StringSliceFlag{Name: "node", Usage: "write nothing; render and validate the node `NAME` only (repeatable)"},
			&cli.BoolFlag{Name: "hook", Usage: "for pre-commit: exit 1 if a rendered file or one of its sources is not in the git index as it is"},
			newKeysFlag(),
			&cli.BoolFlag{Name: "force", Usage: "render everything, even if nothing changed"},
			&cli.BoolFlag{Name: flagFetch, Usage: "first download charts that charts/charts.lock pins and that are missing"},
			registryConfigFlag(), outputFlag(),
		}, allFlags()...),
		Action: r.run,
	}
}

// renderReport is what render says of an environment, for programs.
type renderReport struct {
	Env         string        `json:"environment"`
	UpToDate    bool          `json:"upToDate"`
	Nodes       []render.Node `json:"nodes,omitempty"`
	Added       []string      `json:"added,omitempty"`
	Changed     []string      `json:"changed,omitempty"`
	Removed     []string      `json:"removed,omitempty"`
	Differences []difference  `json:"differences,omitempty"` // with --check
	Warnings    []string      `json:"warnings,omitempty"`
	// NewEncrypted are encrypted sources that the last render did not read.
	NewEncrypted []string `json:"newEncryptedSources,omitempty"`
	NotInIndex   []string `json:"notInIndex,omitempty"` // with --hook
}

type difference struct {
	Path   string `json:"path"`
	Change string `json:"change"`
	Output bool   `json:"output"`
}

// excluding are flags of render of which one would be ignored.
var excluding = [][2]string{
	{"check", flagKeyless}, {"check", "node"}, {"check", "force"},
	{"check", render.FlagNewKeys}, {"hook", render.FlagNewKeys}, {flagKeyless, render.FlagNewKeys}, {"node", render.FlagNewKeys},
	{"hook", flagKeyless}, {"hook", "node"}, {"force", flagKeyless}, {"force", "node"}, {flagAll, "node"}, {flagEnv, "node"},
}

func checkRenderFlags(c *cli.Context) error {
	for _, pair := range excluding {
		if c.IsSet(pair[0]) && c.IsSet(pair[1]) {
			return diag.On("", "--%s and --%s exclude each other", pair[0], pair[1]).
				WithHint("see `talosgen render --help`").WithCode(diag.Usage)
		}
	}
	return nil
}

func (r renderCommand) run(c *cli.Context) error {
	if err := checkRenderFlags(c); err != nil {
		return err
	}
	repo, err := r.ws.open(c)
	if err != nil {
		return err
	}
	defer repo.Close()
	repo = confirmedKeys(c, repo)
	envs, err := r.targets(c, repo)
	if err != nil {
		return err
	}
	if err := r.charts.fetch(c, repo); err != nil {
		return err
	}
	var problems diag.List
	reports := []renderReport{}
	different := c.Bool("all") && r.abandoned(repo) && c.Bool("check")
	for _, env := range envs {
		report, err := r.one(c, repo, env)
		if report != nil {
			reports = append(reports, *report)
			different = different || len(report.Differences) > 0 || len(report.NotInIndex) > 0
		}
		problems.AddErr(err)
		if c.Context.Err() != nil || errors.Is(err, render.ErrAbandoned) {
			break
		}
	}
	if forPrograms(c) {
		if err := r.out.printValue(c, reports); err != nil {
			return err
		}
	}
	if err := problems.Err(); err != nil {
		return err
	}
	if different {
		return errDifferences
	}
	return nil
}

// abandoned reports, and warns, whether there are trees without an environment: they
// are no longer rendered or checked, and could still be applied.
func (r renderCommand) abandoned(repo *render.Repo) bool {
	trees := repo.AbandonedTrees()
	for _, dir := range trees {
		r.out.warn("%s belongs to no environment\n  remove it with `git rm -r %s`", dir, dir)
	}
	return len(trees) > 0
}

// targets returns the environments that are meant.
func (r renderCommand) targets(c *cli.Context, repo *render.Repo) ([]string, error) {
	if several(c) {
		return namedOrAll(c, repo)
	}
	env, err := r.ws.environment(c)
	return []string{env}, err
}

func (r renderCommand) one(c *cli.Context, repo *render.Repo, env string) (*renderReport, error) {
	if c.Bool("check") {
		return r.check(c, repo, env)
	}
	options := render.Options{Keyless: c.Bool(flagKeyless), Nodes: c.StringSlice("node")}
	partial := options.Keyless || len(options.Nodes) > 0
	anew := partial || c.Bool("force") || c.Bool(render.FlagNewKeys)
	res, err := renderedBy(c, repo, env, options, anew)
	if panicHook != nil {
		panicHook()
	}
	if res != nil {
		r.out.printWarnings(res.Warnings)
	}
	switch {
	case err != nil:
		return nil, err
	case res == nil:
		r.out.say("rendered/%s is up to date", env)
		return r.hook(c, repo, &renderReport{Env: env, UpToDate: true})
	}
	report := &renderReport{Env: env, Nodes: res.Nodes}
	for _, p := range res.Warnings {
		report.Warnings = append(report.Warnings, r.out.masker.String(p.Error()))
	}
	if partial {
		r.out.say("%s: %s valid, nothing written", env, natural.Count(len(res.Nodes), "node"))
		return report, nil
	}
	return r.write(c, repo, res, report)
}

// renderedBy renders an environment: anew, or what changed in it; nil if nothing did.
func renderedBy(c *cli.Context, repo *render.Repo, env string, o render.Options, anew bool) (*render.Result, error) {
	if anew {
		return repo.Render(c.Context, env, o)
	}
	return repo.Renew(c.Context, env)
}

// write writes what was rendered.
func (r renderCommand) write(c *cli.Context, repo *render.Repo, res *render.Result, report *renderReport) (*renderReport, error) {
	env := report.Env
	for _, source := range res.Encrypted {
		if source.Action == render.Added {
			report.NewEncrypted = append(report.NewEncrypted, source.File)
			r.out.say("new encrypted source: %s\n  anyone with the public keys can write one; review it with `sops -d %s`", source.File, source.File)
		}
	}
	if err := c.Context.Err(); err != nil {
		return nil, err
	}
	summary, err := repo.Write(res)
	if err != nil {
		return nil, err
	}
	report.Added, report.Changed, report.Removed = summary.Added, summary.Changed, summary.Removed
	report.UpToDate = !summary.Written
	r.out.say("rendered/%s: %s, %s", env, natural.Count(len(res.Nodes), "node"), whatChanged(summary))
	return r.hook(c, repo, report)
}

// whatChanged sums a write up. The lock names the inputs too, so it may be all
// that changes.
func whatChanged(s render.Summary) string {
	if s.Written && len(s.Added)+len(s.Changed)+len(s.Removed) == 0 {
		return "only the lock changed"
	}
	return fmt.Sprintf("%d added, %d changed, %d removed", len(s.Added), len(s.Changed), len(s.Removed))
}
