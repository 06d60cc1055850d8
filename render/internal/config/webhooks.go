package config

import (
	"strconv"

	"github.com/talosgen/talosgen/schemas"
)

// runNotificationRules are about whom runs are told to.
type runNotificationRules struct{ *reporter }

func (ch runNotificationRules) check() {
	all, at := ch.Notifications.Webhooks, keys("notifications.webhooks")
	ch.unique(at, "name", namesOf(all, func(w schemas.Webhook) string { return w.Name }))
	for i, w := range all {
		ch.checkWebhook(sub(at, strconv.Itoa(i)), w)
	}
	status := keys("notifications.commitStatus")
	if ch.has(sub(status, "repository")...) && !ch.has(sub(status, "forge")...) {
		ch.fail("add forge: github or forge: gitlab", status, "a repository without its forge")
	}
}

// checkWebhook wants one URL, and a key where the URL alone lets everyone write.
func (ch runNotificationRules) checkWebhook(item []string, w schemas.Webhook) {
	ch.variable(sub(item, "urlVariable"), w.URLVariable, true)
	ch.variable(sub(item, "keyVariable"), w.KeyVariable, true)
	open, secret := ch.has(sub(item, "url")...), ch.has(sub(item, "urlVariable")...)
	switch {
	case open == secret:
		ch.fail("give url, or urlVariable if the URL alone lets everyone write there", item, "a webhook has one URL, by url or by urlVariable")
	case open && w.URL != "" && !schemas.IsWebhook(w.URL):
		ch.fail("use https:// for everything that is not on this machine", sub(item, "url"), "documents would be sent without encryption")
	case open && !ch.has(sub(item, "keyVariable")...):
		ch.fail("keyVariable names the secret variable with the key that documents are signed with; `talosgen secrets edit` adds one", item,
			"everyone may read the URL, so the receiver cannot tell who has sent a document")
	}
}
