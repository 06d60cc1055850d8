package config

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/schemas"
)

const (
	sourceController       = "source-controller"
	kustomizeController    = "kustomize-controller"
	notificationController = "notification-controller"
)

// fluxControllers are those that a cluster has unless it says otherwise.
var fluxControllers = []string{sourceController, kustomizeController, "helm-controller", notificationController}

// fluxRegistries are those of which the operator knows the images.
var fluxRegistries = []string{"ghcr.io/fluxcd", "ghcr.io/controlplaneio-fluxcd"}

// setInstance fills in which controllers of Flux run.
func (ch completer) setInstance() {
	if i := &ch.GitOps.Instance; len(i.Controllers) == 0 {
		i.Controllers = slices.Clone(fluxControllers)
	}
}

// checkInstance checks what the Flux Operator is to install.
func (ch gitOpsRules) checkInstance() {
	g, at := ch.GitOps, keys("gitops.instance")
	if g.Components != schemas.Operator {
		if ch.has(at...) {
			ch.fail("remove it, or set gitops.components: operator", at, "gitops.instance is for the Flux Operator alone")
		}
		return
	}
	needed := []string{sourceController, kustomizeController}
	if len(g.Notifications) > 0 {
		needed = append(needed, notificationController)
	}
	for _, name := range needed {
		if !slices.Contains(g.Instance.Controllers, name) {
			ch.fail("add it", sub(at, "controllers"), "%s is missing: without it Flux does not do what this cluster.yaml asks for", name)
		}
	}
	known := slices.ContainsFunc(fluxRegistries, func(r string) bool {
		return g.Instance.Registry == r || strings.HasPrefix(g.Instance.Registry, r+"/")
	})
	if !known && g.Instance.Variant == "" {
		ch.fail("for a copy of ghcr.io/fluxcd it is upstream-alpine", sub(at, "registry"), "a registry of one's own needs gitops.instance.variant")
	}
	for i, p := range g.Instance.Patches {
		if !isPatch(p.Patch) {
			ch.fail("a mapping with what is to be different, or a list of operations, each on lines of its own:\n- op: remove\n  path: /spec/replicas",
				sub(sub(sub(at, "patches"), strconv.Itoa(i)), "patch"), "no patch that kustomize knows")
		}
	}
}

// isPatch reports whether kustomize knows a text as a patch. What begins with [ is JSON
// to it.
func isPatch(text string) bool {
	if strings.HasPrefix(strings.TrimSpace(text), "[") {
		return json.Valid([]byte(text))
	}
	var content any
	if err := yaml.Unmarshal([]byte(text), &content); err != nil {
		return false
	}
	switch content.(type) {
	case map[string]any, []any:
		return true
	}
	return false
}
