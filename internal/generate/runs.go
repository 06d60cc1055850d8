package generate

import "github.com/talosgen/talosgen/schemas"

// runNotifications set whom runs are told to.
func (e addonGenerator) runNotifications(c values) {
	const at = "notifications"
	n := values{}
	put(e, n, at, "webhooks", 10, func(name string) []values {
		e.Secrets["OPS_URL"], e.Secrets["OPS_KEY"] = "https://hooks.example.com/"+e.token(e.at+".webhook url", 40), e.token(e.at+".webhook key", 40)
		all := []values{
			{"name": "ops", "url": "https://hooks.example.com/talosgen", "keyVariable": "OPS_KEY"},
			{"name": "chat", "urlVariable": "OPS_URL"},
		}
		return all[:e.of(name+" number", 1, 2)]
	})
	put(e, n, at, "commitStatus", 10, func(name string) values {
		status := values{"forge": one(e, name+".forge", schemas.GitHub, schemas.GitLab)}
		put(e, status, name, "repository", 50, func(string) string { return "example/clusters" })
		return status
	})
	section(c, at, n)
}
