package catalogue

import (
	"slices"
	"strconv"

	"github.com/talosgen/talosgen/schemas"
)

const (
	notificationsName = "flux-notifications"
	notificationsOpt  = "gitops.notifications"
	notificationAPI   = "notification.toolkit.fluxcd.io/v1beta3"
)

// notifications let Flux tell people what becomes of a commit.
func notifications() entry {
	e := entry{
		about:   "whom Flux tells of what it does",
		builtIn: true, defaultOn: "with gitops.notifications", options: notificationsOpt,
		name: notificationsName, layer: Controllers, namespace: fluxNamespace, fixed: true, onlyBy: notificationsOpt,
		wanted: func(f *facts) (bool, string) {
			return f.Cluster.GitOps.Engine == schemas.Flux && len(f.Cluster.GitOps.Notifications) > 0, notificationsOpt
		},
		needs: func(f *facts) (all []Need) {
			for i, n := range f.Cluster.GitOps.Notifications {
				if n.Variable != "" {
					all = append(all, Need{Name: n.Variable, Option: notificationsOpt + "." + strconv.Itoa(i), What: secretOf(n).what, Shape: secretOf(n).shape})
				}
			}
			return eachOnce(all)
		},
	}
	e.build = func(f *facts, a *Addon) {
		for _, n := range f.Cluster.GitOps.Notifications {
			a.Objects = append(a.Objects, f.notification(n)...)
		}
	}
	return e
}

// notificationSecret is what a place of notifications wants to be shown.
type notificationSecret struct{ key, what, shape string }

// secretOf is the secret of a place of notifications.
func secretOf(n schemas.Notification) notificationSecret {
	switch n.Type {
	case schemas.Discord, schemas.MSTeams, schemas.Generic:
		return notificationSecret{"address", "the URL of the webhook of " + n.Type, "https://example.com/placeholder"}
	case schemas.GenericHMAC:
		return notificationSecret{"token", "the key that events are signed with", "placeholder"}
	case schemas.GitHub, schemas.GitLab, schemas.Gitea:
		return notificationSecret{"token", "a token of " + n.Type + " that may write the status of commits", "placeholder"}
	}
	return notificationSecret{"token", "a token of " + n.Type + " that may write to " + n.Channel, "placeholder"}
}

// notification is one place that Flux tells: a Provider with its Secret, and the
// Alert that says of what.
func (f *facts) notification(n schemas.Notification) (all []object) {
	name := "talosgen-notify-" + n.Name
	provider := fields{"type": n.Type}
	for key, value := range map[string]string{"address": n.Address, "channel": n.Channel} {
		if value != "" {
			provider[key] = value
		}
	}
	if n.Variable != "" {
		provider["secretRef"] = fields{"name": name}
		all = append(all, secretObject(fluxNamespace, name, map[string]string{secretOf(n).key: f.Secrets[n.Variable].Reveal()}))
	}
	var sources items
	for _, kind := range slices.Sorted(slices.Values(n.Kinds)) {
		sources = append(sources, fields{"kind": kind, "name": "*"})
	}
	alert := fields{
		"providerRef": fields{"name": name}, "eventSeverity": n.Severity, "eventSources": sources,
		"eventMetadata": fields{"cluster": f.Cluster.ClusterName},
	}
	if len(n.Exclude) > 0 {
		alert["exclusionList"] = n.Exclude
	}
	return append(all,
		newObject(notificationAPI, "Provider", fluxNamespace, name, fields{"spec": provider}),
		newObject(notificationAPI, "Alert", fluxNamespace, name, fields{"spec": alert}))
}
