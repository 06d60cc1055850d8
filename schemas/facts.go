package schemas

// FactsVersion is the version of the format of facts.yaml.
const FactsVersion = "talosgen.dev/v1alpha1"

// Facts is the content of envs/<env>/facts.yaml: what `apply` learned from
// Hetzner and does not change any more. It is committed; an environment works
// without it too.
type Facts struct {
	// The version of this format.
	APIVersion string `yaml:"apiVersion" required:"true" enum:"talosgen.dev/v1alpha1"`
	// The public addresses of objects.
	Addresses []FactAddress `yaml:"addresses" otherwise:"none" example:"[{kind: loadBalancer, name: prod-kube-api, ipv4: 203.0.113.7}]"`
	// The machines that exist already and were given a configuration: they are
	// never taken for new ones again.
	Nodes []FactNode `yaml:"nodes" otherwise:"none" example:"[{name: home-worker-1}]"`
}

// FactNode is a machine that was given a configuration.
type FactNode struct {
	// The name of the node.
	Name string `yaml:"name" required:"true" format:"dnsLabel"`
	// The fingerprint of the key of the machine that its configuration was sent
	// to, as long as the node has not answered with it.
	SentTo string `yaml:"sentTo" format:"fingerprint" otherwise:"the node has answered"`
}

// FactAddress holds the public addresses of an object.
type FactAddress struct {
	// What the object is.
	Kind string `yaml:"kind" required:"true" enum:"loadBalancer,floatingIp,server"`
	// Its name, as in infrastructure.yaml.
	Name string `yaml:"name" required:"true" format:"resourceName"`
	// Its public IPv4 address.
	IPv4 string `yaml:"ipv4" format:"ip"`
	// Its public IPv6 address.
	IPv6 string `yaml:"ipv6" format:"ip"`
}
