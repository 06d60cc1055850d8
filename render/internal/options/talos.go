package options

import (
	"slices"
	"strconv"
	"strings"

	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/render/internal/config"
	"github.com/talosgen/talosgen/render/internal/machine"
	"github.com/talosgen/talosgen/render/internal/subst"
)

// talos makes the options of the operating system.
type talos struct {
	places
	scope *subst.Scope
}

// of are the options that all nodes of a role have in common; sans are the names
// in the certificates of control planes.
func (c talos) of(role string, sans []machine.Option) machine.TalosOptions {
	t := c.config.Talos
	o := machine.TalosOptions{
		CertSANs:    c.options(t.CertSANs, keys("talos.certSans")...),
		Encryption:  c.encryption(),
		Sysctls:     c.sysctls(),
		Nameservers: c.nameservers(),
		TimeServers: c.options(t.TimeServers, keys("talos.timeServers")...),
		Registries:  c.registries(),
		Discovery: machine.DiscoveryOptions{
			NoService: c.truth(!t.Discovery.Service, keys("talos.discovery.service")...), Kubernetes: c.truth(t.Discovery.Kubernetes, keys("talos.discovery.kubernetes")...),
		},
		KubeSpan: c.truth(t.KubeSpan.Enabled, keys("talos.kubeSpan.enabled")...),
		KubePrism: machine.KubePrismOptions{
			Disabled: c.truth(!t.KubePrism.Enabled, keys("talos.kubePrism.enabled")...),
			Port:     c.option(strconv.Itoa(t.KubePrism.Port), keys("talos.kubePrism.port")...),
		},
		HostDNS: machine.HostDNSOptions{
			Enabled:              c.option(strconv.FormatBool(t.HostDNS.Enabled), keys("talos.hostDns.enabled")...),
			ForwardKubeDNSToHost: c.option(strconv.FormatBool(t.HostDNS.ForwardKubeDNSToHost), keys("talos.hostDns.forwardKubeDnsToHost")...),
			ResolveMemberNames:   c.option(strconv.FormatBool(t.HostDNS.ResolveMemberNames), keys("talos.hostDns.resolveMemberNames")...),
		},
		KeepLayers: c.truth(!t.DiscardUnpackedLayers, keys("talos.discardUnpackedLayers")...),
	}
	c.lists(&o)
	if role == config.ControlPlane {
		o.CertSANs = sans // people come to control planes, which lead on to workers
	}
	if access := t.APIAccess; *access.Enabled {
		o.APIAccess = &machine.APIAccess{
			Enabled: c.option("true", keys("talos.apiAccess.enabled")...),
			Roles:   c.options(access.Roles, keys("talos.apiAccess.roles")...), Namespaces: c.options(access.Namespaces, keys("talos.apiAccess.namespaces")...),
		}
	}
	return o
}

// lists adds the options that are lists of mappings.
func (c talos) lists(o *machine.TalosOptions) {
	t := c.config.Talos
	for i, m := range t.KernelModules {
		at := item("talos.kernelModules", i)
		o.KernelModules = append(o.KernelModules, machine.KernelModule{
			Name: c.option(m.Name, keys(at+".name")...), Parameters: c.options(m.Parameters, keys(at+".parameters")...),
		})
	}
	for i, h := range t.StaticHosts {
		at := item("talos.staticHosts", i)
		o.StaticHosts = append(o.StaticHosts, machine.StaticHost{
			Address: c.option(h.IP, keys(at+".ip")...), Names: c.options(h.Hostnames, keys(at+".hostnames")...),
		})
	}
	for i, r := range t.TrustedRoots {
		at := item("talos.trustedRoots", i)
		o.TrustedRoots = append(o.TrustedRoots, machine.Manifest{
			Name: c.option(r.Name, keys(at+".name")...), Source: c.option(r.Certificates, keys(at+".certificates")...),
		})
	}
	for i, d := range t.Logging.Destinations {
		at := item("talos.logging.destinations", i)
		o.Logs = append(o.Logs, machine.LogDestination{
			Endpoint: c.option(d.Endpoint, keys(at+".endpoint")...), Format: c.option(d.Format, keys(at+".format")...),
			ExtraTags: c.mapping(d.ExtraTags, keys(at+".extraTags")...),
		})
	}
}

