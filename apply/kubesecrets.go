package apply

import (
	"context"
	"slices"

	"github.com/talosgen/talosgen/apply/internal/kube"
	"github.com/talosgen/talosgen/apply/internal/nodes"
	"github.com/talosgen/talosgen/internal/diag"
)

// RewriteSecrets ends when every Secret is stored with the key that all API servers
// encrypt with.
func (k controlPlaneAPI) RewriteSecrets(ctx context.Context, notify func(string)) error {
	var all []kube.StoredSecret
	err := k.do(ctx, func(c *kube.Client) (err error) {
		all, _, err = kube.RewriteSecrets(ctx, c, notify)
		return err
	})
	if err != nil || len(all) == 0 {
		return err
	}
	return k.agree(ctx, all)
}

// secretsAsked is how many Secrets API servers are asked about that do not seem to agree:
// somebody else may have changed one meanwhile.
const secretsAsked = 5

// agree asks each API server whether it would store a Secret as it is. One that has not
// restarted encrypts with another key than the others.
func (k controlPlaneAPI) agree(ctx context.Context, all []kube.StoredSecret) error {
	late, asked := "", 0
	for i := range all {
		if all[i].Version == "" || asked == secretsAsked {
			continue
		}
		name, err := k.late(ctx, &all[i])
		switch {
		case err != nil:
			return err
		case all[i].Version == "": // it is gone meanwhile, and says nothing
			continue
		case name == "":
			return nil
		}
		late, asked = name, asked+1
	}
	if late == "" {
		return nil // there is no Secret any more
	}
	return diag.On("API server of "+late, "encrypts Secrets with another key than the others").
		WithHint("look at its pod in kube-system, which has to restart, and apply again").WithCode(diag.NotReady)
}

// late is the first API server that stores a Secret anew; empty if none does.
func (k controlPlaneAPI) late(ctx context.Context, s *kube.StoredSecret) (name string, err error) {
	for _, m := range k.machines {
		stays := true
		err := k.only(m.Name).do(ctx, func(c *kube.Client) (err error) {
			stays, err = kube.SecretStays(ctx, c, s)
			return err
		})
		if err != nil || !stays {
			return m.Name, err
		}
	}
	return "", nil
}

// only is the API server of one node.
func (k controlPlaneAPI) only(name string) controlPlaneAPI {
	one := k
	one.machines = slices.DeleteFunc(slices.Clone(k.machines), func(m nodes.Machine) bool { return m.Name != name })
	return one
}
