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
	k := c.config.Kubernetes
	o := machine.KubernetesOptions{
		APIServer:         c.component("apiServer", k.APIServer),
		ControllerManager: c.component("controllerManager", k.ControllerManager),
		Scheduler:         c.component("scheduler", k.Scheduler),
		Etcd:              machine.EtcdOptions{ComponentOptions: c.component("etcd", k.Etcd), AdvertisedSubnets: c.nodeCIDRs()},
		Proxy: machine.ProxyOptions{
			ComponentOptions: c.component("proxy", k.Proxy.Component),
			Mode:             c.option(k.Proxy.Mode, "kubernetes", "proxy", "mode"),
		},
		Kubelet:          c.kubelet(role),
		CoreDNS:          machine.CoreDNSOptions{Image: c.option(k.CoreDNS.Image, "kubernetes", "coreDns", "image")},
		CertSANs:         sans[1:], // Talos adds the endpoint's itself
		AdmissionPlugins: c.admissionPlugins(),
		OIDC:             c.oidc(),
		InlineManifests:  c.inlineManifests(),
		RemoteManifests:  c.remoteManifests(),
	}
	if !*k.Proxy.Enabled {
		o.Proxy.Disabled = machine.Option{Value: "true", Pos: c.firstPos("kubernetes.proxy.enabled", "cni.kubeProxyReplacement", "cni.type")}
	}
	if !k.CoreDNS.Enabled {
		o.CoreDNS.Disabled = c.option("true", "kubernetes", "coreDns", "enabled")
	}
	if cni := c.config.CNI.Type; cni != config.Flannel {
		o.NoCNI = c.option(cni, "cni", "type")
	}
	if *k.ExternalCloudProvider {
		o.ExternalCloudProvider = c.option("true", "kubernetes", "externalCloudProvider")
	}
	return o
}

func (c places) nodeCIDRs() []machine.Option {
	return c.options(c.config.Network.NodeCidrs, "network", "nodeCidrs")
}

// hetznerArgs are what components on Hetzner get besides what cluster.yaml says.
// Its firewall keeps the world out, so metrics are open to the private network.
var hetznerArgs = map[string]map[string]string{
	"apiServer":         {"enable-aggregator-routing": "true"},
	"controllerManager": {"bind-address": "0.0.0.0"},
	"scheduler":         {"bind-address": "0.0.0.0"},
	"etcd":              {"listen-metrics-urls": "http://0.0.0.0:2381"},
}

// component is the image and the arguments of a component.
func (c kubernetes) component(key string, k schemas.Component) machine.ComponentOptions {
	args := machine.OptionMap{}
	if c.config.Provider == schemas.Hetzner {
		for arg, value := range hetznerArgs[key] {
			args[arg] = c.option(value, "kubernetes", key, "extraArgs", arg)
		}
	}
	for arg, value := range k.ExtraArgs {
		args[arg] = c.option(value, "kubernetes", key, "extraArgs", arg)
	}
	return machine.ComponentOptions{Image: c.option(k.Image, "kubernetes", key, "image"), ExtraArgs: args}
}

func (c kubernetes) admissionPlugins() []machine.AdmissionPlugin {
	var plugins []machine.AdmissionPlugin
	for i, p := range c.config.Kubernetes.AdmissionControl {
		plugins = append(plugins, machine.AdmissionPlugin{
			Name:          c.option(p.Name, "kubernetes", "admissionControl", strconv.Itoa(i), "name"),
			Configuration: p.Configuration,
		})
	}
	return plugins
}

// oidc spells out the default of usernamePrefix, which is kube-apiserver's.
func (c kubernetes) oidc() *machine.OIDCOptions {
	k := c.config.Kubernetes.OIDC
	if !k.Enabled {
		return nil
	}
	at := func(value, key string) machine.Option {
		return c.option(value, "kubernetes", "oidc", key)
	}
	prefix := at(k.UsernamePrefix, "usernamePrefix")
	if prefix.Pos.Line == 0 && k.UsernameClaim != "email" {
		prefix = machine.Option{Value: k.IssuerURL + "#", Pos: at("", "issuerUrl").Pos}
	}
	return &machine.OIDCOptions{
		IssuerURL: at(k.IssuerURL, "issuerUrl"), ClientID: at(k.ClientID, "clientId"),
		UsernameClaim: at(k.UsernameClaim, "usernameClaim"), UsernamePrefix: prefix,
		GroupsClaim: at(k.GroupsClaim, "groupsClaim"), GroupsPrefix: at(k.GroupsPrefix, "groupsPrefix"),
	}
}

func (c kubernetes) inlineManifests() []machine.Manifest {
	var manifests []machine.Manifest
	for i, m := range c.config.Kubernetes.InlineManifests {
		at := func(value, key string) machine.Option {
			return c.option(value, "kubernetes", "inlineManifests", strconv.Itoa(i), key)
		}
		manifests = append(manifests, machine.Manifest{Name: at(m.Name, "name"), Source: at(m.Contents, "contents")})
	}
	return manifests
}

// remoteManifests have a name that is made of their URL, as convert-patch makes
// it; a number tells apart those that come out the same.
func (c kubernetes) remoteManifests() []machine.Manifest {
	var manifests []machine.Manifest
	count := map[string]int{}
	for _, source := range c.options(c.config.Kubernetes.RemoteManifests, "kubernetes", "remoteManifests") {
		name := legacy.ManifestName(source.Value)
		if count[name]++; count[name] > 1 {
			name += "-" + strconv.Itoa(count[name])
		}
		manifests = append(manifests, machine.Manifest{Name: machine.Option{Value: name, Pos: source.Pos}, Source: source})
	}
	return manifests
}
