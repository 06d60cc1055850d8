package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/rotation"
	"github.com/talosgen/talosgen/render"
	"github.com/talosgen/talosgen/render/vault"
)

// rotateCommand replaces an authority or a key of a living cluster, phase by phase.
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
		Name: "rotate", Usage: "replace an authority or a key of a cluster that runs, phase by phase", ArgsUsage: "<env> <what>",
		Description: `Takes a rotation one phase on, in secrets.sops.yaml alone. Render, commit and
apply after each: apply refuses a phase for which a node is not ready. First
nodes learn to trust a new authority, then it signs, and last they forget the old
one. Up to the last phase --abort goes one back. One rotation after the other.

It rotates:
   talos-ca          the authority of the Talos API
   kubernetes-ca     the authority of the Kubernetes API
   service-account   the key that signs tokens of pods (configContract 1.14)
   encryption-key    the key that Secrets in etcd are encrypted with (1.14)
   age-key           the key that Flux decrypts Secrets with
And at once, without phases:
   machine-token     what workers get certificates of their Talos API with
   bootstrap-token   what new nodes join Kubernetes with

Examples:
   talosgen rotate dev talos-ca
   talosgen rotate dev kubernetes-ca --status
   talosgen rotate dev kubernetes-ca --abort`,
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
	"etcd-ca":       "Talos cannot do it while etcd runs: make a new cluster, and recover a snapshot of etcd in it",
	"aggregator-ca": "Talos cannot do it without a short downtime of the aggregated APIs: replace it in all control planes at once",
	"operators":     "`talosgen secrets rekey` encrypts for other recipients",
}

func (r rotateCommand) run(c *cli.Context) error {
	env, err := r.ws.environment(c, "<what>")
	if err != nil {
		return err
	}
	kind := rotation.Kind(c.Args().Get(1))
	if err := rotatable(kind); err != nil {
		return err
	}
	if kind.IsToken() {
		return rotateToken{r, kind}.run(c, env)
	}
	if c.Bool(flagAbort) && c.Bool(flagStatus) {
		return diag.On("--abort", "cannot be used with --status").WithCode(diag.Usage)
	}
	repo, err := r.ws.open(c)
	if err != nil {
		return err
	}
	defer repo.Close()
	at, err := vault.Rotating(c.Context, repo, env)
	if err != nil {
		return err
	}
	if c.Bool(flagStatus) {
		if at.Kind == "" {
			at.Kind = kind
		}
		r.say(env, at)
		return nil
	}
	if at.Phase != rotation.None && !c.Bool(flagAbort) {
		if err := r.committed(c, repo, env, at.Phase); err != nil {
			return err
		}
	}
	report, now, err := vault.Rotate(c.Context, confirmedKeys(c, repo), env, kind, c.Bool(flagAbort))
	if err != nil {
		return err
	}
	printSecrets(r.out, report)
	if now == rotation.None {
		r.sayEnd(kind, c.Bool(flagAbort))
		return nil
	}
	r.say(env, vault.Standing{Kind: kind, Phase: now})
	return nil
}

// rotatable refuses what has no phases here.
func rotatable(kind rotation.Kind) error {
	if kind.Known() || kind.IsToken() {
		return nil
	}
	p := diag.On("rotate", "%q is not rotated by talosgen", kind).WithCode(diag.Usage)
	if hint := byHand[string(kind)]; hint != "" {
		return p.WithHint("%s", hint)
	}
	var names []string
	for _, k := range append(rotation.Kinds(), rotation.Tokens()...) {
		names = append(names, string(k))
	}
	return p.WithHint("it rotates %s", strings.Join(names, ", "))
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
func (r rotateCommand) say(env string, at vault.Standing) {
	since := ""
	if at.Since != "" {
		since = ", begun on " + at.Since
	}
	again := fmt.Sprintf("`talosgen rotate %s %s` again", env, at.Kind)
	there := "when all nodes have it"
	if at.Kind == rotation.AgeKey {
		there = "when the cluster has it"
	}
	words := phaseWords(at.Kind)
	switch at.Phase {
	case rotation.Accept:
		r.out.say("%s, phase 1 of 3%s: %s", at.Kind, since, words[0])
		r.out.say("next: render, commit and apply; %s, %s", there, again)
	case rotation.Issue:
		r.out.say("%s, phase 2 of 3%s: %s", at.Kind, since, words[1])
		r.out.say("next: render, commit and apply; %s, %s%s, after which there is no way back", there, words[2], again)
	default:
		r.out.say("%s: no rotation is under way in secrets.sops.yaml; what was changed is done when it is rendered, committed and applied", at.Kind)
	}
}

// sayEnd prints what a rotation came to that secrets.sops.yaml has no more.
func (r rotateCommand) sayEnd(kind rotation.Kind, aborted bool) {
	if aborted {
		r.out.say("%s: the rotation is taken back", kind)
		r.out.say("next: render and commit; apply too, if a phase of it was applied")
		return
	}
	r.out.say("%s, phase 3 of 3: %s", kind, phaseWords(kind)[3])
	r.out.say("next: render, commit and apply, after which the rotation is done")
}

// phaseWords say of a kind what happens in the first two phases, what has to happen
// before the third, and what happens in that.
func phaseWords(kind rotation.Kind) [4]string {
	switch kind {
	case rotation.KubernetesCA:
		return [4]string{"nodes learn to trust a new authority, and the old one signs",
			"the new authority signs, and nodes trust the old one still",
			"and pods that use the Kubernetes API were restarted, ",
			"the new authority signs, and nodes trust no other"}
	case rotation.EncryptionKey:
		return [4]string{"API servers learn to read with a new key, and the old one encrypts Secrets",
			"the new key encrypts Secrets, and those of the old one are read still",
			"",
			"the new key encrypts all Secrets, and API servers have no other"}
	case rotation.AgeKey:
		return [4]string{"the cluster gets a second key, and Secrets are encrypted for the old one",
			"Secrets are encrypted for the new key, and the cluster has the old one still",
			"and Flux has applied that commit (talosgen status), ",
			"the cluster has the new key alone"}
	case rotation.ServiceAccount:
		return [4]string{"API servers learn to trust a new key, and the old one signs tokens",
			"the new key signs tokens, and those of the old one are good still",
			"and two full days have gone by, ",
			"the new key signs tokens, and those of the old one are refused"}
	}
	return [4]string{"nodes learn to trust a new authority, and the old one signs",
		"the new authority signs, and nodes trust the old one still", "",
		"the new authority signs, and nodes trust no other"}
}
