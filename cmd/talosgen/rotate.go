package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/rotation"
	"github.com/talosgen/talosgen/render"
	"github.com/talosgen/talosgen/render/vault"
)

// rotateCommand replaces an authority of a living cluster, phase by phase.
type rotateCommand struct {
	ws  workspace
	out *console
}

const (
	flagAbort  = "abort"
	flagStatus = "status"
)

func (r rotateCommand) command() *cli.Command {
	return &cli.Command{
		Name: "rotate", Usage: "replace the certificate authority of the Talos API, phase by phase", ArgsUsage: "<env> talos-ca",
		Description: `Takes the rotation one phase on, in secrets.sops.yaml alone. Render, commit and
apply after each: apply refuses a phase for which a node is not ready. First
nodes learn to trust a new authority, then it signs their certificates, and last
they forget the old one. Up to the last phase --abort goes one back.

Examples:
   talosgen rotate dev talos-ca
   talosgen rotate dev talos-ca --status
   talosgen rotate dev talos-ca --abort`,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: flagAbort, Usage: "go one phase back"},
			&cli.BoolFlag{Name: flagStatus, Usage: "print the phase and what comes next, and change nothing"},
			newKeysFlag(),
		},
		Action: r.run,
	}
}

// byHand says how to replace what has no phases here.
var byHand = map[string]string{
	"kubernetes-ca":   "talosctl rotate-ca --talos=false does it; take the new authority over with `talosgen secrets import`",
	"service-account": "Talos has one key up to 1.13: pods lose their tokens when it is replaced",
	"etcd-ca":         "Talos cannot do it while etcd runs: make a new cluster, and recover a snapshot of etcd in it",
	"aggregator-ca":   "Talos cannot do it without a short downtime of the aggregated APIs: replace it in all control planes at once",
	"operators":       "`talosgen secrets rekey` encrypts for other recipients",
}

func (r rotateCommand) run(c *cli.Context) error {
	env, err := r.ws.environment(c, "<what>")
	if err != nil {
		return err
	}
	if what := c.Args().Get(1); what != vault.TalosCA {
		p := diag.On("rotate", "%q is not rotated by talosgen", what).WithCode(diag.Usage)
		if hint := byHand[what]; hint != "" {
			return p.WithHint("%s", hint)
		}
		return p.WithHint("it rotates %s", vault.TalosCA)
	}
	if c.Bool(flagAbort) && c.Bool(flagStatus) {
		return diag.On("--abort", "cannot be used with --status").WithCode(diag.Usage)
	}
	repo, err := r.ws.open(c)
	if err != nil {
		return err
	}
	defer repo.Close()
	phase, since, err := vault.Rotating(c.Context, repo, env)
	if err != nil {
		return err
	}
	if c.Bool(flagStatus) {
		r.say(env, phase, since)
		return nil
	}
	if phase != rotation.None && !c.Bool(flagAbort) {
		if err := r.committed(c, repo, env, phase); err != nil {
			return err
		}
	}
	report, now, err := vault.Rotate(c.Context, confirmedKeys(c, repo), env, c.Bool(flagAbort))
	if err != nil {
		return err
	}
	printSecrets(r.out, report)
	r.say(env, now, "")
	return nil
}

// committed refuses to leave a phase that is not in Git: it was not applied either.
func (r rotateCommand) committed(c *cli.Context, repo *render.Repo, env string, phase vault.Phase) error {
	file := path.Join("envs", env, "secrets.sops.yaml")
	have, err := os.ReadFile(filepath.Join(repo.Root(), filepath.FromSlash(file)))
	if err != nil {
		return unreadable(file, err)
	}
	last, err := committedFile(c.Context, repo.Root(), file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err != nil || !bytes.Equal(have, last) {
		return diag.New(diag.Pos{File: file}, "is not committed: the phase %s cannot have been applied", phase).
			WithHint("render, commit and apply it first; --%s goes back", flagAbort).WithCode(diag.Conflict)
	}
	return nil
}

// say prints where the rotation stands, and what comes next.
func (r rotateCommand) say(env string, now vault.Phase, since string) {
	if since != "" {
		since = ", begun on " + since
	}
	switch now {
	case rotation.Accept:
		r.out.say("%s, phase 1 of 3%s: nodes learn to trust a new authority, and the old one signs", vault.TalosCA, since)
		r.out.say("next: render, commit and apply; when all nodes have it, `talosgen rotate %s %s` again", env, vault.TalosCA)
	case rotation.Issue:
		r.out.say("%s, phase 2 of 3%s: the new authority signs, and nodes trust the old one still", vault.TalosCA, since)
		r.out.say("next: render, commit and apply; when all nodes have it, `talosgen rotate %s %s` again, after which there is no way back", env, vault.TalosCA)
	default:
		r.out.say("%s: no rotation is under way in secrets.sops.yaml; what was changed is done when it is rendered, committed and applied", vault.TalosCA)
	}
}
