package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/apply"
	"github.com/talosgen/talosgen/internal/diag"
)

// Flags of kubeconfig alone.
const (
	flagGroup = "group"
	flagUser  = "user"
	flagOIDC  = "oidc"
)

// kubeconfigCommand gives kubectl access to a cluster.
type kubeconfigCommand struct {
	access accessWriter
	lookup lookup
}

func (k kubeconfigCommand) command() *cli.Command {
	return &cli.Command{
		Name:      "kubeconfig",
		Usage:     "write a kubeconfig for a cluster",
		ArgsUsage: "<env>",
		Description: `Signs a short-lived client certificate with the authority in rendered/<env>, adds
it as a context to the configuration of kubectl, and makes that the current
context. Other contexts and comments are unchanged. The cluster is not contacted;
the name of its API is looked up in DNS.
Needs a key that can decrypt the tree.

By default the certificate is an administrator's (system:masters), whom RBAC
cannot restrict. With --group or --user it has the permissions that RBAC grants
these. With --oidc the file is for people who log in with the provider of
kubernetes.oidc: it has neither certificate nor key, and needs the kubectl plugin
oidc-login.

An existing certificate is kept while more than a third of --lifetime is left.

Examples:
   talosgen kubeconfig prod                  write to ~/.kube/config
   talosgen kubeconfig prod -o prod.kubeconfig --lifetime 1h
   talosgen kubeconfig prod --group viewers --user jane -o jane.kubeconfig
                                             permissions of viewers
   talosgen kubeconfig prod --oidc -o people.kubeconfig
                                             for all who can log in
   talosgen kubeconfig prod --server https://127.0.0.1:6443
                                             through a tunnel
   talosgen kubeconfig prod -o - | less      print to stdout`,
		Flags: accessFlags("$KUBECONFIG, else ~/.kube/config",
			&cli.StringFlag{Name: "server", Usage: "`URL` of the Kubernetes API, in place of the one in the tree"},
			&cli.StringSliceFlag{Name: flagGroup, Usage: "Kubernetes `GROUPS` of the certificate, in place of system:masters"},
			&cli.StringFlag{Name: flagUser, Usage: "user `NAME` of the certificate, for RBAC and the audit log"},
			&cli.BoolFlag{Name: flagOIDC, Usage: "no certificate: log in with the OpenID Connect provider of the cluster"},
		),
		Action: func(c *cli.Context) error {
			r, what, err := kubeconfigRequest(c)
			if err != nil {
				return err
			}
			return k.access.write(c, kubeconfigFile, what, func(env *apply.Environment, a apply.AccessRequest) (*apply.AccessFile, error) {
				f, err := env.Kubeconfig(c.Context, a, r)
				if err == nil && a.File != "-" {
					f.Way = strings.TrimSpace(f.Way + "\n" + k.lookup.leadsNowhere(c.Context, f.Endpoints[0]))
				}
				return f, err
			})
		},
	}
}

// kubeconfigRequest reads for whom the file is, and says it in words.
func kubeconfigRequest(c *cli.Context) (r apply.KubeconfigRequest, what string, err error) {
	r = apply.KubeconfigRequest{API: c.String("server"), User: c.String(flagUser), Groups: c.StringSlice(flagGroup), OIDC: c.Bool(flagOIDC)}
	switch {
	case r.OIDC && (r.User != "" || len(r.Groups) > 0 || c.IsSet(flagLifetime)):
		return r, "", diag.On("--"+flagOIDC, "not together with --%s, --%s or --%s", flagUser, flagGroup, flagLifetime).
			WithHint("the provider decides who logs in, and for how long").WithCode(diag.Usage)
	case r.OIDC:
		return r, "for people who log in with the provider", nil
	case len(r.Groups) > 0:
		return r, "what RBAC allows " + strings.Join(r.Groups, ", "), nil
	case r.User != "":
		return r, "what RBAC allows " + r.User, nil
	}
	return r, "an administrator", nil
}

// kubeconfigFile is the file that kubectl would write: of a list, the first that
// exists, else the last.
func kubeconfigFile(vars environ) (string, error) {
	list := vars.get("KUBECONFIG")
	last := ""
	for _, path := range filepath.SplitList(list) {
		if path == "" {
			continue
		}
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
		last = path
	}
	if last != "" {
		return last, nil
	}
	return vars.inHome(".kube", "config")
}
