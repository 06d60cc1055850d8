package apply

import (
	"context"
	"io"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/talosgen/talosgen/apply/internal/access"
	"github.com/talosgen/talosgen/apply/reach"
	"github.com/talosgen/talosgen/apply/wayin"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/sorting"
	"github.com/talosgen/talosgen/schemas"
)

// AccessRequest asks for a file that gives access to a cluster.
type AccessRequest struct {
	// How long a new certificate is valid. One that is in the file already stays
	// as long as more than a third of that is left, and no more than all of it.
	Lifetime time.Duration
	// Whether to replace what another cluster has under the same name.
	Replace bool
	// Where the file is, for messages, and what it holds now.
	File     string
	Existing []byte

	Now    time.Time
	Random io.Reader
}

// AccessFile is a file that gives access to a cluster.
type AccessFile struct {
	Content   secret.String // it holds a private key
	Context   string        // its name in the file
	Endpoints []string      // where it leads to
	Expires   time.Time     // the end of its certificate
	Kept      bool          // the certificate was in the file already
	// What its reader should know before they rely on it; may be empty.
	Note string
	// What takes them to the API that they do not reach as it is; may be empty.
	Way string
}

// TalosRoles are the roles that [Environment.Talosconfig] can be asked for.
func TalosRoles() []string { return access.Roles() }

// Talosconfig makes a file for talosctl, or adds to one. Nothing is asked of the
// cluster. The endpoints, if there are any, replace those that the tree names.
func (e *Environment) Talosconfig(ctx context.Context, r AccessRequest, role string, endpoints []string) (*AccessFile, error) {
	if err := access.CheckRole(role); err != nil {
		return nil, err
	}
	for _, endpoint := range endpoints {
		if err := reach.CheckEndpoint(endpoint); err != nil {
			return nil, err
		}
	}
	authorities, err := e.authorities(ctx)
	if err != nil {
		return nil, err
	}
	note, way := "", ""
	if len(endpoints) == 0 {
		endpoints, note = talosEndpoints(e.Infrastructure)
		way = wayin.ToTalos(&e.Infrastructure, e.name)
	}
	f, err := authorities.Talos.Talosconfig(e.accessRequest(r), role, endpoints)
	if err != nil {
		return nil, err
	}
	return e.accessFile(f, endpoints, note, way), nil
}

// KubeconfigRequest says for whom a configuration of kubectl is, and where it
// leads to.
type KubeconfigRequest struct {
	// The URL of the API, unless it is empty, replaces the one that the tree
	// names.
	API string
	// Who the certificate is for; without both it is an administrator
	// (system:masters).
	User   string
	Groups []string
	// Whether people log in with the cluster's OpenID Connect provider: then the
	// file holds no certificate and no key.
	OIDC bool
}

// Kubeconfig makes a file for kubectl, or adds to one. Nothing is asked of the
// cluster.
func (e *Environment) Kubeconfig(ctx context.Context, r AccessRequest, k KubeconfigRequest) (*AccessFile, error) {
	server, note, err := kubernetesServer(e.Infrastructure.KubernetesAPI, k.API)
	if err != nil {
		return nil, err
	}
	way := ""
	if k.API == "" {
		way = wayin.ToKubernetes(&e.Infrastructure, e.name)
	}
	who, err := access.KubernetesSubject(k.User, k.Groups)
	if err != nil {
		return nil, err
	}
	provider := e.Infrastructure.KubernetesAPI.OIDC
	if k.OIDC && provider == nil {
		return nil, diag.On("--oidc", "the cluster has no OpenID Connect provider").
			WithHint("set kubernetes.oidc in envs/%s/cluster.yaml; a tree of an earlier talosgen does not name the provider: render it again", e.name).WithCode(diag.Usage)
	}
	authorities, err := e.authorities(ctx)
	if err != nil {
		return nil, err
	}
	var f *access.File
	if k.OIDC {
		f, err = authorities.Kubernetes.KubeconfigOIDC(e.accessRequest(r), server, access.OIDC(*provider))
	} else {
		f, err = authorities.Kubernetes.Kubeconfig(e.accessRequest(r), server, who)
	}
	if err != nil {
		return nil, err
	}
	return e.accessFile(f, []string{server.URL}, note, way), nil
}

