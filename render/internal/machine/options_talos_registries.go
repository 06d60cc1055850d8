package machine

import (
	"encoding/base64"

	talosconfig "github.com/siderolabs/talos/pkg/machinery/config"
)

// RegistryOptions say where container images come from.
type RegistryOptions struct {
	Mirrors []RegistryMirror
	Auth    []RegistryAuth
	TLS     []RegistryTLS
}

// RegistryMirror says what is asked instead of a registry.
type RegistryMirror struct {
	Registry                   Option
	Endpoints                  []Option
	OverridePath, SkipFallback Option // "true", or no value
}

// RegistryAuth holds the credentials of a registry.
type RegistryAuth struct {
	Registry           Option
	Username, Password SecretOption
	// UsernameReadable says that the user is no secret.
	UsernameReadable bool
}

// RegistryTLS says how the certificate of a registry is checked.
type RegistryTLS struct {
	Registry Option
	CA       Option // in PEM
	Insecure Option // "true", or no value
}

// registryWriter writes where images come from.
type registryWriter struct{ *optionBuilder }

// registries: in documents since 1.12.
func (b registryWriter) registries(o RegistryOptions) {
	documents := b.since(talosconfig.TalosVersion1_12)
	for _, m := range o.Mirrors {
		if documents {
			b.mirrorDocument(m)
		} else {
			b.mirror(m)
		}
	}
	for _, a := range o.Auth {
		p := place{MainID, []string{"machine", "registries", "config", a.Registry.Value, "auth"}}
		if documents {
			p = b.named("RegistryAuthConfig", a.Registry)
		}
		username := stringNode(a.Username.Value.Reveal(), a.Username.Pos)
		if !a.UsernameReadable {
			b.keepSecret(username)
		}
		password := stringNode(a.Password.Value.Reveal(), a.Password.Pos)
		b.keepSecret(password)
		b.put(p, username, "username")
		b.put(p, password, "password")
	}
	for _, t := range o.TLS {
		p := place{MainID, []string{"machine", "registries", "config", t.Registry.Value, "tls"}}
		ca := base64.StdEncoding.EncodeToString([]byte(t.CA.Value))
		if documents {
			p, ca = b.named("RegistryTLSConfig", t.Registry), t.CA.Value
		}
		if ca != "" {
			b.put(p, stringNode(ca, t.CA.Pos), "ca")
		}
		b.truth(p, t.Insecure, "insecureSkipVerify")
	}
}

// mirror sets a mirror in the v1alpha1 document, where overridePath is about all
// endpoints.
func (b registryWriter) mirror(m RegistryMirror) {
	p := place{MainID, []string{"machine", "registries", "mirrors", m.Registry.Value}}
	b.addAll(p, m.Endpoints, "endpoints")
	b.truth(p, m.OverridePath, "overridePath")
	b.truth(p, m.SkipFallback, "skipFallback")
}

func (b registryWriter) mirrorDocument(m RegistryMirror) {
	p := b.named("RegistryMirrorConfig", m.Registry)
	for _, e := range m.Endpoints {
		item := mappingNode(e.Pos)
		put(item, "url", stringNode(e.Value, e.Pos))
		if m.OverridePath.Value != "" {
			put(item, "overridePath", boolNode(true, m.OverridePath.Pos))
		}
		b.append(p, item, "endpoints")
	}
	b.truth(p, m.SkipFallback, "skipFallback")
}

// truth sets what is true; what has no value is left out.
func (b *optionBuilder) truth(p place, o Option, key string) {
	if o.Value != "" {
		b.put(p, boolNode(true, o.Pos), key)
	}
}