// encryptionKeys are Talos' words for the kinds of keys.
var encryptionKeys = map[string]string{"nodeId": "nodeID", "tpm": "tpm"}

func (c talos) encryption() machine.EncryptionOptions {
	e := c.config.Talos.DiskEncryption
	return machine.EncryptionOptions{
		State:     c.truth(*e.State, keys("talos.diskEncryption.state")...),
		Ephemeral: c.truth(*e.Ephemeral, keys("talos.diskEncryption.ephemeral")...),
		Key:       c.option(encryptionKeys[e.Key], keys("talos.diskEncryption.key")...),
	}
}

// nameservers leaves out those with IPv6 addresses where nodes have none.
func (c talos) nameservers() []machine.Option {
	all := c.options(c.config.Talos.Nameservers, keys("talos.nameservers")...)
	if c.config.Network.IPv6 {
		return all
	}
	return slices.DeleteFunc(all, func(o machine.Option) bool { return strings.Contains(o.Value, ":") })
}

// disableIPv6 are the kernel parameters by which links have no IPv6 addresses.
var disableIPv6 = []string{"net.ipv6.conf.all.disable_ipv6", "net.ipv6.conf.default.disable_ipv6"}

func (c talos) sysctls() machine.OptionMap {
	all := machine.OptionMap{}
	if !c.config.Network.IPv6 {
		for _, name := range disableIPv6 {
			all[name] = c.option("1", keys("network.ipv6")...)
		}
	}
	for name, o := range c.mapping(c.config.Talos.Sysctls, keys("talos.sysctls")...) {
		all[name] = o
	}
	return all
}

func (c talos) registries() machine.RegistryOptions {
	r := c.config.Talos.Registries
	var o machine.RegistryOptions
	for i, m := range r.Mirrors {
		at := item("talos.registries.mirrors", i)
		o.Mirrors = append(o.Mirrors, machine.RegistryMirror{
			Registry: c.option(m.Registry, keys(at+".registry")...), Endpoints: c.options(m.Endpoints, keys(at+".endpoints")...),
			OverridePath: c.truth(m.OverridePath, keys(at+".overridePath")...), SkipFallback: c.truth(m.SkipFallback, keys(at+".skipFallback")...),
		})
	}
	for i, a := range r.Auth {
		at := item("talos.registries.auth", i)
		user, _ := c.scope.Lookup(a.UsernameVariable) // config has looked for both
		o.Auth = append(o.Auth, machine.RegistryAuth{
			Registry: c.option(a.Registry, keys(at+".registry")...), UsernameReadable: !user.Secret,
			Username: c.secretOption(a.UsernameVariable, keys(at+".usernameVariable")...),
			Password: c.secretOption(a.PasswordVariable, keys(at+".passwordVariable")...),
		})
	}
	for i, t := range r.TLS {
		at := item("talos.registries.tls", i)
		o.TLS = append(o.TLS, machine.RegistryTLS{
			Registry: c.option(t.Registry, keys(at+".registry")...), CA: c.option(t.CA, keys(at+".ca")...),
			Insecure: c.truth(t.InsecureSkipVerify, keys(at+".insecureSkipVerify")...),
		})
	}
	return o
}

// secretOption is the value of a secret variable, with the place that names it.
func (c talos) secretOption(variable string, path ...string) machine.SecretOption {
	v, _ := c.scope.Lookup(variable) // config has looked for it
	return machine.SecretOption{Value: secret.New(v.Value), Pos: c.config.Pos(path...)}
}
