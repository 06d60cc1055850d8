package options

import (
	"github.com/talosgen/talosgen/render/internal/machine"
	"github.com/talosgen/talosgen/schemas"
)

// kubelet is the kubelet of the nodes of a role.
func (c kubernetes) kubelet(role machine.Role) machine.KubeletOptions {
	k := &c.config.Kubernetes.Kubelet
	o := machine.KubeletOptions{
		ComponentOptions: c.component(&k.Component, nil, nil),
		Settings:         c.kubeletSettings(role),
		ExtraConfig:      k.ExtraConfig,
		ExtraMounts: each(k.ExtraMounts, func(m *schemas.KubeletMount) machine.KubeletMount {
			return machine.KubeletMount{Source: c.text(&m.Source), Destination: c.text(&m.Destination), Type: c.text(&m.Type), Options: c.texts(&m.Options)}
		}),
	}
	if _, set := o.ExtraArgs[rotateCertificates]; !set && *k.RotateServerCertificates {
		o.ExtraArgs[rotateCertificates] = c.said("true", &k.RotateServerCertificates)
	}
	return o
}

// rotateCertificates makes the kubelet ask the cluster for the certificate that
// it serves with.
const rotateCertificates = "rotate-server-certificates"

// reserved are what the kubelet keeps for itself and the system on Hetzner, where
// servers are small.
var reserved = map[machine.Role][]struct{ key, cpu, memory string }{
	machine.ControlPlane: {{"systemReserved", "250m", "300Mi"}, {"kubeReserved", "250m", "350Mi"}},
	machine.Worker:       {{"systemReserved", "100m", "300Mi"}, {"kubeReserved", "100m", "350Mi"}},
}

func (c kubernetes) kubeletSettings(role machine.Role) []machine.KubeletSetting {
	k := &c.config.Kubernetes.Kubelet
	settings := []machine.KubeletSetting{
		{Path: []string{"shutdownGracePeriod"}, Option: c.text(&k.GracefulShutdown.Period)},
		{Path: []string{"shutdownGracePeriodCriticalPods"}, Option: c.text(&k.GracefulShutdown.CriticalPods)},
	}
	if c.config.Provider != schemas.Hetzner {
		return settings
	}
	for _, r := range reserved[role] {
		for _, s := range [][2]string{{"cpu", r.cpu}, {"memory", r.memory}, {"ephemeral-storage", "1Gi"}} {
			settings = append(settings, machine.KubeletSetting{
				Path: []string{r.key, s[0]}, Option: c.said(s[1], &k.ExtraConfig, r.key, s[0]),
			})
		}
	}
	return settings
}
