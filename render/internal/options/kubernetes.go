package options

import (
	"strconv"

	"github.com/talosgen/talosgen/render/internal/config"
	"github.com/talosgen/talosgen/render/internal/legacy"
	"github.com/talosgen/talosgen/render/internal/machine"
	"github.com/talosgen/talosgen/schemas"
)

// kubernetes makes the options of Kubernetes' components.
type kubernetes struct{ places }

// of are the options that all nodes of a role have in common; sans are the names
// in the certificates of the API, that of the endpoint first.
func (c kubernetes) of(role machine.Role, sans []machine.Option) machine.KubernetesOptions {
	k, open := &c.config.Kubernetes, c.openMetrics()
	o := machine.KubernetesOptions{
		APIServer:         c.component(&k.APIServer, apiServerArgs[c.config.Provider], nil),
		ControllerManager: c.component(&k.ControllerManager, open.controllerManager, &k.OpenMetrics),
		Scheduler:         c.component(&k.Scheduler, open.scheduler, &k.OpenMetrics),
		Etcd:              machine.EtcdOptions{ComponentOptions: c.component(&k.Etcd, open.etcd, &k.OpenMetrics), AdvertisedSubnets: c.texts(&c.config.Network.NodeCidrs)},
		Proxy:             machine.ProxyOptions{ComponentOptions: c.component(&k.Proxy.Component, nil, nil), Mode: c.text(&k.Proxy.Mode)},
		Kubelet:           c.kubelet(role),
		CoreDNS:           machine.CoreDNSOptions{Image: c.text(&k.CoreDNS.Image), Disabled: c.off(&k.CoreDNS.Enabled)},
		CertSANs:          sans[1:], // Talos adds the endpoint's itself
		AdmissionPlugins: each(k.AdmissionControl, func(p *schemas.AdmissionPlugin) machine.AdmissionPlugin {
			return machine.AdmissionPlugin{Name: c.text(&p.Name), Configuration: p.Configuration}
		}),
		OIDC: c.oidc(),
		InlineManifests: each(k.InlineManifests, func(m *schemas.InlineManifest) machine.Manifest {
			return machine.Manifest{Name: c.text(&m.Name), Source: c.text(&m.Contents)}
		}),
		RemoteManifests: c.remoteManifests(),
	}
	if open := k.OpenMetrics; open != nil && *open && *k.Proxy.Enabled && k.Proxy.ExtraArgs["metrics-bind-address"] == "" {
		o.Proxy.MetricsAddress = c.said("0.0.0.0:10249", &k.OpenMetrics)
	}
	if !*k.Proxy.Enabled {
		o.Proxy.Disabled = machine.Option{Value: "true", Pos: c.firstPos(&k.Proxy.Enabled, &c.config.CNI.KubeProxyReplacement, &c.config.CNI.Type)}
	}
	if cni := &c.config.CNI.Type; *cni != config.Flannel {
		o.NoCNI = c.text(cni)
	}
	o.ExternalCloudProvider = c.truth(*k.ExternalCloudProvider, &k.ExternalCloudProvider)
	return o
}

// apiServerArgs are what the API server gets besides what cluster.yaml says.
var apiServerArgs = map[string]map[string]string{schemas.Hetzner: {"enable-aggregator-routing": "true"}}

// metricsArgs are the arguments by which components listen for who asks for their
// metrics.
type metricsArgs struct{ controllerManager, scheduler, etcd map[string]string }

// openMetrics are those of what listens for other nodes. Hetzner's firewall keeps the
// world out, so there most of it is open to the private network anyway.
func (c kubernetes) openMetrics() metricsArgs {
	open := c.config.Kubernetes.OpenMetrics
	if open == nil && c.config.Provider != schemas.Hetzner || open != nil && !*open {
		return metricsArgs{}
	}
	return metricsArgs{
		controllerManager: map[string]string{"bind-address": "0.0.0.0"},
		scheduler:         map[string]string{"bind-address": "0.0.0.0"},
		etcd:              map[string]string{"listen-metrics-urls": "http://0.0.0.0:2381"},
	}
}

// component is the image and the arguments of a component, with own ones that an
// option is the reason of; nil: none is.
func (c kubernetes) component(k *schemas.Component, own map[string]string, option any) machine.ComponentOptions {
	args := c.mapping(&k.ExtraArgs)
	for arg, value := range own {
		if _, set := args[arg]; !set {
			args[arg] = machine.Option{Value: value}
			if option != nil {
				args[arg] = c.said(value, option)
			}
		}
	}
	return machine.ComponentOptions{Image: c.text(&k.Image), ExtraArgs: args}
}

// oidc spells out the default of usernamePrefix, which is kube-apiserver's.
func (c kubernetes) oidc() *machine.OIDCOptions {
	k := &c.config.Kubernetes.OIDC
	if !k.Enabled {
		return nil
	}
	prefix := c.text(&k.UsernamePrefix)
	if prefix.Pos.Line == 0 && k.UsernameClaim != "email" {
		prefix = c.said(k.IssuerURL+"#", &k.IssuerURL)
	}
	return &machine.OIDCOptions{
		IssuerURL: c.text(&k.IssuerURL), ClientID: c.text(&k.ClientID),
		UsernameClaim: c.text(&k.UsernameClaim), UsernamePrefix: prefix,
		GroupsClaim: c.text(&k.GroupsClaim), GroupsPrefix: c.text(&k.GroupsPrefix),
	}
}

// remoteManifests have a name that is made of their URL, as convert-patch makes
// it; a number tells apart those that come out the same.
func (c kubernetes) remoteManifests() []machine.Manifest {
	var manifests []machine.Manifest
	count := map[string]int{}
	for _, source := range c.texts(&c.config.Kubernetes.RemoteManifests) {
		name := legacy.ManifestName(source.Value)
		if count[name]++; count[name] > 1 {
			name += "-" + strconv.Itoa(count[name])
		}
		manifests = append(manifests, machine.Manifest{Name: machine.Option{Value: name, Pos: source.Pos}, Source: source})
	}
	return manifests
}
