package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/natural"
	"github.com/talosgen/talosgen/render"
	"github.com/talosgen/talosgen/render/check"
)

const (
	flagTerraformPlan     = "terraform-plan"
	flagKubernetesVersion = "kubernetes-version"
	flagOwners            = "owners"
)

// checkCommand checks the objects of a tree before anything is applied.
type checkCommand struct {
	cwd func() (string, error)
	ws  workspace
	out *console
}

func (k checkCommand) command() *cli.Command {
	return &cli.Command{
		Name:      "check",
		Usage:     "validate all Kubernetes objects of a tree",
		ArgsUsage: "<env|dir>",
		Description: `Validates every object of rendered/<env>, or of any directory of manifests:

 - Schemas: unknown fields, wrong types, API versions that this Kubernetes
   does not have; custom resources against the definitions in the tree.
 - References: paths and dependencies of Flux, Secrets, ConfigMaps, service
   accounts, roles, classes, namespaces.
 - Owners: Talos, talosgen, each Kustomization and HelmRelease of Flux or
   Application of Argo CD, and, with --terraform-plan, Terraform. Two owners
   of one object revert each other's changes.

What check.ignore in cluster.yaml names is listed, and is no problem; what
addons.<name>.makes names is not missed.

Needs no key and no cluster. Exits 1 if it finds a problem.

Examples:
   talosgen check prod
   talosgen check prod --owners
   talosgen check clusters/production
   terraform show -json plan.bin > plan.json
   talosgen check prod --terraform-plan plan.json -o json`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: flagTerraformPlan, Usage: "plan of Terraform or OpenTofu as JSON in `FILE`"},
			&cli.StringFlag{Name: flagKubernetesVersion, Usage: "Kubernetes `VERSION`; default: that of the control plane in the tree"},
			&cli.BoolFlag{Name: flagOwners, Usage: "list every object with its owner"},
			outputFlag(),
		},
		Action: k.run,
	}
}

func (k checkCommand) run(c *cli.Context) error {
	name, err := k.ws.environment(c)
	if err != nil {
		return err
	}
	o := check.Options{Kubernetes: c.String(flagKubernetesVersion), TerraformFile: c.String(flagTerraformPlan)}
	if o.TerraformFile != "" {
		if o.TerraformPlan, err = os.ReadFile(o.TerraformFile); err != nil {
			return unreadable(o.TerraformFile, err)
		}
	}
	report, err := k.check(c, name, o)
	if err != nil {
		return err
	}
	return k.print(c, report)
}

// check checks an environment by its name, or else a directory.
func (k checkCommand) check(c *cli.Context, name string, o check.Options) (*check.Report, error) {
	cwd, err := k.cwd()
	if err != nil {
		return nil, err
	}
	dir := name
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(cwd, dir)
	}
	info, statErr := os.Stat(dir)
	repo, err := k.ws.open(c)
	if err != nil {
		if statErr == nil && info.IsDir() {
			return checkDirectory(repositoryOf(dir), dir, o)
		}
		return nil, err
	}
	defer repo.Close()
	report, err := check.Tree(repo, name, o)
	if err == nil || statErr != nil || !info.IsDir() {
		return report, err
	}
	return checkDirectory(repositoryOf(dir), dir, o)
}

func checkDirectory(root, dir string, o check.Options) (*check.Report, error) {
	below, err := filepath.Rel(root, dir)
	if err != nil {
		return nil, unreadable(dir, err)
	}
	return check.Directory(os.DirFS(root), filepath.ToSlash(below), o)
}

// repositoryOf is the repository that a directory is in: its work tree of Git,
// or that of talosgen; or else the directory itself.
func repositoryOf(dir string) string {
	if top, in := workTree(dir); in {
		return top
	}
	if root, err := render.FindRoot(dir); err == nil {
		return root
	}
	return dir
}

