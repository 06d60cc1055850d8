package schemas

// What proves to an authority that a name is the cluster's.
const (
	HTTP01 = "http01"
	// With the record of a zone, at one of these.
	HetznerDNS = "hetzner"
	Cloudflare = "cloudflare"
)

// What serves the Gateway API.
const (
	CiliumGateway  = "cilium"
	EnvoyGateway   = "envoy"
	TraefikGateway = "traefik"
)

// Ways in which traffic reaches a gateway.
const (
	LoadBalancerService = "LoadBalancer"
	NodePortService     = "NodePort"
)

// None is the value of options that are off.
const None = "none"

// Certificates says who signs certificates for names.
type Certificates struct {
	// The address that the authority tells of problems with certificates.
	Email string `yaml:"email" format:"email" otherwise:"none" example:"ops@example.com"`
	// What gets certificates from an authority, for the whole cluster. The first one
	// is used where none is named. They bring cert-manager.
	Issuers []Issuer `yaml:"issuers" otherwise:"none"`
}

// Issuer gets certificates from an authority that speaks ACME.
type Issuer struct {
	// Its name, unique among them.
	Name string `yaml:"name" required:"true" format:"dnsLabel" example:"letsencrypt"`
	// The directory of the authority.
	Server string `yaml:"server" default:"https://acme-v02.api.letsencrypt.org/directory" format:"issuer" example:"https://acme-staging-v02.api.letsencrypt.org/directory"`
	// How it proves that a name is yours: by answering at port 80, or by a record in
	// a zone at Hetzner or Cloudflare, which works for names with * too, and for
	// clusters that are not reached from outside. Those take a secret variable:
	// HETZNER_DNS_TOKEN or CLOUDFLARE_API_TOKEN.
	Challenge string `yaml:"challenge" required:"true" enum:"http01,hetzner,cloudflare" example:"hetzner"`
	// The zones whose names it is for.
	Zones []string `yaml:"zones" format:"dnsName" otherwise:"all names" example:"[example.com]"`
}

// ExternalDNS lets names of Ingresses, HTTPRoutes and Services lead to the cluster:
// external-dns writes them into zones.
type ExternalDNS struct {
	// Where the zones are. They take a secret variable: HETZNER_DNS_TOKEN, or
	// CLOUDFLARE_API_TOKEN.
	Provider string `yaml:"provider" default:"none" enum:"none,hetzner,cloudflare" example:"hetzner"`
	// The zones, or names in them, that it may change.
	Zones []string `yaml:"zones" format:"dnsName" otherwise:"none; required with a provider" example:"[example.com]"`
	// Whether it also removes records that it made, once nothing asks for them.
	Policy string `yaml:"policy" default:"upsert-only" enum:"create-only,upsert-only,sync" example:"sync"`
	// Whether it heeds only what has the annotation talosgen.dev/dns: "true", as the
	// component https sets it.
	Annotated bool `yaml:"annotated" default:"false" example:"true"`
	// Where names lead to, instead of the addresses that Kubernetes knows.
	Targets []string `yaml:"targets" format:"host" otherwise:"the addresses of load balancers; required for a gateway at ports of nodes" example:"[203.0.113.10]"`
}

// Gateway is the way in by the Gateway API: a Gateway named public in the namespace
// gateway. HTTPRoutes of all namespaces are reached by HTTPS through it, and what
// comes by HTTP is sent there.
type Gateway struct {
	// What serves it.
	Controller string `yaml:"controller" default:"none" enum:"none,cilium,envoy,traefik" example:"envoy"`
	// The names that it has certificates for: of hosts, or * for all in a domain.
	Hostnames []string `yaml:"hostnames" format:"hostname" otherwise:"none; required with a controller" example:"[example.com, '*.example.com']"`
	// Which of the issuers signs them.
	Issuer string `yaml:"issuer" format:"dnsLabel" otherwise:"the first of certificates.issuers" example:"letsencrypt"`
	// Whether traffic comes by a load balancer that the Service asks for, or by ports
	// of nodes.
	ServiceType string `yaml:"serviceType" enum:"LoadBalancer,NodePort" otherwise:"NodePort with ingress.loadBalancerPools, and for static nodes without serviceAddresses; else LoadBalancer" example:"NodePort"`
	// How many pods of Envoy or Traefik there are.
	Replicas int `yaml:"replicas" min:"1" max:"100" otherwise:"2, or 1 on a single node" example:"3"`
}

// LoadBalancerPort is a port of load balancers.
type LoadBalancerPort struct {
	// The port that they listen on.
	Listen int `yaml:"listen" required:"true" min:"1" max:"65535" example:"22"`
	// The port of the nodes that it leads to.
	Node int `yaml:"node" required:"true" min:"1" max:"65535" example:"30022"`
	// Whether they tell the address of the client by the PROXY protocol.
	ProxyProtocol *bool `yaml:"proxyProtocol" otherwise:"true for 80 and 443, else false" example:"true"`
}
