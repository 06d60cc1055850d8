package legacy

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// deniedArgs are the arguments that KubeAPIServerConfig refuses
// (k8s.KubeAPIServerConfigV1Alpha1.validateArgs), with what to do about those
// that have no counterpart. The first prefix that matches counts.
var deniedArgs = []struct{ prefix, advice string }{
	{"oidc-signing-algs", "remove it: with structured authentication kube-apiserver takes every asymmetric algorithm of RFC 7518"},
	{"oidc-ca-file", "write KubeAuthenticationConfig by hand, with the certificate itself in jwt[].issuer.certificateAuthority"},
	{"oidc-", "they move together to KubeAuthenticationConfig, which is replaced as a whole: " +
		"that takes oidc-issuer-url and oidc-client-id in the same patch, and no oidc-ca-file"},
	{"anonymous-auth", "remove it: Talos 1.14 lets anonymous requests reach /livez, /readyz and /healthz only; " +
		"to refuse these too, set anonymous.enabled: false in KubeAuthenticationConfig and startupProbes: false in KubeAPIServerConfig"},
	{"authentication-config", "write the file's content into KubeAuthenticationConfig.configuration"},
	{"authorization-mode", "write a KubeAuthorizerConfig document for each authorizer besides Node and RBAC, which are there"},
	{"authorization-config", "write a KubeAuthorizerConfig document for each authorizer"},
	{"authorization-webhook-", "write a KubeAuthorizerConfig document of type Webhook"},
}

// DeniedArgument tells whether an argument of kube-apiserver, without --, has no
// place in Talos 1.14's KubeAPIServerConfig, and what to do in its stead.
func DeniedArgument(arg string) (advice string, denied bool) {
	for _, d := range deniedArgs {
		if strings.HasPrefix(arg, d.prefix) {
			return d.advice, true
		}
	}
	return "", false
}

// convertAPIServerArgs moves the arguments, those for authentication and
// authorization to documents of their own.
func convertAPIServerArgs(c *conversion, f field) bool {
	if !isMapping(f.value) {
		return c.refuseShape(f, "a mapping")
	}
	allowed := at(mapping(), f.value)
	allowed.Tag, allowed.Style = f.value.Tag, f.value.Style
	denied := at(mapping(), f.value)
	for i := 0; i+1 < len(f.value.Content); i += 2 {
		target := allowed
		if _, no := DeniedArgument(f.value.Content[i].Value); no {
			target = denied
		}
		target.Content = append(target.Content, f.value.Content[i], f.value.Content[i+1])
	}
	if len(allowed.Content) > 0 || len(denied.Content) == 0 {
		if !c.move(f, allowed) {
			return false
		}
	}
	f.value.Content, f.value.Tag = denied.Content, "!!map"
	c.authentication(f)
	c.authorizationMode(f)
	for i := 0; i+1 < len(f.value.Content); i += 2 {
		key := f.value.Content[i]
		advice, _ := DeniedArgument(key.Value)
		c.refuse(field{path: f.path + "." + key.Value, home: &Home{}, key: key}, advice)
	}
	return len(f.value.Content) == 0
}

// authorizationMode drops the mode that Talos 1.14 generates anyway.
func (c *conversion) authorizationMode(f field) {
	modes := strings.Split(text(f.value, "authorization-mode"), ",")
	slices.Sort(modes)
	if slices.Equal(modes, []string{"Node", "RBAC"}) {
		take(f.value, "authorization-mode")
	}
}

// oidcArgs are the flags that have a counterpart in structured authentication.
var oidcArgs = []string{
	"oidc-issuer-url", "oidc-client-id", "oidc-username-claim", "oidc-username-prefix",
	"oidc-groups-claim", "oidc-groups-prefix", "oidc-required-claim",
}

// authentication converts the flags for OpenID Connect, all of them or none,
// and the permission of anonymous requests.
func (c *conversion) authentication(f field) {
	// false is refused: it would break Talos' own start-up probes
	open := text(f.value, "anonymous-auth") == "true"
	issuer := get(f.value, "oidc-issuer-url")
	if issuer == nil && !open || get(f.value, "oidc-ca-file") != nil || !scalars(f.value, oidcArgs) {
		return
	}
	tokens := sequence()
	if issuer != nil {
		if get(f.value, "oidc-client-id") == nil {
			return
		}
		token, ok := tokenIssuer(f.value)
		if !ok {
			return
		}
		tokens.Content = append(tokens.Content, token)
	}
	done := oidcArgs
	if open {
		done = append(slices.Clone(oidcArgs), "anonymous-auth")
	}
	origin := f
	origin.key = firstOf(f.value, done)
	configuration := mapping(scalar("anonymous"), anonymousAccess(open), scalar("jwt"), tokens)
	if c.put(origin, configuration, "KubeAuthenticationConfig", "", "configuration") {
		for _, arg := range done {
			take(f.value, arg)
		}
	}
}

// firstOf returns the first key of a mapping that is among those given.
func firstOf(m *yaml.Node, keys []string) *yaml.Node {
	for i := 0; i+1 < len(m.Content); i += 2 {
		if slices.Contains(keys, m.Content[i].Value) {
			return m.Content[i]
		}
	}
	return nil
}

