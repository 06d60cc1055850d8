package schemas

import (
	"net/netip"
	"net/url"
	"strings"
)

// NotificationsFile is the file in a rendered tree that holds [RunNotifications], if
// somebody is told of runs.
const NotificationsFile = "run-notifications.yaml"

// Keys in that file whose values are encrypted, if a secret variable has them.
const (
	WebhookURL = "url"
	WebhookKey = "key"
)

// RunNotifications are those who are told of runs, with what they are told by.
type RunNotifications struct {
	APIVersion   string          `yaml:"apiVersion"` // [InfrastructureVersion]
	Cluster      string          `yaml:"cluster"`
	Webhooks     []WebhookTarget `yaml:"webhooks,omitempty"`
	CommitStatus *StatusTarget   `yaml:"commitStatus,omitempty"`
}

// StatusTarget is a [CommitStatus] in that file.
type StatusTarget struct {
	Forge      string `yaml:"forge"`
	Repository string `yaml:"repository,omitempty"`
}

// WebhookTarget is a webhook with its secrets.
type WebhookTarget struct {
	Name string `yaml:"name"`
	URL  string `yaml:"url"`
	Key  string `yaml:"key,omitempty"`
}

// IsWebhook reports whether documents may be sent to a URL: nobody on the way there reads
// them. It says nothing about a text that is none.
func IsWebhook(text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || u.User != nil || strings.ContainsAny(text, " \t\r\n") {
		return false
	}
	return u.Scheme == "https" || u.Scheme == "http" && OnThisMachine(u)
}

// OnThisMachine reports whether a URL leads to the machine that asks, whatever a name
// server says.
func OnThisMachine(u *url.URL) bool {
	address, err := netip.ParseAddr(u.Hostname())
	return err == nil && address.IsLoopback() || u.Hostname() == "localhost"
}

// IsOnThisMachine is [OnThisMachine] for a text, which may be no URL.
func IsOnThisMachine(text string) bool {
	u, err := url.Parse(text)
	return err == nil && OnThisMachine(u)
}
