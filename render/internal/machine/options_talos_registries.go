package machine

import "encoding/base64"

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

// registries are keys of a map, or documents.
func (b registryWriter) registries(o RegistryOptions) {
	for _, m := range o.Mirrors {
		if p := b.at("machine.registries.mirrors"); p.moved() {
			b.mirrorDocument(p.id.Kind, m)
		} else {
			b.mirror(p, m)
		}
	}
	for _, a := range o.Auth {
		p := b.access(a.Registry, "auth", "RegistryAuthConfig")
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
		p, ca := b.access(t.Registry, "tls", "RegistryTLSConfig"), t.CA
		if !p.moved() {
			ca.Value = base64.StdEncoding.EncodeToString([]byte(ca.Value))
		}
		b.text(p, ca, "ca")
		b.truth(p, t.Insecure, "insecureSkipVerify")
	}
}

// access is where the way to a registry is set: below a key, or in a document of a kind.
func (b registryWriter) access(registry Option, key, kind string) place {
	p := b.at("machine.registries.config")
	if p.moved() {
		return b.named(kind, registry)
	}
	return p.below(registry.Value, key)
}

// mirror sets a mirror in the v1alpha1 document, where overridePath is about all
// endpoints.
func (b registryWriter) mirror(mirrors place, m RegistryMirror) {
	p := mirrors.below(m.Registry.Value)
	b.addAll(p, m.Endpoints, "endpoints")
	b.truth(p, m.OverridePath, "overridePath")
	b.truth(p, m.SkipFallback, "skipFallback")
}

func (b registryWriter) mirrorDocument(kind string, m RegistryMirror) {
	p := b.named(kind, m.Registry)
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
func (b *optionBuilder) truth(p place, o Option, path ...string) {
	if o.Value != "" {
		b.put(p, boolNode(true, o.Pos), path...)
	}
}
