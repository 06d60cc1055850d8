package options

import (
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/render/internal/config"
	"github.com/talosgen/talosgen/render/internal/machine"
	"github.com/talosgen/talosgen/render/internal/subst"
	"github.com/talosgen/talosgen/schemas"
)

// talos makes the options of the operating system.
type talos struct {
	places
	scope *subst.Scope
}

// of are the options that all nodes of a role have in common; sans are the names
// in the certificates of control planes.
func (c talos) of(role string, sans []machine.Option) machine.TalosOptions {
	t := &c.config.Talos
	o := machine.TalosOptions{
		CertSANs:    c.texts(&t.CertSANs),
		Encryption:  c.encryption(),
		OpenVar:     c.off(&t.SecureVar),
		Sysctls:     c.sysctls(),
		UdevRules:   c.texts(&t.UdevRules),
		Nameservers: c.nameservers(),
		TimeServers: c.texts(&t.TimeServers),
		Registries:  c.registries(),
		Discovery: machine.DiscoveryOptions{
			NoService: c.off(&t.Discovery.Service), Kubernetes: c.on(&t.Discovery.Kubernetes),
		},
		KubeSpan: c.on(&t.KubeSpan.Enabled),
		KubePrism: machine.KubePrismOptions{
			Disabled: c.off(&t.KubePrism.Enabled),
			Port:     c.number(&t.KubePrism.Port),
		},
		HostDNS: machine.HostDNSOptions{
			Enabled:              c.boolean(&t.HostDNS.Enabled),
			ForwardKubeDNSToHost: c.boolean(&t.HostDNS.ForwardKubeDNSToHost),
			ResolveMemberNames:   c.boolean(&t.HostDNS.ResolveMemberNames),
		},
		KeepLayers: c.off(&t.DiscardUnpackedLayers),
	}
	c.lists(&o)
	if role == config.ControlPlane {
		o.CertSANs = sans // people come to control planes, which lead on to workers
	}
	if access := &t.APIAccess; *access.Enabled {
		o.APIAccess = &machine.APIAccess{
			Enabled: c.said("true", &access.Enabled),
			Roles:   c.texts(&access.Roles), Namespaces: c.texts(&access.Namespaces),
		}
	}
	return o
}

// lists adds the options that are lists of mappings.
func (c talos) lists(o *machine.TalosOptions) {
	t := &c.config.Talos
	o.KernelModules = each(t.KernelModules, func(m *schemas.KernelModule) machine.KernelModule {
		return machine.KernelModule{Name: c.text(&m.Name), Parameters: c.texts(&m.Parameters)}
	})
	o.StaticHosts = each(t.StaticHosts, func(h *schemas.StaticHost) machine.StaticHost {
		return machine.StaticHost{Address: c.text(&h.IP), Names: c.texts(&h.Hostnames)}
	})
	o.TrustedRoots = each(t.TrustedRoots, func(r *schemas.TrustedRoots) machine.Manifest {
		return machine.Manifest{Name: c.text(&r.Name), Source: c.text(&r.Certificates)}
	})
	o.Logs = each(t.Logging.Destinations, func(d *schemas.LogDestination) machine.LogDestination {
		return machine.LogDestination{Endpoint: c.text(&d.Endpoint), Format: c.text(&d.Format), ExtraTags: c.mapping(&d.ExtraTags)}
	})
}

// encryptionKeys are Talos' words for the kinds of keys.
var encryptionKeys = map[string]string{"nodeId": "nodeID", "tpm": "tpm"}

func (c talos) encryption() machine.EncryptionOptions {
	e := &c.config.Talos.DiskEncryption
	return machine.EncryptionOptions{
		State:     c.truth(*e.State, &e.State),
		Ephemeral: c.truth(*e.Ephemeral, &e.Ephemeral),
		Key:       c.said(encryptionKeys[e.Key], &e.Key),
	}
}

// nameservers leaves out those with IPv6 addresses where nodes have none.
func (c talos) nameservers() []machine.Option {
	all := c.texts(&c.config.Talos.Nameservers)
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
			all[name] = c.said("1", &c.config.Network.IPv6)
		}
	}
	for name, o := range c.mapping(&c.config.Talos.Sysctls) {
		all[name] = o
	}
	return all
}

func (c talos) registries() machine.RegistryOptions {
	r := &c.config.Talos.Registries
	return machine.RegistryOptions{
		Mirrors: each(r.Mirrors, func(m *schemas.RegistryMirror) machine.RegistryMirror {
			return machine.RegistryMirror{
				Registry: c.text(&m.Registry), Endpoints: c.texts(&m.Endpoints),
				OverridePath: c.on(&m.OverridePath), SkipFallback: c.on(&m.SkipFallback),
			}
		}),
		Auth: each(r.Auth, func(a *schemas.RegistryAuth) machine.RegistryAuth {
			user, _ := c.scope.Lookup(a.UsernameVariable) // config has looked for both
			return machine.RegistryAuth{
				Registry: c.text(&a.Registry), UsernameReadable: !user.Secret,
				Username: c.secretOption(&a.UsernameVariable), Password: c.secretOption(&a.PasswordVariable),
			}
		}),
		TLS: each(r.TLS, func(t *schemas.RegistryTLS) machine.RegistryTLS {
			return machine.RegistryTLS{Registry: c.text(&t.Registry), CA: c.text(&t.CA), Insecure: c.on(&t.InsecureSkipVerify)}
		}),
	}
}

// secretOption is the value of a secret variable, with the place that names it.
func (c talos) secretOption(variable *string) machine.SecretOption {
	v, _ := c.scope.Lookup(*variable) // config has looked for it
	return machine.SecretOption{Value: secret.New(v.Value), Pos: c.config.At(variable)}
}
