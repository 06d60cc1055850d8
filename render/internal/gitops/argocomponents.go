package gitops

import (
	"maps"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/manifest"
	"github.com/talosgen/talosgen/schemas"
)

// ConfigMaps that Argo CD reads.
const (
	argoConfig     = "argocd-cm"
	argoKnownHosts = "argocd-ssh-known-hosts-cm"
	knownHostsKey  = "ssh_known_hosts"
)

// argoHealth tells Argo CD when an Application is healthy, in Lua: without it nothing
// waits for one, and all layers come at once. It is so when everything is as in Git, and
// healthy.
const argoHealth = `local state = obj.status or {}
local synced = state.sync and state.sync.status or "Unknown"
local healthy = state.health and state.health.status or "Unknown"
if synced == "Synced" and healthy == "Healthy" then
  return {status = "Healthy", message = ""}
end
return {status = "Progressing", message = synced .. ", " .. healthy}
`

// ArgoSettings are what Argo CD has to be told by its ConfigMap argocd-cm, whoever
// installs it.
func ArgoSettings() map[string]string {
	return map[string]string{
		"resource.customizations.health.argoproj.io_Application": argoHealth,
		"application.resourceTrackingMethod":                     "annotation",
	}
}

// argoComponents are the objects that Argo CD consists of, as they are written: pods of
// it run on control planes too, and it never removes itself. Secrets are apart, because
// apply keeps them.
func (s Settings) argoComponents() (all, secrets []manifest.Object, problem *diag.Problem) {
	configured := len(s.Components) == 0
	for _, o := range s.Components {
		switch {
		case isNamespace(o):
			continue // apply's: Secrets are in it
		case holdsSecret(plainData(o)):
			secrets = append(secrets, plainData(o))
			continue
		case o.Kind() == "ConfigMap" && o.Name() == argoConfig:
			o, configured = withMissing(o, ArgoSettings()), true
		case o.Kind() == "ConfigMap" && o.Name() == argoKnownHosts:
			o = withLines(o, s.Hosts)
		}
		all = append(all, keptByArgo(tolerant(forArgo(o))))
	}
	if !configured {
		problem = diag.On("addon argocd", "has no ConfigMap %s: Argo CD has to be told by it when an Application is healthy", argoConfig).
			WithHint("of the chart argo-cd it is configs.cm.create: true; docs/how-to/argocd.md has what belongs into it otherwise, with gitops.components: %s", schemas.Existing)
	}
	return all, secrets, problem
}

// withMissing is a copy of a ConfigMap with the entries that it does not have yet.
func withMissing(o manifest.Object, entries map[string]string) manifest.Object {
	data := maps.Clone(asMap(o["data"]))
	if data == nil {
		data = map[string]any{}
	}
	for key, value := range entries {
		if _, set := data[key]; !set {
			data[key] = value
		}
	}
	out := maps.Clone(o)
	out["data"] = data
	return out
}

// withLines is a copy of the known hosts of Argo CD with lines that it does not have.
func withLines(o manifest.Object, lines string) manifest.Object {
	text, _ := asMap(o["data"])[knownHostsKey].(string)
	have := strings.Split(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	for _, line := range strings.Split(lines, "\n") {
		if line != "" && !slices.Contains(have, line) {
			text += line + "\n"
		}
	}
	data := maps.Clone(asMap(o["data"]))
	if data == nil {
		data = map[string]any{}
	}
	data[knownHostsKey] = text
	out := maps.Clone(o)
	out["data"] = data
	return out
}
