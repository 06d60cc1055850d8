package vault

import (
	"fmt"
	"maps"
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
func (f *filler) generateForAddons() error {
	cfg, known, lacking, err := f.readCluster()
	if err != nil {
		return err
	}
	if cfg == nil {
		f.report.Notes = append(f.report.Notes, "what addons need was not looked at, because "+f.File(source.ClusterFile)+" has problems: `talosgen render "+f.Name+"` names them; then run this again")
		return nil
	}
	if f.given.Variables == nil {
		f.given.Variables = map[string]secret.String{}
	}
	for _, need := range catalogue.Needs(catalogue.Facts{Environment: f.Name, Cluster: cfg.Cluster, Near: cfg.Near}) {
		if known[need.Name] {
			if f.offersOther(need.Name, f.have.Variables[need.Name]) {
				f.report.Notes = append(f.report.Notes, fmt.Sprintf("variables.%s stays as it is, and is not what %s is in your environment; `talosgen secrets edit %s` changes it", need.Name, need.Name, f.Name))
			}
			continue
		}
		if f.given.Variables[need.Name] = f.offered(need.Name); !f.given.Variables[need.Name].IsZero() {
			continue
		}
		delete(f.given.Variables, need.Name)
		if slices.ContainsFunc(lacking, func(l config.Lacking) bool { return l.Variable == need.Name }) {
			continue
		}
		if need.Generate == nil {
			f.report.Missing = append(f.report.Missing, need.Name)
			f.report.Notes = append(f.report.Notes, fmt.Sprintf("addon %s needs the secret variable %s: %s; set it in your environment and run `talosgen secrets sync %s`, or add it under variables: with `talosgen secrets edit %s`", need.Addon, need.Name, need.What, f.Name, f.Name))
			continue
		}
		if f.given.Variables[need.Name], err = need.Generate(f.Repo.Process.Random); err != nil {
			return err
		}
	}
	f.giveLacking(lacking)
	note, err := f.generateDeployKey(cfg.GitOps)
	if note != "" {
		f.report.Notes = append(f.report.Notes, note)
	}
	return err
}

// giveLacking takes the variables that options of cluster.yaml name, and that
// are not defined, from the environment.
func (f *filler) giveLacking(lacking []config.Lacking) {
	for _, l := range lacking {
		if s := f.offered(l.Variable); !s.IsZero() {
			f.given.Variables[l.Variable] = s
			continue
		}
		f.report.Notes = append(f.report.Notes, fmt.Sprintf("%s of %s names a variable that is not defined: set it in your environment and run `talosgen secrets sync %s`, or add it under variables: with `talosgen secrets edit %s`", l.Option, f.File(source.ClusterFile), f.Name, f.Name))
	}
}

// offered is a secret that is set in the environment; empty if there is none.
func (f *filler) offered(name string) secret.String {
	if f.Repo.Process.Given == nil {
		return secret.String{}
	}
	s := f.Repo.Process.Given(name)
	f.Mask(s)
	return s
}

// offersOther reports whether the environment of the process has another value
// than the one that is kept, such as a token that replaces a wrong one.
func (f *filler) offersOther(name string, kept secret.String) bool {
	given := f.offered(name)
	return !given.IsZero() && !kept.IsZero() && given.Reveal() != kept.Reveal()
}

// generateDeployKey makes the key that the engine reads the repository with, if it
// takes one, and notes its public half.
func (f *filler) generateDeployKey(g schemas.GitOps) (note string, err error) {
	if g.Engine == schemas.NoEngine || g.Auth != schemas.DeployKey {
		return "", nil
	}
	if f.have.DeployKey.IsZero() {
		if f.given.DeployKey, err = sshkey.New(f.Repo.Process.Random); err != nil {
			return "", err
		}
	}
	public, err := sshkey.Public(f.have.DeployKey.Or(f.given.DeployKey))
	if err != nil {
		return "", fmt.Errorf("%s: %s %w", f.File(source.SecretsName), secretsfile.KeyDeployKey, err)
	}
	return "let this key read " + g.Repository + " (a deploy key without write access):\n" + public, nil
}

// readCluster reads cluster.yaml, and the names of the secret variables that
// there are, and which options name variables that there are none of. What else is
// wrong with the file is for a render to say: then there is no configuration.
func (f *filler) readCluster() (*config.Config, map[string]bool, []config.Lacking, error) {
	s := &source.Secrets{Variables: subst.Vars{}}
	if err := f.ReadSecretEnv(f.ctx, s); err != nil {
		return nil, nil, nil, err
	}
	have := maps.Clone(f.given.Variables)
	if have == nil {
		have = map[string]secret.String{}
	}
	maps.Copy(have, f.have.Variables)
	for name, value := range have {
		s.Variables[name] = subst.Var{Value: value.Reveal(), Secret: true}
	}
	known := map[string]bool{}
	for name, v := range s.Variables {
		known[name] = v.Value != ""
	}
	vars, err := f.Variables(s)
	if err != nil {
		return nil, known, nil, nil
	}
	file := f.File(source.ClusterFile)
	cfg, lacking, err := config.LoadLacking(file, f.Raw, &subst.Scope{Vars: vars})
	if err != nil {
		return nil, known, nil, nil
	}
	for _, need := range catalogue.Needs(catalogue.Facts{Environment: f.Name, Cluster: cfg.Cluster, Near: cfg.Near}) {
		known[need.Name] = known[need.Name] || need.Readable && vars[need.Name].Value != ""
	}
	return cfg, known, lacking, nil
}
