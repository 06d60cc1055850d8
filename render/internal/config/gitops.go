package config

import (
	"cmp"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/talosgen/talosgen/schemas"
)

// setGitOps fills in what follows from the URL of the repository.
func (ch completer) setGitOps() {
	g := &ch.GitOps
	g.Engine = cmp.Or(g.Engine, map[bool]string{true: schemas.Flux, false: schemas.NoEngine}[ch.has("gitops", "repository") || ch.has("gitops", "oci", "url")])
	auth := schemas.DeployKey
	if strings.HasPrefix(g.Repository, "https://") || ch.has("gitops", "oci", "url") {
		auth = schemas.Public
	}
	g.Auth = cmp.Or(g.Auth, auth)
	g.Path = cmp.Or(g.Path, "rendered/"+path.Base(path.Dir(ch.file)))
	if o := &g.OCI; o.URL != "" && o.SemVer == "" && o.Digest == "" {
		o.Tag = cmp.Or(o.Tag, "latest")
	}
	ch.setInstance()
	ch.setNotifications()
}

// gitOpsRules want an engine that can reach its repository.
type gitOpsRules struct{ *reporter }

func (ch gitOpsRules) check() {
	g := ch.GitOps
	if g.Engine == schemas.NoEngine {
		for _, key := range []string{"repository", "branch", "path", "auth", "user", "knownHosts", "verifyKeys", "interval", "components", "argocd", "instance", "oci", "notifications"} {
			if at := []string{"gitops", key}; ch.has(at...) {
				ch.fail("remove it, or set gitops.engine: flux or argocd", at, "gitops.%s without an engine", key)
			}
		}
		return
	}
	if g.Engine == schemas.ArgoCD {
		ch.checkArgoCD()
	} else if ch.has("gitops", "argocd") {
		ch.fail("remove it, or set gitops.engine: argocd", keys("gitops.argocd"), "gitops.argocd is for Argo CD alone")
	}
	if ch.has("gitops", "oci") && g.Engine != schemas.ArgoCD {
		ch.checkOCI()
	} else if !ch.has("gitops", "repository") {
		ch.fail("for example repository: ssh://git@github.com/example/clusters.git", []string{"gitops"}, "gitops.repository is required")
		return
	}
	if every, err := time.ParseDuration(g.Interval); err == nil && every < time.Minute {
		ch.fail("a change in Git is noticed every minute anyway", keys("gitops.interval"), "an interval of less than a minute")
	}
	if repository, err := url.Parse(g.Repository); err == nil && g.Repository != "" && g.OCI.URL == "" {
		ch.checkGitAuth(repository)
	}
	if g.Engine == schemas.Flux {
		ch.checkInstance()
		ch.checkNotifications()
	}
}

// checkGitAuth checks that the way to prove who one is fits the URL.
func (ch gitOpsRules) checkGitAuth(repository *url.URL) {
	at := keys("gitops.auth")
	if !ch.has(at...) {
		at = keys("gitops.repository")
	}
	ssh := repository.Scheme == "ssh"
	switch auth := ch.GitOps.Auth; {
	case auth == schemas.DeployKey && !ssh:
		ch.fail("write the URL as ssh://git@"+repository.Host+repository.Path, at, "a deploy key works with ssh:// only")
	case auth != schemas.DeployKey && ssh:
		ch.fail("write the URL as https://"+repository.Hostname()+repository.Path+", or set auth: deployKey", at, "auth %s works with https:// only", auth)
	case !ssh && repository.User != nil:
		ch.fail("set gitops.user, and keep a password in the secret variable GIT_TOKEN", keys("gitops.repository"), "a user in the URL")
	}
	if ch.has("gitops", "user") && ch.GitOps.Auth != schemas.Token {
		ch.fail("remove it, or set auth: token", keys("gitops.user"), "a user name without a token")
	}
	if ch.has("gitops", "knownHosts") && !ssh {
		ch.fail("remove them: certificates prove who answers https://", keys("gitops.knownHosts"), "known hosts for a URL that is not ssh://")
	}
}
