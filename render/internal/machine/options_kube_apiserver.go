package machine

import (
	"github.com/siderolabs/talos/pkg/machinery/config/types/k8s"
	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render/internal/nodefile"
)

// AdmissionPlugin is a plugin of the API server with its configuration, which
// is taken as a whole.
type AdmissionPlugin struct {
	Name          Option
	Configuration *yaml.Node // a mapping, with its place in cluster.yaml
}

// OIDCOptions describe an OpenID Connect provider whose users can log in.
type OIDCOptions struct {
	IssuerURL, ClientID           Option
	UsernameClaim, UsernamePrefix Option // no prefix if that has no value
	GroupsClaim, GroupsPrefix     Option
}

// podSecurity is the admission plugin that Talos configures by itself.
const podSecurity = "PodSecurity"

// apiServerWriter writes what belongs to the API server.
type apiServerWriter struct{ *optionBuilder }

func (b apiServerWriter) apiServer(o KubernetesOptions) {
	b.component("cluster.apiServer", o.APIServer)
	b.addAll(b.at("cluster.apiServer.certSANs"), o.CertSANs)
	b.admission(o.AdmissionPlugins)
	if o.OIDC != nil {
		b.oidc(*o.OIDC)
	}
}

// admission sets the configuration of plugins in place of what Talos generates
// for the same plugin.
func (b apiServerWriter) admission(plugins []AdmissionPlugin) {
	for _, plugin := range plugins {
		name, configuration := plugin.Name, copyNode(plugin.Configuration)
		p := b.at("cluster.apiServer.admissionControl")
		if p.moved() {
			configuration.Tag = tagReplace
			b.put(place{b.named(p.id.Kind, name).id, p.path}, configuration)
			continue
		}
		item := mappingNode(name.Pos)
		put(item, "name", stringNode(name.Value, name.Pos))
		put(item, "configuration", configuration)
		if name.Value == podSecurity {
			item.Tag = tagReplace
		}
		b.append(p, item)
	}
}

// oidc sets arguments. Where the API server has a document, a configuration of
// authentication is in their place, which Talos takes as a whole.
func (b apiServerWriter) oidc(o OIDCOptions) {
	if args := b.at("cluster.apiServer.extraArgs"); !args.moved() {
		b.oidcArgs(args, o)
		return
	}
	pos := o.IssuerURL.Pos
	configuration, err := defaultAuthentication(pos)
	if err != nil {
		b.problems.AddErr(err)
		return
	}
	put(configuration, "jwt", sequenceNode(jwtAuthenticator(o)))
	b.put(place{id: kind("KubeAuthenticationConfig")}, configuration, "configuration")
}

// oidcArgs spells "no prefix" as kube-apiserver does: for users it is -.
func (b apiServerWriter) oidcArgs(p place, o OIDCOptions) {
	if o.UsernamePrefix.Value == "" {
		o.UsernamePrefix.Value = "-"
	}
	for _, arg := range []struct {
		name string
		Option
	}{
		{"oidc-issuer-url", o.IssuerURL},
		{"oidc-client-id", o.ClientID},
		{"oidc-username-claim", o.UsernameClaim},
		{"oidc-username-prefix", o.UsernamePrefix},
		{"oidc-groups-claim", o.GroupsClaim},
		{"oidc-groups-prefix", o.GroupsPrefix},
	} {
		b.text(p, arg.Option, arg.name)
	}
}

// defaultAuthentication is what Talos generates, but for those who log in: the
// probes of the API server need no credentials.
func defaultAuthentication(pos diag.Pos) (*yaml.Node, error) {
	var generated yaml.Node
	if err := generated.Encode(k8s.DefaultAuthenticationConfig().AuthConfig.Object); err != nil {
		return nil, err
	}
	configuration := mappingNode(pos)
	for i := 0; i+1 < len(generated.Content); i += 2 {
		if key := generated.Content[i].Value; key != "jwt" {
			put(configuration, key, placed(generated.Content[i+1], pos))
		}
	}
	return configuration, nil
}

// placed copies a tree to a place in cluster.yaml.
func placed(n *yaml.Node, pos diag.Pos) *yaml.Node {
	c := *n
	c.Line, c.Column, c.Content = pos.Line, pos.Column, nil
	nodefile.Set(&c, pos)
	for _, child := range n.Content {
		c.Content = append(c.Content, placed(child, pos))
	}
	return &c
}

func jwtAuthenticator(o OIDCOptions) *yaml.Node {
	issuer := mappingNode(o.IssuerURL.Pos)
	put(issuer, "url", stringNode(o.IssuerURL.Value, o.IssuerURL.Pos))
	put(issuer, "audiences", sequenceNode(stringNode(o.ClientID.Value, o.ClientID.Pos)))
	claims := mappingNode(o.IssuerURL.Pos)
	put(claims, "username", claimMapping(o.UsernameClaim, o.UsernamePrefix))
	put(claims, "groups", claimMapping(o.GroupsClaim, o.GroupsPrefix))
	jwt := mappingNode(o.IssuerURL.Pos)
	put(jwt, "issuer", issuer)
	put(jwt, "claimMappings", claims)
	return jwt
}

func claimMapping(claim, prefix Option) *yaml.Node {
	m := mappingNode(claim.Pos)
	put(m, "claim", stringNode(claim.Value, claim.Pos))
	put(m, "prefix", stringNode(prefix.Value, prefix.Pos))
	return m
}
