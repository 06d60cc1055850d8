package model

import (
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/schemas"
)

// TellsOfRuns reports whether somebody is told of the runs that change the cluster.
func (m *Model) TellsOfRuns() bool {
	n := m.Config.Notifications
	return len(n.Webhooks) > 0 || n.CommitStatus.Forge != ""
}

// RunNotifications are those who are told, with their secrets.
func (m *Model) RunNotifications() (schemas.RunNotifications, error) {
	n := schemas.RunNotifications{APIVersion: schemas.InfrastructureVersion, Cluster: m.Config.ClusterName}
	var problems diag.List
	for _, w := range m.Config.Notifications.Webhooks {
		target := schemas.WebhookTarget{Name: w.Name, URL: w.URL, Key: m.variable(w.KeyVariable)}
		if w.URLVariable != "" {
			target.URL = m.variable(w.URLVariable)
		}
		if !schemas.IsWebhook(target.URL) {
			problems.Add(diag.New(m.Config.Pos("notifications", "webhooks"), "the variable %s, with the URL of the webhook %s, holds no URL that begins with https://", w.URLVariable, w.Name).
				WithHint("`talosgen secrets edit %s` changes it", m.Env).WithCode(diag.Secrets))
		}
		if w.KeyVariable != "" && target.Key == "" {
			problems.Add(diag.New(m.Config.Pos("notifications", "webhooks"), "the variable %s, with the key of the webhook %s, is empty", w.KeyVariable, w.Name).
				WithHint("`talosgen secrets edit %s` changes it", m.Env).WithCode(diag.Secrets))
		}
		n.Webhooks = append(n.Webhooks, target)
	}
	if status := m.Config.Notifications.CommitStatus; status.Forge != "" {
		target := schemas.StatusTarget(status)
		n.CommitStatus = &target
	}
	return n, problems.Err()
}

// variable is the value of a variable; empty without a name.
func (m *Model) variable(name string) string {
	v, _ := m.Scope.Lookup(name)
	return v.Value
}
