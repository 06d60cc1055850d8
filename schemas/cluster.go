package schemas

// ClusterVersion is the version of the format of cluster.yaml.
const ClusterVersion = "talosgen.dev/v1alpha1"

// Providers.
const (
	Hetzner = "hetzner"
	Static  = "static"
)

// Cluster is the content of envs/<env>/cluster.yaml: the topology and the
// features of one environment. A variable of cluster.env, written ${NAME}, can
// stand in any value.
type Cluster struct {
	// The version of this format.
	APIVersion string `yaml:"apiVersion" default:"talosgen.dev/v1alpha1" enum:"talosgen.dev/v1alpha1" example:"talosgen.dev/v1alpha1"`
	// A file that this one is laid over, directly in envs: the values that
	// environments have in common, under the same keys. Mappings meet key by key,
	// pools and other items by their names, other lists are added to, and other values
	// replace those of the base; !replace and !delete do what they do in patches. The
	// path begins at the directory of this file.
	Base string `yaml:"base" format:"relativePath" otherwise:"none" example:"../base.yaml"`
	// The name of the cluster. It begins the names of nodes and of everything
	// that belongs to the cluster, and cannot change later.
	ClusterName string `yaml:"clusterName" required:"true" format:"clusterName" example:"talos-k8s"`
	// Where the nodes come from: hetzner makes servers in Hetzner Cloud, static
	// takes machines that exist already.
	Provider string `yaml:"provider" default:"hetzner" enum:"hetzner,static" example:"static"`
	// The URL of the Kubernetes API, with its port. Every node must reach it.
	Endpoint string `yaml:"endpoint" format:"endpoint" otherwise:"on hetzner the private load balancer, virtual IP or first control plane node; for static nodes the vip of the control plane, and required without one" example:"https://10.0.0.10:6443"`
	// Whether people reach the Kubernetes and Talos APIs by public addresses,
	// or only from the private network. Provider hetzner only.
	Access string `yaml:"access" default:"public" enum:"public,private" example:"private"`
	// Whether Hetzner refuses to delete what belongs to the cluster until the
	// protection is lifted. Provider hetzner only.
	DeleteProtection bool `yaml:"deleteProtection" default:"true" example:"false"`
	// Where secrets come from.
	Secrets Secrets `yaml:"secrets"`
	// The address ranges of the cluster, and how nodes reach the world.
	Network Network `yaml:"network"`
	// The operating system of the nodes.
	Talos Talos `yaml:"talos"`
	// Kubernetes.
	Kubernetes Kubernetes `yaml:"kubernetes"`
	// The network of the pods.
	CNI CNI `yaml:"cni"`
	// Hetzner Cloud; only for provider hetzner.
	Hetzner HetznerCloud `yaml:"hetzner"`
	// The nodes, in pools of equal ones.
	Nodes Nodes `yaml:"nodes" required:"true"`
	// Pools whose servers come and go with the load; only for provider hetzner.
	Autoscaler Autoscaler `yaml:"autoscaler"`
	// How traffic from outside reaches services.
	Ingress Ingress `yaml:"ingress"`
	// Where pods keep what outlives them, besides volumes of Hetzner Cloud.
	Storage Storage `yaml:"storage"`
	// Which addresses Services get; only for provider static.
	ServiceAddresses ServiceAddresses `yaml:"serviceAddresses"`
	// Who signs certificates for names.
	Certificates Certificates `yaml:"certificates"`
	// What writes names into zones.
	ExternalDNS ExternalDNS `yaml:"externalDns"`
	// What runs the addons from Git.
	GitOps GitOps `yaml:"gitops"`
	// What runs in the cluster, by name: your own addons, and what is other than
	// talosgen would have it for those that it knows.
	Addons map[string]Addon `yaml:"addons" keyFormat:"dnsLabel" otherwise:"those that other options ask for" example:"{metrics-server: {enabled: false}}"`
	// Whom talosgen tells of its own runs: apply, upgrade, destroy and others that change
	// the cluster. Flux tells of itself: gitops.notifications.
	Notifications Notifications `yaml:"notifications"`
	// What talosgen check is to leave out.
	Check Check `yaml:"check"`
}

// Secrets says where secrets come from.
type Secrets struct {
	// An age key in the repository, relative to the directory of this file, for
	// examples that everyone may read. A real environment has no such key.
	ExampleKeyFile string `yaml:"exampleKeyFile" format:"relativePath" example:"../example.agekey"`
}

// Check says what talosgen check is to leave out.
type Check struct {
	// What is right, though a check finds something wrong with it. Each is listed in
	// the output of check, with its reason, and so is one that matches nothing.
	Ignore []CheckIgnore `yaml:"ignore" otherwise:"none"`
}

// CheckIgnore is what is right, though a check finds something wrong with it.
type CheckIgnore struct {
	// The object, as check writes it. A * stands for any text without a slash.
	Object string `yaml:"object" required:"true" format:"objectPattern" example:"Deployment.apps/velero/*"`
	// The field, as check writes it, with all that is in it; a conflict of owners
	// is one of the whole object.
	Field string `yaml:"field" format:"fieldPath" otherwise:"the whole object" example:"spec.template.spec.volumes[0]"`
	// Why it is right.
	Reason string `yaml:"reason" required:"true" format:"description" example:"the operator makes this Secret"`
}
