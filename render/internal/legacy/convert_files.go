package legacy

import (
	"strings"

	"go.yaml.in/yaml/v4"
)

// criPart is the one file by which older contracts customize containerd.
const criPart = "/etc/cri/conf.d/20-customization.part"

// convertFiles makes a document of each file below /etc.
func convertFiles(c *conversion, f field) bool {
	return c.each(f, func(item field) bool {
		item.home = &Home{} // which document took it over depends on the path
		path, name := text(item.value, "path"), ""
		if rest, ok := strings.CutPrefix(path, "/etc/"); ok {
			name = rest
		}
		switch {
		case isDelete(item.value) || !only(item.value, "path", "content", "permissions", "op"):
			return c.refuseShape(item, "an item of path, content, permissions and op")
		case path == criPart:
			return c.fields(item, "CRICustomizationConfig", "20-customization", "content", "content")
		case name == "" || strings.HasPrefix(name, "cri/"):
			return c.refuse(item, "Talos 1.14 has documents for files below /etc only (EtcFileConfig), and CRICustomizationConfig for containerd")
		case text(item.value, "op") == "append":
			return c.refuse(item, "EtcFileConfig writes whole files: give the whole content")
		}
		return c.fields(item, "EtcFileConfig", name, "permissions", "mode", "content", "contents")
	})
}

// convertMirrors makes a document of each registry's mirrors.
func convertMirrors(c *conversion, f field) bool {
	return c.registries(f, func(registry field) bool {
		if !only(registry.value, "endpoints", "overridePath", "skipFallback") {
			return c.refuseShape(registry, "endpoints, overridePath and skipFallback")
		}
		name, override := registry.key.Value, get(registry.value, "overridePath")
		if urls := get(registry.value, "endpoints"); urls != nil {
			endpoints, ok := mirrorEndpoints(urls, override)
			if !ok {
				return c.refuseShape(registry, "a list of URLs")
			}
			if !c.put(registry, endpoints, "RegistryMirrorConfig", name, "endpoints") {
				return false
			}
		} else if override != nil {
			return c.refuse(registry, "overridePath is a field of each endpoint: give the endpoints in the same patch")
		}
		if skip := get(registry.value, "skipFallback"); skip != nil {
			return c.put(bare(registry), skip, "RegistryMirrorConfig", name, "skipFallback")
		}
		return true
	})
}

// mirrorEndpoints makes an item of each URL.
func mirrorEndpoints(urls, override *yaml.Node) (*yaml.Node, bool) {
	if !isSequence(urls) {
		return nil, false
	}
	endpoints := sequence()
	endpoints.Tag = urls.Tag
	for _, url := range urls.Content {
		if url.Kind != yaml.ScalarNode {
			return nil, false
		}
		endpoint := mapping(scalar("url"), url)
		if override != nil {
			endpoint.Content = append(endpoint.Content, scalar("overridePath"), override)
		}
		endpoints.Content = append(endpoints.Content, endpoint)
	}
	return endpoints, true
}

// convertRegistries makes documents of each registry's credentials and trust.
func convertRegistries(c *conversion, f field) bool {
	return c.registries(f, func(registry field) bool {
		name, auth, tls := registry.key.Value, get(registry.value, "auth"), get(registry.value, "tls")
		switch {
		case !only(registry.value, "auth", "tls") || !only(auth, "username", "password", "auth", "identityToken") || !only(tls, "ca", "insecureSkipVerify"):
			return c.refuse(registry, "write RegistryAuthConfig and RegistryTLSConfig by hand; certificates and keys are PEM there, not base64")
		case tls != nil && get(tls, "ca") != nil:
			certificate, ok := pemOf(get(tls, "ca"))
			if !ok {
				return c.refuseShape(registry, "a certificate in base64")
			}
			get(tls, "ca").Value, get(tls, "ca").Style = certificate.Value, yaml.LiteralStyle
		}
		if auth != nil && !c.fields(part(registry, auth), "RegistryAuthConfig", name,
			"username", "username", "password", "password", "auth", "auth", "identityToken", "identityToken") {
			return false
		}
		return tls == nil || c.fields(part(registry, tls), "RegistryTLSConfig", name, "ca", "ca", "insecureSkipVerify", "insecureSkipVerify")
	})
}

// part is a field whose value is a part of another's.
func part(f field, value *yaml.Node) field {
	f.value = value
	return f
}

// registries converts a mapping of registries one by one.
func (c *conversion) registries(f field, convert func(registry field) bool) bool {
	if !isMapping(f.value) || f.value.Tag == "!replace" {
		return c.refuseShape(f, "a mapping that adds to those of other patches")
	}
	var left []*yaml.Node
	for i := 0; i+1 < len(f.value.Content); i += 2 {
		key, value := f.value.Content[i], f.value.Content[i+1]
		registry := field{path: f.path + "." + key.Value, home: f.home, key: key, value: value}
		if isDelete(value) {
			refuseDelete(c, registry)
		} else if convert(registry) {
			continue
		}
		left = append(left, key, value)
	}
	f.value.Content = left
	return len(left) == 0
}
