package catalogue

import (
	"github.com/talosgen/talosgen/schemas"
)

const (
	operatorName  = "flux-operator"
	operatorRepo  = "oci://ghcr.io/controlplaneio-fluxcd/charts"
	componentsOpt = "gitops.components"
)

// tolerationPatch lets the pods of Flux run on control planes: a cluster of
// nothing else has to have Flux too.
const tolerationPatch = `- op: add
  path: /spec/template/spec/tolerations
  value:
    - key: node-role.kubernetes.io/control-plane
      operator: Exists
      effect: NoSchedule
`

// fluxOperator installs Flux, and keeps it as its FluxInstance says. As the components
// of Flux it is no addon that Flux runs: see [Engine].
func fluxOperator() entry {
	return charted(entry{
		about:     "the operator that installs Flux, and the FluxInstance that says how",
		defaultOn: "with gitops.components: operator", options: "gitops.instance",
		name: operatorName, layer: Bootstrap, namespace: fluxNamespace, fixed: true, version: "0.58.1", onlyBy: componentsOpt + ": " + schemas.Operator, keep: true,
		wanted: func(f *facts) (bool, string) {
			g := f.Cluster.GitOps
			return g.Engine == schemas.Flux && g.Components == schemas.Operator, componentsOpt
		},
	}, operatorRepo, operatorName, func(f *facts, a *Addon) fields {
		a.Objects = append(a.Objects, f.fluxInstance())
		return fields{
			// Nobody reaches it until an addon of one's own says how.
			"web": fields{"enabled": false},
		}
	})
}

// fluxInstance says how Flux is to be installed. What it follows is not among that:
// whoever lays out the tree knows.
func (f *facts) fluxInstance() object {
	i := f.Cluster.GitOps.Instance
	distribution := fields{"version": i.Version, "registry": i.Registry}
	for key, value := range map[string]string{"variant": i.Variant, "artifact": i.Artifact} {
		if value != "" {
			distribution[key] = value
		}
	}
	cluster := fields{
		"type": "kubernetes", "domain": f.Cluster.Network.DNSDomain, "networkPolicy": i.NetworkPolicy, "multitenant": i.Multitenant,
	}
	if i.Size != "" {
		cluster["size"] = i.Size
	}
	patches := items{fields{"target": fields{"kind": "Deployment"}, "patch": tolerationPatch}}
	for _, p := range i.Patches {
		patches = append(patches, fluxPatch(p))
	}
	return newObject("fluxcd.controlplane.io/v1", "FluxInstance", fluxNamespace, fluxName, fields{"spec": fields{
		"distribution": distribution,
		"components":   i.Controllers,
		"cluster":      cluster,
		"kustomize":    fields{"patches": patches},
	}})
}

// fluxPatch is a patch of Flux' objects as the operator takes it.
func fluxPatch(p schemas.FluxPatch) fields {
	target := fields{}
	for key, value := range map[string]string{
		"group": p.Target.Group, "version": p.Target.Version, "kind": p.Target.Kind, "name": p.Target.Name,
		"labelSelector": p.Target.LabelSelector, "annotationSelector": p.Target.AnnotationSelector,
	} {
		if value != "" {
			target[key] = value
		}
	}
	patch := fields{"patch": p.Patch}
	if len(target) > 0 {
		patch["target"] = target
	}
	return patch
}
