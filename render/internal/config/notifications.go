package config

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/talosgen/talosgen/schemas"
)

// slackAPI is where Slack takes messages.
const slackAPI = "https://slack.com/api/chat.postMessage"

// notificationType is what a type of notifications takes besides its name.
type notificationType struct {
	address, channel field
	// Whether it shows what became of a commit, and not messages.
	status bool
	// Whether it takes no secret.
	open bool
}

// field says whether an option has to be there.
type field int

const (
	refused field = iota
	optional
	required
)

// notificationTypes are those that there are.
var notificationTypes = map[string]notificationType{
	schemas.Slack:        {address: optional, channel: required},
	schemas.Matrix:       {address: required, channel: required},
	schemas.Telegram:     {channel: required},
	schemas.Discord:      {},
	schemas.MSTeams:      {},
	schemas.GitHub:       {address: optional, status: true},
	schemas.GitLab:       {address: required, status: true},
	schemas.Gitea:        {address: optional, status: true},
	schemas.Generic:      {},
	schemas.GenericHMAC:  {address: required},
	schemas.Alertmanager: {address: required, open: true},
}

// setNotifications fills in what follows from the type of each.
func (ch completer) setNotifications() {
	for i := range ch.GitOps.Notifications {
		n := &ch.GitOps.Notifications[i]
		is := notificationTypes[n.Type]
		switch {
		case n.Type == schemas.Slack:
			n.Address = cmp.Or(n.Address, slackAPI)
		case is.status && is.address == optional:
			n.Address = cmp.Or(n.Address, webAddress(ch.GitOps.Repository))
		}
		severity, kinds := "error", []string{sourceKind(ch.GitOps), "Kustomization"}
		if is.status {
			severity, kinds = "info", kinds[1:]
		}
		n.Severity = cmp.Or(n.Severity, severity)
		if !ch.has(keys("gitops.notifications." + strconv.Itoa(i) + ".kinds")...) {
			n.Kinds = kinds
		}
		if !is.open {
			n.Variable = cmp.Or(n.Variable, "NOTIFY_"+strings.ToUpper(strings.ReplaceAll(n.Name, "-", "_")))
		}
	}
}

// webAddress is a repository as browsers reach it.
func webAddress(repository string) string {
	u, err := url.Parse(repository)
	if err != nil || u.Host == "" {
		return ""
	}
	host := u.Host
	if u.Scheme == "ssh" {
		host = u.Hostname() // the port of another service
	}
	return "https://" + host + strings.TrimSuffix(u.Path, ".git")
}

// checkNotifications checks that each has what its type takes, and nothing else.
func (ch gitOpsRules) checkNotifications() {
	at := keys("gitops.notifications")
	all := ch.GitOps.Notifications
	ch.unique(at, "name", namesOf(all, func(n schemas.Notification) string { return n.Name }))
	for i, n := range all {
		item := sub(at, strconv.Itoa(i))
		is, known := notificationTypes[n.Type]
		if !known {
			continue // reported already
		}
		if is.status && ch.GitOps.Repository == "" {
			is.address = required // there is no repository to take it from
		}
		ch.takes(item, "address", n.Type, is.address)
		ch.takes(item, "channel", n.Type, is.channel)
		if is.open && ch.has(sub(item, "variable")...) {
			ch.fail("remove it", sub(item, "variable"), "%s takes no secret", n.Type)
		}
		for j, expression := range n.Exclude {
			ch.expression(append(sub(item, "exclude"), strconv.Itoa(j)), expression)
		}
		if is.status && slices.ContainsFunc(n.Kinds, func(kind string) bool { return kind != "Kustomization" }) {
			ch.fail("kinds: [Kustomization]", sub(item, "kinds"), "the status of commits comes from Kustomizations alone")
		}
	}
}

// exampleAddress are addresses for those that need one, without https://.
var exampleAddress = map[string]string{
	schemas.Matrix: "matrix.example.com", schemas.GitHub: "github.com/example/clusters", schemas.GitLab: "gitlab.com/1234, with the id of the project",
	schemas.Gitea: "git.example.com/example/clusters", schemas.GenericHMAC: "events.example.com", schemas.Alertmanager: "alertmanager.example.com/api/v2/alerts/",
}

// takes checks whether an option is there that a type of notifications takes, or
// does not.
func (ch gitOpsRules) takes(item []string, key, of string, want field) {
	at := sub(item, key)
	switch there := ch.has(at...); {
	case there && want == refused && key == "address":
		ch.fail("remove it: where it is reached is a part of its secret, or fixed", at, "%s takes no address", of)
	case there && want == refused:
		ch.fail("remove it", at, "%s takes no %s", of, key)
	case !there && want == required:
		ch.fail(map[string]string{
			"address": "for example address: https://" + exampleAddress[of],
			"channel": "for example channel: " + map[string]string{schemas.Slack: "ops", schemas.Matrix: `"!abcdef:example.com"`, schemas.Telegram: `"-1234567890"`}[of],
		}[key], item, "%s without %s", of, key)
	}
}
