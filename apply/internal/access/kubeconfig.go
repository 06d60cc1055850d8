package access

import (
	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
)

// Server is where a Kubernetes API is.
type Server struct {
	URL string
	// A name that its certificate holds, if it does not hold that of the URL.
	TLSName string
}

// OIDC is a provider that people log in with.
type OIDC struct{ IssuerURL, ClientID string }

// Kubeconfig puts a context with a client certificate for somebody into a
// configuration of kubectl, and makes it the current one. The namespace and other
// settings that the context and its cluster had stay.
func (a *Authority) Kubeconfig(r Request, server Server, who Subject) (*File, error) {
	doc, user, err := a.kubeconfig(r, server, who.User)
	if err != nil {
		return nil, err
	}
	id, kept, err := r.identity(a, who, ECDSA, text(user, "client-certificate-data"), text(user, "client-key-data"))
	if err != nil {
		return nil, err
	}
	remove(user, otherCredentials...)
	set(user, clientCertificate, scalar(encode64(id.Certificate)))
	set(user, clientKey, scalar(encode64([]byte(id.Key.Reveal()))))
	return r.file(doc, id, kept, style{indent: 2, compact: true})
}

// The keys of a user with a certificate in the file itself.
const (
	clientCertificate = "client-certificate-data"
	clientKey         = "client-key-data"
)

// oidcUser is the user of a kubeconfig that a provider says who they are.
const oidcUser = "oidc"

// KubeconfigOIDC is [Authority.Kubeconfig] for people who log in with a provider:
// the file has no key, and is the same for all of them. kubectl asks the plugin
// oidc-login for tokens.
func (a *Authority) KubeconfigOIDC(r Request, server Server, provider OIDC) (*File, error) {
	doc, user, err := a.kubeconfig(r, server, oidcUser)
	if err != nil {
		return nil, err
	}
	remove(user, append([]string{clientCertificate, clientKey}, otherCredentials...)...)
	plugin := mapping()
	set(plugin, "apiVersion", scalar("client.authentication.k8s.io/v1"))
	set(plugin, "command", scalar("kubectl"))
	set(plugin, "args", sequence([]string{
		"oidc-login", "get-token", "--oidc-issuer-url=" + provider.IssuerURL, "--oidc-client-id=" + provider.ClientID,
	}))
	set(plugin, "interactiveMode", scalar("IfAvailable"))
	set(user, "exec", plugin)
	return r.file(doc, Identity{}, false, style{indent: 2, compact: true})
}

// kubeconfig reads a configuration of kubectl and makes the cluster and the
// context in it, and a user, which is returned and has no credentials yet.
func (a *Authority) kubeconfig(r Request, server Server, name string) (doc, user *yaml.Node, err error) {
	if doc, err = r.parse(); err != nil {
		return nil, nil, err
	}
	root := doc.Content[0]
	if text(root, "apiVersion") == "" {
		set(root, "apiVersion", scalar("v1"))
	}
	if text(root, "kind") == "" {
		set(root, "kind", scalar("Config"))
	}
	if err := a.setCluster(r, root, server); err != nil {
		return nil, nil, err
	}
	name += "@" + r.Context
	if user, err = r.entry(root, "users", name, "user"); err != nil {
		return nil, nil, err
	}
	return doc, user, r.setContext(root, name)
}

// otherCredentials are the keys of a user that kubectl could prefer to a
// certificate in the file.
var otherCredentials = []string{
	"client-certificate", "client-key", "token", "tokenFile", "exec", "auth-provider", "username", "password",
}

// setContext joins the cluster and the user. A context of another cluster is not
// ours to change.
func (r Request) setContext(root *yaml.Node, user string) error {
	context, err := r.entry(root, "contexts", r.Context, "context")
	if err != nil {
		return err
	}
	if of := text(context, "cluster"); of != "" && of != r.Context && !r.Replace {
		return r.anotherCluster()
	}
	set(context, "cluster", scalar(r.Context))
	set(context, "user", scalar(user))
	set(root, "current-context", scalar(r.Context))
	return nil
}

// setCluster says where the API is. A cluster without an authority, or with one
// in a file, is not one that was written here.
func (a *Authority) setCluster(r Request, root *yaml.Node, server Server) error {
	cluster, err := r.entry(root, "clusters", r.Context, "cluster")
	if err != nil {
		return err
	}
	if len(cluster.Content) > 0 && !r.Replace && !a.same(text(cluster, "certificate-authority-data")) {
		return r.anotherCluster()
	}
	set(cluster, "server", scalar(server.URL))
	set(cluster, "certificate-authority-data", scalar(encode64(a.PEM())))
	remove(cluster, "certificate-authority", "insecure-skip-tls-verify")
	if server.TLSName == "" {
		remove(cluster, "tls-server-name")
	} else {
		set(cluster, "tls-server-name", scalar(server.TLSName))
	}
	return nil
}

// entry returns what a list of a kubeconfig holds under a name, which it makes
// if there is none. The list is one of {name: …, <key>: {…}}.
func (r Request) entry(root *yaml.Node, list, name, key string) (*yaml.Node, error) {
	entries := get(root, list)
	switch {
	case entries == nil || entries.ShortTag() == "!!null":
		entries = sequence(nil)
		set(root, list, entries)
	case entries.Kind != yaml.SequenceNode:
		return nil, diag.New(diag.Pos{File: r.File, Line: entries.Line, Column: entries.Column}, "%s is not a list", list).WithHint("%s", untouched)
	}
	if len(entries.Content) == 0 {
		entries.Style = 0 // [] is no example of how to write it
	}
	for _, e := range entries.Content {
		if text(e, "name") == name {
			return r.child(e, key)
		}
	}
	e := mapping()
	set(e, key, mapping())
	set(e, "name", scalar(name))
	entries.Content = append(entries.Content, e)
	return get(e, key), nil
}
