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
type kubeconfigCommand struct{ access accessWriter }

func (k kubeconfigCommand) command() *cli.Command {
	return &cli.Command{
		Name:         "kubeconfig",
		Usage:        "give kubectl access to a cluster",
		ArgsUsage:    "<env>",
		BashComplete: k.access.trees.ws.completeEnvironments(false),
		Description: `Signs a short-lived client certificate with the authority in rendered/<env>, and
writes it as a context into the configuration of kubectl, which becomes the
current one. Other contexts and comments stay. It asks nothing of the cluster,
and needs a key that can decrypt the tree.

Without more it is an administrator's (system:masters), whom RBAC cannot stop.
With --group, --user or both it may do what RBAC allows these. With --oidc it is
for people who log in with the provider of kubernetes.oidc: such a file has
neither certificate nor key, and needs the plugin oidc-login of kubectl.

A certificate that is there already stays while more than a third of --lifetime
is left.

Examples:
   talosgen kubeconfig prod                  into ~/.kube/config
   talosgen kubeconfig prod -o prod.kubeconfig --lifetime 1h
   talosgen kubeconfig prod --group viewers --user jane -o jane.kubeconfig
                                             what RBAC allows viewers
   talosgen kubeconfig prod --oidc -o people.kubeconfig
                                             for all who can log in
   talosgen kubeconfig prod --server https://127.0.0.1:6443
                                             through a tunnel
   talosgen kubeconfig prod -o - | less      alone, on stdout`,
		Flags: accessFlags("$KUBECONFIG, else ~/.kube/config",
			&cli.StringFlag{Name: "server", Usage: "`URL` of the API to use instead of the one in the tree"},
			&cli.StringSliceFlag{Name: flagGroup, Usage: "`GROUPS` of Kubernetes that the certificate is for, instead of system:masters"},
			&cli.StringFlag{Name: flagUser, Usage: "`NAME` of the user that the certificate is for, as RBAC and the audit log have it"},
			&cli.BoolFlag{Name: flagOIDC, Usage: "no certificate: people log in with the cluster's OpenID Connect provider"},
		),
		Action: func(c *cli.Context) error {
			r, what, err := kubeconfigRequest(c)
			if err != nil {
				return err
			}
			return k.access.write(c, kubeconfigFile, what, func(env *apply.Environment, a apply.AccessRequest) (*apply.AccessFile, error) {
				return env.Kubeconfig(c.Context, a, r)
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
			WithHint("the provider says who somebody is, and for how long").WithCode(diag.Usage)
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
