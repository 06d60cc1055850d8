package upgrade

import (
	"context"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/apply/internal/node"
	upgradeplan "github.com/talosgen/talosgen/apply/plan/upgrade"
	"github.com/talosgen/talosgen/internal/manifest"
)

// observeObjects notes to which version of Kubernetes Talos' own objects were brought. It is
// asked by a dry run: if nothing would change, they are what the nodes run. After that,
// this run knows to what it has brought them itself, until control planes run another
// Talos: that has other objects.
func (u observer) observeObjects(ctx context.Context, seen *upgradeplan.Observed) error {
	now := seen.Oldest()
	if !u.ofKubernetes() || u.Policy.Rollback || now == "" {
		return nil
	}
	if u.objects == "" && seen.Alike() {
		objects, err := u.talosObjects(ctx)
		if err != nil && slices.ContainsFunc(seen.Nodes, unreached) {
			return nil // that is told, and nothing begins until it is mended
		}
		if err != nil {
			return err
		}
		changed, err := u.Programs.Manifests(ctx, objects, true)
		if err != nil {
			return err
		}
		if u.objects = now; len(changed) > 0 {
			u.objects = upgradeplan.Outdated
		}
	}
	seen.Manifests = u.objects
	return nil
}

// unreached reports whether a node is a control plane that nobody reaches.
func unreached(n upgradeplan.Node) bool { return n.Role == upgradeplan.ControlPlane && !n.Reached }

// talosObjects are Talos' own objects, as the first control plane node has them that
// answers.
func (u *Upgrade) talosObjects(ctx context.Context) (objects []manifest.Object, err error) {
	for _, plane := range u.controlPlanes() {
		var client *node.Client
		if client, err = u.client(plane); err != nil {
			continue
		}
		if objects, err = client.Manifests(ctx); err == nil {
			return objects, nil
		}
	}
	return nil, err
}

// manifests brings Talos' own objects to what it has for them, and waits until they run.
func (u stepper) manifests(ctx context.Context, s upgradeplan.Step) error {
	objects, err := u.talosObjects(ctx)
	if err != nil {
		return err
	}
	var changed []string
	err = u.keeping(ctx, func(ctx context.Context) (err error) {
		changed, err = u.Programs.Manifests(ctx, objects, false)
		return err
	})
	if err != nil {
		return err
	}
	for _, id := range changed {
		u.notify(s, id)
	}
	err = u.waitFor(ctx, "objects of Talos", "ready", u.Patience.Healthy, func(ctx context.Context) error {
		waits, err := u.Programs.Unready(ctx, objects)
		if err == nil && len(waits) > 0 {
			return node.NotYet("%s", strings.Join(waits, "; "))
		}
		return err
	})
	if err != nil {
		return err
	}
	u.objects = s.Version
	return nil
}
