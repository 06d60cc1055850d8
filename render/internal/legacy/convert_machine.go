package legacy

import (
	"strings"

	"go.yaml.in/yaml/v4"
)

// kubePrismPort is constants.DefaultKubePrismPort.
const kubePrismPort = "7445"

// convertHostname fixes the name, which needs the generated one turned off.
func convertHostname(c *conversion, f field) bool {
	return c.put(bare(f), scalar("off"), "HostnameConfig", "", "auto") && c.move(f, f.value)
}

// deleteHostname goes back to the generated name.
func deleteHostname(c *conversion, f field) bool {
	return c.put(bare(f), scalar("stable"), "HostnameConfig", "", "auto") && c.move(f, f.value)
}

// convertStableHostname turns the switch into the kind of generated name.
func convertStableHostname(c *conversion, f field) bool {
	if stable, ok := boolOf(f.value); !ok || !stable {
		return c.refuse(f, "Talos 1.14 generates stable host names only: set HostnameConfig.hostname, or remove the line")
	}
	return c.move(f, at(scalar("stable"), f.value))
}

// convertNameservers makes an item with an address of each name server.
func convertNameservers(c *conversion, f field) bool {
	if !isSequence(f.value) {
		return c.refuseShape(f, "a list")
	}
	servers := at(sequence(), f.value)
	servers.Tag = f.value.Tag
	for _, item := range f.value.Content {
		if item.Kind != yaml.ScalarNode || isNull(item) {
			return c.refuseShape(f, "a list of addresses")
		}
		address := *item
		address.HeadComment, address.FootComment = "", ""
		server := mapping(scalar("address"), &address)
		server.HeadComment, server.FootComment = item.HeadComment, item.FootComment
		server.Line, server.Column = item.Line, item.Column
		servers.Content = append(servers.Content, server)
	}
	return c.move(f, servers)
}

// convertHosts makes a document of each address in /etc/hosts.
func convertHosts(c *conversion, f field) bool {
	return c.each(f, func(item field) bool {
		ip, aliases := text(item.value, "ip"), get(item.value, "aliases")
		if ip == "" || aliases == nil || isDelete(item.value) || !only(item.value, "ip", "aliases") {
			return c.refuseShape(item, "an item of ip and aliases")
		}
		return c.put(plain(item), aliases, "StaticHostConfig", ip, "hostnames")
	})
}

// convertKubePrism turns the switch into the presence of a document with a port.
func convertKubePrism(c *conversion, f field) bool {
	enabled, ok := tristate(get(f.value, "enabled"), true)
	switch {
	case !ok || !only(f.value, "enabled", "port"):
		return c.refuseShape(f, "enabled (true or false) and port")
	case !enabled:
		return c.remove(f, f.home.Kind, "")
	}
	if port := get(f.value, "port"); port != nil {
		return c.move(f, port)
	}
	return c.move(f, number(kubePrismPort))
}

// convertAPIAccess turns the switch into the presence of a document.
func convertAPIAccess(c *conversion, f field) bool {
	enabled, ok := tristate(get(f.value, "enabled"), true)
	switch {
	case !ok || !only(f.value, "enabled", "allowedRoles", "allowedKubernetesNamespaces"):
		return c.refuseShape(f, "enabled (true or false), allowedRoles and allowedKubernetesNamespaces")
	case !enabled:
		return c.remove(f, f.home.Kind, "")
	}
	origin := f
	for _, key := range []string{"allowedRoles", "allowedKubernetesNamespaces"} {
		if value := get(f.value, key); value != nil && !c.put(origin, value, f.home.Kind, "", key) {
			return false
		}
		origin = bare(f)
	}
	return true
}

// convertModules makes a document of each kernel module.
func convertModules(c *conversion, f field) bool {
	return c.each(f, func(item field) bool {
		name := text(item.value, "name")
		switch {
		case name != "" && isDelete(item.value):
			return c.remove(plain(item), "KernelModuleConfig", name)
		case name == "" || !only(item.value, "name", "parameters"):
			return c.refuseShape(item, "an item of name and parameters")
		}
		return c.fields(item, "KernelModuleConfig", name, "parameters", "parameters")
	})
}

// fields makes a document of an item, from pairs of old and new field names.
func (c *conversion) fields(item field, kind, name string, pairs ...string) bool {
	doc := c.documents.find(kind, name, item.key)
	if doc.made && doc.root.HeadComment == "" {
		doc.root.Content[0].HeadComment = item.value.HeadComment
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		value := get(item.value, pairs[i])
		if value == nil || isNull(value) {
			continue
		}
		if !c.put(bare(item), value, kind, name, strings.Split(pairs[i+1], ".")...) {
			return false
		}
	}
	return true
}

// convertPods makes a document of each static pod, named after it.
func convertPods(c *conversion, f field) bool {
	return c.each(f, func(item field) bool {
		name := text(get(item.value, "metadata"), "name")
		if name == "" || isDelete(item.value) {
			return c.refuseShape(item, "a pod with a name")
		}
		pod := *item.value
		pod.HeadComment = ""
		return c.put(plain(item), &pod, "KubeStaticPodConfig", name, "pod")
	})
}

// convertInlineManifests makes a document of each manifest.
func convertInlineManifests(c *conversion, f field) bool {
	return c.each(f, func(item field) bool {
		name := text(item.value, "name")
		switch {
		case name != "" && isDelete(item.value):
			return c.remove(plain(item), "KubeInlineManifestConfig", name)
		case !isName(name) || get(item.value, "contents") == nil || !only(item.value, "name", "contents"):
			return c.refuseShape(item, "an item of contents and a name in lower case (DNS-1123)")
		}
		return c.fields(item, "KubeInlineManifestConfig", name, "contents", "manifest")
	})
}

// convertExtraManifests makes a document of each URL, named after its file.
func convertExtraManifests(c *conversion, f field) bool {
	if get(f.parent, "extraManifestHeaders") != nil {
		return c.refuse(f, "with extraManifestHeaders, write the KubeExternalManifestConfig documents by hand")
	}
	return c.each(f, func(item field) bool {
		if item.value.Kind != yaml.ScalarNode {
			return c.refuseShape(item, "a URL")
		}
		return c.put(plain(item), item.value, "KubeExternalManifestConfig", ManifestName(item.value.Value), "url")
	})
}

// ManifestName makes a name of a manifest's URL that tells versions apart: its
// path without the scheme, in DNS-1123.
func ManifestName(url string) string {
	_, rest, found := strings.Cut(url, "://")
	if !found {
		rest = url
	}
	rest = strings.TrimSuffix(strings.TrimSuffix(rest, ".yaml"), ".yml")
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '-'
	}, rest)
	if len(name) > 63 {
		name = name[len(name)-63:]
	}
	if name = strings.Trim(name, "-"); name == "" {
		return "manifest"
	}
	return name
}

// isName reports whether Talos takes a name (DNS-1123), as far as can be told
// before variables are filled in.
func isName(name string) bool {
	for _, r := range name {
		if (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '.' {
			return strings.Contains(name, "${")
		}
	}
	return name != ""
}