// scalars reports whether those of the keys that are there hold plain values;
// oidc-required-claim may be a list.
func scalars(m *yaml.Node, keys []string) bool {
	for _, key := range keys {
		v := get(m, key)
		if v == nil || key == "oidc-required-claim" && isSequence(v) {
			continue
		}
		if v.Kind != yaml.ScalarNode || isNull(v) || isDelete(v) {
			return false
		}
	}
	return true
}

// anonymousAccess is what Talos generates (k8s.DefaultAuthenticationConfig),
// without its conditions if all anonymous requests are to be let in.
func anonymousAccess(open bool) *yaml.Node {
	access := mapping(scalar("enabled"), boolean(true))
	if open {
		return access
	}
	conditions := sequence()
	for _, path := range []string{"/livez", "/readyz", "/healthz"} {
		conditions.Content = append(conditions.Content, mapping(scalar("path"), scalar(path)))
	}
	access.Content = append(access.Content, scalar("conditions"), conditions)
	return access
}

// tokenIssuer spells out what the flags mean, with their defaults.
func tokenIssuer(args *yaml.Node) (*yaml.Node, bool) {
	issuer := text(args, "oidc-issuer-url")
	claim := text(args, "oidc-username-claim")
	if claim == "" {
		claim = "sub"
	}
	prefix := text(args, "oidc-username-prefix")
	switch {
	case prefix == "-":
		prefix = ""
	case prefix == "" && claim != "email":
		prefix = issuer + "#"
	}
	claims := mapping(scalar("username"), claimMapping(claim, prefix))
	if groups := text(args, "oidc-groups-claim"); groups != "" {
		claims.Content = append(claims.Content, scalar("groups"), claimMapping(groups, text(args, "oidc-groups-prefix")))
	}
	token := mapping(
		scalar("issuer"), mapping(scalar("url"), scalar(issuer), scalar("audiences"), sequence(scalar(text(args, "oidc-client-id")))),
		scalar("claimMappings"), claims,
	)
	rules, ok := requiredClaims(get(args, "oidc-required-claim"))
	if rules != nil {
		token.Content = append(token.Content, scalar("claimValidationRules"), rules)
	}
	return token, ok
}

func claimMapping(claim, prefix string) *yaml.Node {
	return mapping(scalar("claim"), scalar(claim), scalar("prefix"), scalar(prefix))
}

// requiredClaims splits "name=value" pairs; ok is false for anything else.
func requiredClaims(n *yaml.Node) (rules *yaml.Node, ok bool) {
	if n == nil {
		return nil, true
	}
	items := n.Content
	if n.Kind == yaml.ScalarNode {
		items = nil
		for pair := range strings.SplitSeq(n.Value, ",") {
			items = append(items, scalar(pair))
		}
	}
	rules = sequence()
	for _, item := range items {
		name, value, found := strings.Cut(item.Value, "=")
		if item.Kind != yaml.ScalarNode || !found {
			return nil, false
		}
		rules.Content = append(rules.Content, mapping(scalar("claim"), scalar(name), scalar("requiredValue"), scalar(value)))
	}
	return rules, true
}

// podSecurity is the plugin whose configuration Talos generates.
const podSecurity = "PodSecurity"

// convertAdmission makes a document of each plugin's configuration.
func convertAdmission(c *conversion, f field) bool {
	return c.each(f, func(item field) bool {
		name, configuration := text(item.value, "name"), get(item.value, "configuration")
		switch {
		case name != "" && isDelete(item.value):
			return c.remove(plain(item), "KubeAdmissionControlConfig", name)
		case name == "" || configuration == nil || !only(item.value, "name", "configuration"):
			return c.refuseShape(item, "an item of name and configuration")
		}
		return c.put(plain(item), configuration, "KubeAdmissionControlConfig", name, "configuration")
	})
}

// deleteAdmission converts the deletion of all plugins: of the one that Talos
// generates.
func deleteAdmission(c *conversion, f field) bool {
	return c.remove(f, "KubeAdmissionControlConfig", podSecurity)
}

// convertAuthorizers makes a document of each authorizer. They run in the
// order of documents, the generated Node and RBAC first.
func convertAuthorizers(c *conversion, f field) bool {
	webhook := false
	if isSequence(f.value) {
		for _, item := range f.value.Content {
			switch kind := text(item, "type"); {
			case kind == "Webhook":
				webhook = true
			case webhook:
				return c.refuse(f, "a webhook before Node or RBAC would come after them: delete the generated KubeAuthorizerConfig documents and write all of them in order")
			}
		}
	}
	return c.each(f, func(item field) bool {
		kind, name := text(item.value, "type"), text(item.value, "name")
		if kind == "Node" || kind == "RBAC" {
			name = strings.ToLower(kind)
		}
		if kind == "" || name == "" || isDelete(item.value) || !only(item.value, "type", "name", "webhook") {
			return c.refuseShape(item, "an item of type, name and webhook")
		}
		ok := c.put(plain(item), get(item.value, "type"), "KubeAuthorizerConfig", name, "type")
		if hook := get(item.value, "webhook"); ok && hook != nil {
			ok = c.put(bare(plain(item)), hook, "KubeAuthorizerConfig", name, "webhook")
		}
		return ok
	})
}
