package apply

import (
	"context"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/schemas"
)

// Notifications are those who are told of runs: nobody, unless the tree names them. The
// masker learns their secrets.
func (e *Environment) Notifications(ctx context.Context) (n schemas.RunNotifications, err error) {
	if _, there := e.files[schemas.NotificationsFile]; !there {
		return n, nil
	}
	plain, err := e.Decrypt(ctx, schemas.NotificationsFile)
	if err != nil {
		return n, err
	}
	// The library's error could quote a secret.
	if yaml.Unmarshal([]byte(plain.Reveal()), &n) != nil || n.APIVersion != schemas.InfrastructureVersion {
		return schemas.RunNotifications{}, diag.New(diag.Pos{File: e.path(schemas.NotificationsFile)}, "has another format than this program reads").
			WithHint("run `talosgen render %s --force`", e.name)
	}
	for _, w := range n.Webhooks {
		e.masker.Add(secret.New(w.URL))
		e.masker.Add(secret.New(w.Key))
	}
	return n, nil
}
