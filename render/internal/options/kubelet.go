package options

import (
	"strconv"

	"github.com/talosgen/talosgen/render/internal/machine"
	"github.com/talosgen/talosgen/schemas"
)

// kubelet is the kubelet of the nodes of a role.
func (c kubernetes) kubelet(role machine.Role) machine.KubeletOptions {
	k := c.config.Kubernetes.Kubelet
	o := machine.KubeletOptions{
		ComponentOptions: c.component("kubelet", k.Component),
		Settings:         c.kubeletSettings(role),
		ExtraConfig:      k.ExtraConfig,
	}
	if *k.RotateServerCertificates {
		if _, set := o.ExtraArgs[rotateCertificates]; !set {
			o.ExtraArgs[rotateCertificates] = c.option("true", "kubernetes", "kubelet", "rotateServerCertificates")
		}
	}
	for i, m := range k.ExtraMounts {
		at := func(value, key string) machine.Option {
			return c.option(value, "kubernetes", "kubelet", "extraMounts", strconv.Itoa(i), key)
		}
		o.ExtraMounts = append(o.ExtraMounts, machine.KubeletMount{
			Source: at(m.Source, "source"), Destination: at(m.Destination, "destination"), Type: at(m.Type, "type"),
			Options: c.options(m.Options, "kubernetes", "kubelet", "extraMounts", strconv.Itoa(i), "options"),
		})
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
	g := c.config.Kubernetes.Kubelet.GracefulShutdown
	at := []string{"kubernetes", "kubelet", "gracefulShutdown"}
	settings := []machine.KubeletSetting{
		{Path: []string{"shutdownGracePeriod"}, Option: c.option(g.Period, append(at, "period")...)},
		{Path: []string{"shutdownGracePeriodCriticalPods"}, Option: c.option(g.CriticalPods, append(at, "criticalPods")...)},
	}
	if c.config.Provider != schemas.Hetzner {
		return settings
	}
	for _, r := range reserved[role] {
		for _, s := range [][2]string{{"cpu", r.cpu}, {"memory", r.memory}, {"ephemeral-storage", "1Gi"}} {
			settings = append(settings, machine.KubeletSetting{
				Path: []string{r.key, s[0]}, Option: c.option(s[1], "kubernetes", "kubelet", "extraConfig", r.key, s[0]),
			})
		}
	}
	return settings
}
