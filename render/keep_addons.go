package render

import (
	"fmt"
	"slices"

	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/sshkey"
	"github.com/talosgen/talosgen/render/internal/catalogue"
	"github.com/talosgen/talosgen/render/internal/config"
	"github.com/talosgen/talosgen/render/internal/secretsfile"
	"github.com/talosgen/talosgen/render/internal/source"
	"github.com/talosgen/talosgen/render/internal/subst"
	"github.com/talosgen/talosgen/schemas"
)

// generateForAddons makes what cluster.yaml asks for: the secrets of addons that
// can be made up or are in the environment, and the key that Flux reads the
// repository with. The report says what people have to do.
func (k *keeper) generateForAddons(given, have *secretsfile.Secrets, report *SecretsReport) error {
	cfg, known, lacking, err := k.readCluster(have)
	if err != nil {
		return err
	}
	if cfg == nil {
		report.Notes = append(report.Notes, "what addons need was not looked at, because "+k.File(source.ClusterFile)+" has problems: `talosgen render "+k.Name+"` names them; then run this again")
		return nil
	}
	given.Variables = map[string]secret.String{}
	for _, need := range catalogue.Needs(catalogue.Facts{Environment: k.Name, Cluster: cfg.Cluster, Near: cfg.Near}) {
		if known[need.Name] {
			if k.givenOther(need.Name, have.Variables[need.Name]) {
				report.Notes = append(report.Notes, fmt.Sprintf("variables.%s stays as it is, and is not what %s is in your environment; `talosgen secrets edit %s` changes it", need.Name, need.Name, k.Name))
			}
			continue
		}
		if given.Variables[need.Name] = k.given(need.Name); !given.Variables[need.Name].IsZero() {
			continue
		}
		delete(given.Variables, need.Name)
		if slices.ContainsFunc(lacking, func(l config.Lacking) bool { return l.Variable == need.Name }) {
			continue
		}
		if need.Generate == nil {
			report.Missing = append(report.Missing, need.Name)
			report.Notes = append(report.Notes, fmt.Sprintf("addon %s needs the secret variable %s: %s; set it in your environment and run `talosgen secrets sync %s`, or add it under variables: with `talosgen secrets edit %s`", need.Addon, need.Name, need.What, k.Name, k.Name))
			continue
		}
		if given.Variables[need.Name], err = need.Generate(k.Repo.World.Random); err != nil {
			return err
		}
	}
	k.giveLacking(lacking, given, report)
	note, err := k.generateDeployKey(cfg.GitOps, given, have)
	if note != "" {
		report.Notes = append(report.Notes, note)
	}
	return err
}

// giveLacking takes the variables that options of cluster.yaml name, and that
// are not defined, from the environment.
func (k *keeper) giveLacking(lacking []config.Lacking, given *secretsfile.Secrets, report *SecretsReport) {
	for _, l := range lacking {
		if s := k.given(l.Variable); !s.IsZero() {
			given.Variables[l.Variable] = s
			continue
		}
		report.Notes = append(report.Notes, fmt.Sprintf("%s of %s names a variable that is not defined: set it in your environment and run `talosgen secrets sync %s`, or add it under variables: with `talosgen secrets edit %s`", l.Option, k.File(source.ClusterFile), k.Name, k.Name))
	}
}

// given is a secret that is set in the environment; empty if there is none.
func (k *keeper) given(name string) secret.String {
	if k.Repo.World.Given == nil {
		return secret.String{}
	}
	s := k.Repo.World.Given(name)
	k.Mask(s)
	return s
}

// givenOther reports whether the environment of the process has another value
// than the one that is kept, such as a token that replaces a wrong one.
func (k *keeper) givenOther(name string, kept secret.String) bool {
	given := k.given(name)
	return !given.IsZero() && !kept.IsZero() && given.Reveal() != kept.Reveal()
}

// generateDeployKey makes the key that Flux reads the repository with, if it
// takes one, and notes its public half.
func (k *keeper) generateDeployKey(g schemas.GitOps, given, have *secretsfile.Secrets) (note string, err error) {
	if g.Engine != schemas.Flux || g.Auth != schemas.DeployKey {
		return "", nil
	}
	if have.DeployKey.IsZero() {
		if given.DeployKey, err = sshkey.New(k.Repo.World.Random); err != nil {
			return "", err
		}
	}
	public, err := sshkey.Public(first(have.DeployKey, given.DeployKey))
	if err != nil {
		return "", fmt.Errorf("%s: %s %w", k.File(source.SecretsName), secretsfile.KeyDeployKey, err)
	}
	return "let this key read " + g.Repository + " (a deploy key without write access):\n" + public, nil
}

// readCluster reads cluster.yaml, and the names of the secret variables that
// there are, and which options name variables that there are none of. What else is
// wrong with the file is for a render to say: then there is no configuration.
func (k *keeper) readCluster(have *secretsfile.Secrets) (*config.Config, map[string]bool, []config.Lacking, error) {
	s := &source.Secrets{Variables: subst.Vars{}}
	if err := k.ReadSecretEnv(k.ctx, s); err != nil {
		return nil, nil, nil, err
	}
	for name, value := range have.Variables {
		s.Variables[name] = subst.Var{Value: value.Reveal(), Secret: true}
	}
	known := map[string]bool{}
	for name, v := range s.Variables {
		known[name] = v.Value != ""
	}
	vars, err := k.Variables(s)
	if err != nil {
		return nil, known, nil, nil
	}
	file := k.File(source.ClusterFile)
	cfg, lacking, err := config.LoadLacking(file, k.Raw[file], &subst.Scope{Vars: vars})
	if err != nil {
		return nil, known, nil, nil
	}
	for _, need := range catalogue.Needs(catalogue.Facts{Environment: k.Name, Cluster: cfg.Cluster, Near: cfg.Near}) {
		known[need.Name] = known[need.Name] || need.Readable && vars[need.Name].Value != ""
	}
	return cfg, known, lacking, nil
}
