package talossim

import (
	"cmp"

	"github.com/talosgen/talosgen/internal/sim/kubesim"
)

// showStaticPods shows the pods of the control plane that run on the machine.
func (m *Machine) showStaticPods(api *kubesim.API) {
	if !m.controlPlane() || !m.votes() {
		return
	}
	for _, component := range staticPods {
		name := component + "-" + m.nodeName()
		program := m.program(component)
		ready := map[bool]string{true: "True", false: "False"}[program.Ready]
		if pod := api.See("Pod", "kube-system", name); pod != nil && imageOf(pod) == program.Image && readyOf(pod) == ready {
			continue
		}
		api.Put(map[string]any{
			"apiVersion": "v1", "kind": "Pod",
			"metadata": map[string]any{
				"name": name, "namespace": "kube-system", "labels": map[string]any{"k8s-app": component, "tier": "control-plane"},
				"annotations":     map[string]any{"kubernetes.io/config.mirror": m.bootID},
				"ownerReferences": []any{map[string]any{"apiVersion": "v1", "kind": "Node", "name": m.nodeName(), "controller": true, "uid": m.spec.UUID}},
			},
			"spec":   map[string]any{"nodeName": m.nodeName(), "containers": []any{map[string]any{"name": component, "image": program.Image}}},
			"status": map[string]any{"phase": "Running", "conditions": []any{map[string]any{"type": "Ready", "status": ready}}},
		})
	}
}

// image is that of a program of Kubernetes.
func (c *config) image(program string) string {
	if program == kubelet {
		return cmp.Or(c.kubelet, "ghcr.io/siderolabs/kubelet:"+c.kubernetes())
	}
	if image := c.programs[program]; image != "" {
		return image
	}
	return "registry.k8s.io/" + program + ":" + c.kubernetes()
}

// readyOf is the status of the condition of a pod.
func readyOf(pod map[string]any) string {
	status, _ := pod["status"].(map[string]any)
	conditions, _ := status["conditions"].([]any)
	if len(conditions) == 0 {
		return ""
	}
	first, _ := conditions[0].(map[string]any)
	ready, _ := first["status"].(string)
	return ready
}

// imageOf is that of the first container of a pod.
func imageOf(pod map[string]any) string {
	spec, _ := pod["spec"].(map[string]any)
	containers, _ := spec["containers"].([]any)
	if len(containers) == 0 {
		return ""
	}
	first, _ := containers[0].(map[string]any)
	image, _ := first["image"].(string)
	return image
}
