package addons

import (
	"encoding/json"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/rotation"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/sshkey"
	"github.com/talosgen/talosgen/render/internal/gitops"
	"github.com/talosgen/talosgen/render/internal/placeholder"
	"github.com/talosgen/talosgen/render/internal/secretsfile"
	"github.com/talosgen/talosgen/schemas"
)

// gitTokenVariable is the secret variable with the token for the Git server.
const gitTokenVariable = "GIT_TOKEN"

// ociTokenVariable is the secret variable with the token for the registry.
const ociTokenVariable = "OCI_TOKEN"

// dockerConfigKey is the key of a Secret with logins of registries.
const dockerConfigKey = ".dockerconfigjson"

// gitops are the settings of what runs the addons from Git.
func (in Input) gitops() (s gitops.Settings, err error) {
	s = gitops.Settings{GitOps: in.Model.Config.GitOps, AgeKey: placeholder.Text}
	switch s.Engine {
	case schemas.ArgoCD:
		return s, in.argoCredentials(&s)
	case schemas.NoEngine:
		return s, nil
	}
	var problems diag.List
	if in.Secrets != nil {
		s.AgeKey = in.Secrets.ClusterAgeKey.Reveal()
		if r := in.Secrets.Rotation; r != nil && r.Kind == rotation.AgeKey {
			s.OtherAgeKey = r.Other.Key.Reveal()
		}
		if s.AgeKey == "" {
			problems.Add(diag.New(diag.Pos{File: in.Model.Path(secretsfile.Name)}, "has no age key of the cluster (%s:)", secretsfile.KeyClusterAgeKey).
				WithHint("make one with `talosgen secrets sync %s`", in.Model.Env).WithCode(diag.Secrets))
		}
	}
	if s.OCI.URL != "" {
		s.Credentials, err = in.registryLogin()
		problems.AddErr(err)
		return s, problems.Err()
	}
	switch s.Auth {
	case schemas.DeployKey:
		hosts, problem := in.knownHosts()
		problems.Add(problem)
		key, err := in.deployKey()
		problems.AddErr(err)
		s.Credentials = map[string]string{"identity": key.private.Reveal(), "identity.pub": key.public + "\n", "known_hosts": hosts}
	case schemas.Token:
		s.Credentials, err = in.tokenLogin()
		problems.AddErr(err)
	}
	return s, problems.Err()
}

// argoCredentials are those of Argo CD: it has its known hosts for itself, and no key of
// the cluster, for apply keeps what is encrypted.
func (in Input) argoCredentials(s *gitops.Settings) (err error) {
	var problems diag.List
	switch s.Auth {
	case schemas.DeployKey:
		if s.GitOps.Components == schemas.Managed {
			hosts, problem := in.knownHosts()
			problems.Add(problem)
			s.Hosts = hosts
		}
		key, err := in.deployKey()
		problems.AddErr(err)
		s.Credentials = map[string]string{"sshPrivateKey": key.private.Reveal()}
	case schemas.Token:
		s.Credentials, err = in.tokenLogin()
		problems.AddErr(err)
	}
	return problems.Err()
}

// knownHosts are the public keys of the Git server.
func (in Input) knownHosts() (string, *diag.Problem) {
	g := in.Model.Config.GitOps
	hosts, problem := gitops.KnownHosts(g.Repository, g.KnownHosts)
	if problem != nil {
		problem.Pos = in.Model.Config.Near("gitops.repository")
	}
	return hosts, problem
}

// tokenLogin is what the engine shows the Git server that wants a token.
func (in Input) tokenLogin() (map[string]string, error) {
	g := in.Model.Config.GitOps
	token, ok := in.Variables[gitTokenVariable]
	if !ok {
		return nil, diag.New(in.Model.Config.Near("gitops.auth"), "needs the secret variable %s: a token that may read the repository", gitTokenVariable).
			WithHint("`talosgen secrets edit %s` adds it under variables:", in.Model.Env).WithCode(diag.Secrets)
	}
	return map[string]string{"username": g.User, "password": token.Value}, nil
}

// registryLogin is what Flux shows the registry with its artifact, as the data of a
// Secret; nil if everyone may read there.
func (in Input) registryLogin() (map[string]string, error) {
	oci := in.Model.Config.GitOps.OCI
	if oci.User == "" {
		return nil, nil
	}
	token, ok := in.Variables[ociTokenVariable]
	if !ok {
		return nil, diag.New(in.Model.Config.Near("gitops.oci.user"), "needs the secret variable %s: a token that may read %s", ociTokenVariable, oci.URL).
			WithHint("`talosgen secrets edit %s` adds it under variables:", in.Model.Env).WithCode(diag.Secrets)
	}
	host, _, _ := strings.Cut(strings.TrimPrefix(oci.URL, "oci://"), "/")
	text, err := json.Marshal(map[string]any{"auths": map[string]any{host: map[string]string{"username": oci.User, "password": token.Value}}})
	return map[string]string{dockerConfigKey: string(text)}, err
}

// sshKeyPair is an SSH key: private as a file, public as a line.
type sshKeyPair struct {
	private secret.String
	public  string
}

// deployKey is what Flux reads the repository with.
func (in Input) deployKey() (sshKeyPair, error) {
	if in.Secrets == nil {
		return sshKeyPair{secret.New(placeholder.Text), placeholder.SSHKey}, nil
	}
	file := diag.Pos{File: in.Model.Path(secretsfile.Name)}
	private := in.Secrets.DeployKey
	if private.IsZero() {
		return sshKeyPair{}, diag.New(file, "has no deploy key (%s:) for %s", secretsfile.KeyDeployKey, in.Model.Config.GitOps.Repository).
			WithHint("`talosgen secrets sync %s` makes one, and prints the public half for the Git server", in.Model.Env).WithCode(diag.Secrets)
	}
	public, err := sshkey.Public(private)
	if err != nil {
		return sshKeyPair{}, diag.New(file, "%s %v", secretsfile.KeyDeployKey, err).
			WithHint("take it out with `talosgen secrets edit %s`; `talosgen secrets sync %s` makes another", in.Model.Env, in.Model.Env).WithCode(diag.Secrets)
	}
	return sshKeyPair{private, public}, nil
}
