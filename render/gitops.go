package render

import (
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/sshkey"
	"github.com/talosgen/talosgen/render/internal/gitops"
	"github.com/talosgen/talosgen/render/internal/placeholder"
	"github.com/talosgen/talosgen/render/internal/secretsfile"
	"github.com/talosgen/talosgen/render/internal/source"
	"github.com/talosgen/talosgen/schemas"
)

// gitTokenVariable is the secret variable with the token for the Git server.
const gitTokenVariable = "GIT_TOKEN"

// gitops are the settings of what runs the addons from Git.
func (c *compiler) gitops() (gitops.Settings, error) {
	s := gitops.Settings{GitOps: c.Config.GitOps, AgeKey: placeholder.Text}
	if s.Engine != schemas.Flux {
		return s, nil
	}
	var problems diag.List
	if c.secrets.File != nil {
		s.AgeKey = c.secrets.File.ClusterAgeKey.Reveal()
		if s.AgeKey == "" {
			problems.Add(diag.New(diag.Pos{File: c.File(source.SecretsName)}, "has no age key of the cluster (%s:)", secretsfile.KeyClusterAgeKey).
				WithHint("make one with `talosgen secrets sync %s`", c.Name).WithCode(diag.Secrets))
		}
	}
	switch s.Auth {
	case schemas.DeployKey:
		hosts, problem := gitops.KnownHosts(s.Repository, s.KnownHosts)
		if problem != nil {
			problem.Pos = c.Config.Near("gitops.repository")
			problems.Add(problem)
		}
		key, err := c.deployKey()
		problems.AddErr(err)
		s.Credentials = map[string]string{"identity": key.private.Reveal(), "identity.pub": key.public + "\n", "known_hosts": hosts}
	case schemas.Token:
		token, ok := c.secrets.Variables[gitTokenVariable]
		if !ok {
			problems.Add(diag.New(c.Config.Near("gitops.auth"), "needs the secret variable %s: a token that may read the repository", gitTokenVariable).
				WithHint("`talosgen secrets edit %s` adds it under variables:", c.Name).WithCode(diag.Secrets))
		}
		s.Credentials = map[string]string{"username": s.User, "password": token.Value}
	}
	return s, problems.Err()
}

// sshKeyPair is an SSH key: private as a file, public as a line.
type sshKeyPair struct {
	private secret.String
	public  string
}

// deployKey is what Flux reads the repository with.
func (c *compiler) deployKey() (sshKeyPair, error) {
	if c.secrets.File == nil {
		return sshKeyPair{secret.New(placeholder.Text), placeholder.SSHKey}, nil
	}
	file := diag.Pos{File: c.File(source.SecretsName)}
	private := c.secrets.File.DeployKey
	if private.IsZero() {
		return sshKeyPair{}, diag.New(file, "has no deploy key (%s:) for %s", secretsfile.KeyDeployKey, c.Config.GitOps.Repository).
			WithHint("`talosgen secrets sync %s` makes one, and prints the public half for the Git server", c.Name).WithCode(diag.Secrets)
	}
	public, err := sshkey.Public(private)
	if err != nil {
		return sshKeyPair{}, diag.New(file, "%s %v", secretsfile.KeyDeployKey, err).
			WithHint("take it out with `talosgen secrets edit %s`; `talosgen secrets sync %s` makes another", c.Name, c.Name).WithCode(diag.Secrets)
	}
	return sshKeyPair{private, public}, nil
}
