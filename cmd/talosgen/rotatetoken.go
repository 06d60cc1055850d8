package main

import (
	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/rotation"
	"github.com/talosgen/talosgen/render/vault"
)

// rotateToken replaces a token, of which there is one at a time.
type rotateToken struct {
	rotateCommand
	kind rotation.Kind
}

func (r rotateToken) run(c *cli.Context, env string) error {
	if c.Bool(flagAbort) {
		return diag.On("--"+flagAbort, "%s has no phases to go back to", r.kind).
			WithHint("git restore takes secrets.sops.yaml back").WithCode(diag.Usage)
	}
	if c.Bool(flagStatus) {
		r.out.say("%s: it is replaced at once, without phases", r.kind)
		return nil
	}
	repo, err := r.ws.open(c)
	if err != nil {
		return err
	}
	defer repo.Close()
	report, before, err := vault.ReplaceToken(c.Context, confirmedKeys(c, repo), env, r.kind)
	if err != nil {
		return err
	}
	printSecrets(r.out, report)
	r.out.say("%s: there is another one", r.kind)
	if r.kind == rotation.MachineToken {
		r.out.say("next: render, commit and apply, to all nodes in one run: a worker that is missed gets no certificate any more once its own has ended, within a day")
		return nil
	}
	r.out.say("next: render, commit and apply; then delete the old one: kubectl -n kube-system delete secret bootstrap-token-%s", before)
	return nil
}