func (k checkCommand) print(c *cli.Context, r *check.Report) error {
	if forPrograms(c) {
		if err := k.out.printValue(c, reportOf(r)); err != nil {
			return err
		}
	} else if err := k.printText(c, r); err != nil {
		return err
	}
	if len(r.Problems) > 0 || len(r.Conflicts) > 0 {
		return errDifferences
	}
	return nil
}

func (k checkCommand) printText(c *cli.Context, r *check.Report) error {
	for _, note := range r.Notes {
		k.out.note("%s", note)
	}
	if c.Bool(flagOwners) {
		if err := k.out.printText(check.OwnersText(r.Claims)); err != nil {
			return err
		}
	}
	var problems diag.List
	errors.As(r.Problems.Err(), &problems)
	for _, line := range problemLines(problems) {
		if err := k.out.printText(line + "\n"); err != nil {
			return err
		}
	}
	for _, ignored := range r.Ignored {
		if err := k.out.printText("ignored: " + ignored.Problem.Error() + "\n  " + ignored.Reason + "\n"); err != nil {
			return err
		}
	}
	if len(r.Conflicts) > 0 {
		if err := k.out.printText("\nTwo owners:\n" + check.ConflictsText(r.Conflicts)); err != nil {
			return err
		}
	}
	summary := fmt.Sprintf("%s for Kubernetes %s: ", natural.Count(r.Objects, "object"), r.Kubernetes)
	ignored := ""
	if n := len(r.Ignored); n > 0 {
		ignored = fmt.Sprintf(", %d ignored", n)
	}
	if len(problems)+len(r.Conflicts) == 0 {
		k.out.say("%sno problems%s", summary, ignored)
		return nil
	}
	k.out.say("%s%s, %s%s", summary, natural.Count(len(problems), "problem"), natural.Count(len(r.Conflicts), "owner conflict"), ignored)
	return nil
}

// treeReport is a report for programs.
type treeReport struct {
	Kubernetes string              `json:"kubernetes"`
	Objects    int                 `json:"objects"`
	Problems   []treeProblem       `json:"problems"`
	Conflicts  []treeConflict      `json:"conflicts"`
	Ignored    []treeIgnored       `json:"ignored"`
	Owners     map[string][]string `json:"owners"`
	Notes      []string            `json:"notes"`
}

type treeProblem struct {
	Place string `json:"place"`
	Text  string `json:"text"`
	Hint  string `json:"hint,omitempty"`
}

type treeIgnored struct {
	Place  string `json:"place"`
	Text   string `json:"text"`
	Reason string `json:"reason"`
}

type treeConflict struct {
	Thing  string      `json:"thing"`
	Claims []treeClaim `json:"claims"`
}

type treeClaim struct {
	Owner  string `json:"owner"`
	Player string `json:"player,omitempty"`
	Place  string `json:"place"`
}

func reportOf(r *check.Report) treeReport {
	report := treeReport{
		Kubernetes: r.Kubernetes, Objects: r.Objects, Problems: []treeProblem{}, Conflicts: []treeConflict{}, Ignored: []treeIgnored{},
		Owners: map[string][]string{}, Notes: append([]string{}, r.Notes...),
	}
	var problems diag.List
	errors.As(r.Problems.Err(), &problems)
	for _, p := range problems {
		report.Problems = append(report.Problems, treeProblem{Place: p.Pos.String(), Text: p.Message, Hint: p.Hint})
	}
	for _, ignored := range r.Ignored {
		p := ignored.Problem
		report.Ignored = append(report.Ignored, treeIgnored{p.Pos.String(), p.Message, ignored.Reason})
	}
	for _, conflict := range r.Conflicts {
		t := treeConflict{Thing: conflict.Thing.String()}
		for _, claim := range conflict.Claims {
			t.Claims = append(t.Claims, treeClaim{claim.Owner.String(), claim.Player, claim.Pos.String()})
		}
		report.Conflicts = append(report.Conflicts, t)
	}
	for thing, owners := range check.Owners(r.Claims) {
		report.Owners[thing] = owners
	}
	return report
}