// authorities are read from the machine configuration of the first control
// plane, in memory. All control planes have the same.
func (e *Environment) authorities(ctx context.Context) (*access.Authorities, error) {
	nodes := controlPlanes(e.Infrastructure)
	if len(nodes) == 0 {
		return nil, diag.New(diag.Pos{File: e.path(schemas.InfrastructureFile)}, "has no control plane").
			WithHint("only the configuration of a control plane holds the authorities that sign certificates")
	}
	name := "nodes/" + nodes[0].name + ".yaml"
	config, err := e.Decrypt(ctx, name)
	if err != nil {
		return nil, err
	}
	return access.Read(e.path(name), []byte(config.Reveal()))
}

func (e *Environment) accessRequest(r AccessRequest) access.Request {
	return access.Request{
		Context: e.Infrastructure.Cluster, Lifetime: r.Lifetime, Replace: r.Replace,
		File: r.File, Existing: r.Existing, Now: r.Now, Random: r.Random,
	}
}

func (e *Environment) accessFile(f *access.File, endpoints []string, note, way string) *AccessFile {
	e.masker.Add(f.Key)
	return &AccessFile{
		Content: f.Content, Context: e.Infrastructure.Cluster, Endpoints: endpoints, Expires: f.Expires, Kept: f.Kept, Note: note, Way: way,
	}
}

// controlPlaneAddress is a control plane and its address in the private network, or
// its only one.
type controlPlaneAddress struct{ name, address string }

// controlPlanes are sorted by name.
func controlPlanes(i schemas.Infrastructure) []controlPlaneAddress {
	const role = "controlplane"
	var found []controlPlaneAddress
	for _, s := range i.Servers {
		if s.Role == role {
			found = append(found, controlPlaneAddress{s.Name, s.PrivateIP})
		}
	}
	for _, m := range i.Machines {
		if m.Role == role {
			address, _, _ := strings.Cut(m.Address, "/")
			found = append(found, controlPlaneAddress{m.Name, address})
		}
	}
	sorting.By(found, func(a, b controlPlaneAddress) int { return strings.Compare(a.name, b.name) })
	return found
}

// talosEndpoints are the addresses at which control planes answer talosctl. All
// of them are in their certificates: a node's own, and the names that people use.
func talosEndpoints(i schemas.Infrastructure) (endpoints []string, note string) {
	if name := publicName(i); name != "" {
		return []string{name}, ""
	}
	for _, node := range controlPlanes(i) {
		if node.address != "" {
			endpoints = append(endpoints, node.address)
		}
	}
	switch {
	case i.Access.Mode == accessPublic && i.Access.Jump == "":
		note = "the public addresses of the control planes are not in Git, so these are the private ones; name others with --endpoints"
	case i.Access.Mode == "private" && i.Access.Jump == "":
		note = "these addresses are reached from the private network only"
	}
	return endpoints, note
}

// publicName is the name or address at which control planes of public nodes are
// reached, if it is theirs: a load balancer passes on Kubernetes only.
func publicName(i schemas.Infrastructure) string {
	api := i.KubernetesAPI
	if i.Access.Mode != accessPublic || i.Access.Jump != "" || api.ExternalEndpoint == "" {
		return ""
	}
	for _, target := range api.External {
		if target.Kind == schemas.TargetLoadBalancer {
			return ""
		}
	}
	u, err := url.Parse(api.ExternalEndpoint)
	if err != nil || len(i.LoadBalancers) > 0 && len(api.External) == 0 {
		return ""
	}
	return u.Hostname()
}

// kubernetesServer is where kubectl finds the API.
func kubernetesServer(api schemas.InfraAPI, override string) (access.Server, string, error) {
	server, note := access.Server{URL: api.ExternalEndpoint}, ""
	switch {
	case override != "":
		server.URL = override
		if !strings.Contains(server.URL, "://") {
			server.URL = "https://" + server.URL
		}
	case server.URL == "":
		server.URL = api.Endpoint
		note = "the public address of the Kubernetes API is not in Git, so this is the one that nodes use; name another with --server"
	}
	u, err := url.Parse(server.URL)
	if err != nil || u.Hostname() == "" || u.Scheme != "https" || u.User != nil {
		return server, "", diag.On("--server", "not the URL of a Kubernetes API").
			WithHint("such as https://203.0.113.7:6443").WithCode(diag.Usage)
	}
	if !slices.Contains(api.CertSANs, u.Hostname()) {
		server.TLSName = api.TLSServerName
	}
	return server, note, nil
}
