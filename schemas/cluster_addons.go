package schemas

// CNI describes the network of the pods.
type CNI struct {
	// What makes it: flannel comes with Talos, cilium is an addon, and with
	// none you bring your own.
	Type string `yaml:"type" default:"flannel" enum:"none,flannel,cilium" example:"cilium"`
	// What keeps it up to date after the cluster is there: talosgen's apply, or
	// Flux.
	Manager string `yaml:"manager" default:"talosgen" enum:"talosgen,flux" example:"flux"`
	// How traffic between nodes is encrypted. Cilium only.
	Encryption string `yaml:"encryption" enum:"none,wireguard,ipsec" otherwise:"wireguard with cilium, else none" example:"ipsec"`
	// The key of the encryption ipsec. Cilium only.
	IPsec IPsec `yaml:"ipsec"`
	// Whether Cilium does the work of kube-proxy. Cilium only.
	KubeProxyReplacement bool `yaml:"kubeProxyReplacement" default:"true" example:"false"`
	// Whether pods are reached by routes of the network or through a tunnel.
	// Cilium only.
	RoutingMode string `yaml:"routingMode" default:"native" enum:"native,tunnel" example:"tunnel"`
	// The kind of device that connects a pod. Cilium only.
	DatapathMode string `yaml:"datapathMode" default:"veth" enum:"veth,netkit,netkit-l2" example:"netkit"`
	// Whether services are balanced in the network driver. Cilium only.
	LoadBalancerAcceleration string `yaml:"loadBalancerAcceleration" default:"best-effort" enum:"disabled,native,best-effort" example:"disabled"`
	// Whether pods can have an egress address of their own. Cilium only.
	EgressGateway bool `yaml:"egressGateway" default:"false" example:"true"`
	// Whether Cilium serves Gateway API objects. Cilium only.
	GatewayAPI bool `yaml:"gatewayApi" default:"false" example:"true"`
	// What makes traffic visible. Cilium only.
	Hubble Hubble `yaml:"hubble"`
}

// IPsec describes the key of the encryption ipsec. The key itself is a secret
// that talosgen secrets sync makes.
type IPsec struct {
	// The algorithm.
	Algorithm string `yaml:"algorithm" default:"rfc4106(gcm(aes))" format:"algorithm" example:"rfc4106(gcm(aes))"`
	// The size of the key in bits.
	KeySize int `yaml:"keySize" default:"256" min:"128" max:"256" example:"128"`
	// The number of the key; it grows by one with each new key.
	KeyID int `yaml:"keyId" default:"1" min:"1" max:"15" example:"2"`
}

// Hubble makes traffic visible.
type Hubble struct {
	// Whether nodes record flows.
	Enabled bool `yaml:"enabled" default:"false" example:"true"`
	// Whether a service collects them from all nodes.
	Relay bool `yaml:"relay" default:"false" example:"true"`
	// Whether there is a user interface.
	UI bool `yaml:"ui" default:"false" example:"true"`
}

// Autoscaler adds servers when pods find no place, and removes idle ones.
type Autoscaler struct {
	// Whether it runs.
	Enabled bool `yaml:"enabled" default:"false" example:"true"`
	// The pools that it scales.
	NodePools []AutoscalerPool `yaml:"nodepools" otherwise:"none"`
	// When it removes servers that pods do not need.
	ScaleDown ScaleDown `yaml:"scaleDown"`
	// The tag of its image.
	ImageTag string `yaml:"imageTag" format:"imageTag" otherwise:"that of the chart" example:"v1.34.5"`
	// Whether upgrades and changed configurations reach its servers too.
	Discovery bool `yaml:"discovery" default:"true" example:"false"`
	// Whether destroy deletes its servers.
	Cleanup bool `yaml:"cleanup" default:"false" example:"true"`
	// Set this if pods may read the machine configurations of its servers, with
	// their secrets, at Hetzner's metadata service, or something else keeps them
	// from it. With cni.type cilium a policy does.
	AcknowledgeMetadata bool `yaml:"acknowledgeMetadata" default:"false" example:"true"`
}

// ScaleDown says when the autoscaler removes servers.
type ScaleDown struct {
	// Whether it removes any.
	Enabled bool `yaml:"enabled" default:"true" example:"false"`
	// The share of the processors and of the memory of a server, in percent, that
	// pods ask for at most when it is not needed.
	UtilizationThreshold int `yaml:"utilizationThreshold" default:"50" min:"0" max:"100" example:"65"`
	// How long a server is not needed before it is removed.
	UnneededTime string `yaml:"unneededTime" default:"10m" format:"duration" example:"30m"`
	// How long no server is removed after one was added.
	DelayAfterAdd string `yaml:"delayAfterAdd" default:"10m" format:"duration" example:"20m"`
}

// AutoscalerPool is a pool of workers whose number follows the load.
type AutoscalerPool struct {
	// The name of the pool, unique in the cluster.
	Name string `yaml:"name" required:"true" format:"dnsLabel" example:"autoscaler-1"`
	// The least number of servers.
	Min int `yaml:"min" default:"0" min:"0" max:"9999" example:"1"`
	// The greatest number of servers.
	Max int `yaml:"max" required:"true" min:"0" max:"9999" example:"5"`
	// The server type.
	Type string `yaml:"type" required:"true" format:"identifier" example:"cpx22"`
	// Where the servers are.
	Location string `yaml:"location" format:"identifier" otherwise:"hetzner.region" example:"fsn1"`
	// Which pool gets a server for pods that several would take: that of the greatest
	// number, and the next one while Hetzner has no servers for it. Pools without a
	// number come last.
	Priority int `yaml:"priority" min:"1" max:"1000" otherwise:"none; without any, the pool that is filled best" example:"20"`
	// Kubernetes labels of the nodes.
	Labels map[string]string `yaml:"labels" keyFormat:"labelKey" format:"labelValue" otherwise:"none" example:"{example.com/tier: web}"`
	// Kubernetes annotations of the nodes.
	Annotations map[string]string `yaml:"annotations" keyFormat:"labelKey" otherwise:"none" example:"{example.com/owner: team a}"`
	// Kubernetes taints of the nodes, as key=value:Effect or key:Effect.
	Taints    []string `yaml:"taints" format:"taint" otherwise:"none" example:"['example.com/dedicated=batch:NoSchedule']"`
	NodeImage `yaml:",inline"`
	// A subnet of the pool's own, inside of network.nodeCidrs.
	Subnet string `yaml:"subnet" format:"cidr" otherwise:"the one that autoscaled servers share" example:"10.0.66.0/25"`
}

// Ingress says how traffic from outside reaches services.
type Ingress struct {
	// The controller ingress-nginx, which its authors have retired.
	Nginx IngressNginx `yaml:"nginx"`
	// The way in by the Gateway API, with certificates.
	Gateway Gateway `yaml:"gateway"`
	// The load balancer of the service of what lets traffic in, and defaults for
	// those of the pools. Provider hetzner only.
	LoadBalancer IngressLoadBalancer `yaml:"loadBalancer"`
	// Load balancers that render describes, in place of the one that the
	// service of the gateway or the controller asks for. Provider hetzner only.
	LoadBalancerPools []LoadBalancerPool `yaml:"loadBalancerPools" otherwise:"none"`
}

// IngressNginx is the controller ingress-nginx.
type IngressNginx struct {
	// Whether it runs.
	Enabled bool `yaml:"enabled" default:"false" example:"true"`
	// Whether it runs as a number of pods or on every worker.
	Kind string `yaml:"kind" default:"Deployment" enum:"Deployment,DaemonSet" example:"DaemonSet"`
	// How many pods; for kind Deployment.
	Replicas int `yaml:"replicas" min:"1" max:"100" otherwise:"2, or 3 with more than two workers" example:"2"`
	// Whether traffic stays in the zone that it came in by.
	TopologyAwareRouting bool `yaml:"topologyAwareRouting" default:"false" example:"true"`
	// Whether traffic may go to a pod on another node, or stays and keeps the
	// client's address.
	ExternalTrafficPolicy string `yaml:"externalTrafficPolicy" default:"Cluster" enum:"Cluster,Local" example:"Local"`
	// Settings of the controller's ConfigMap.
	Config map[string]string `yaml:"config" otherwise:"none" example:"{proxy-body-size: 50m}"`
}

// IngressLoadBalancer is the load balancer of what lets traffic in.
type IngressLoadBalancer struct {
	// Its type.
	Type string `yaml:"type" default:"lb11" format:"identifier" example:"lb21"`
	// How it chooses a target.
	Algorithm string `yaml:"algorithm" default:"least_connections" enum:"least_connections,round_robin" example:"round_robin"`
	// Whether it has public addresses.
	PublicNetwork bool `yaml:"publicNetwork" default:"true" example:"false"`
	// How it finds out whether a target works.
	HealthCheck HealthCheck `yaml:"healthCheck"`
	// Names for its public addresses.
	ReverseDNS ReverseDNS `yaml:"rdns"`
}

// HealthCheck is how a load balancer finds out whether a target works.
type HealthCheck struct {
	// Seconds between two attempts.
	Interval int `yaml:"interval" default:"3" min:"3" max:"60" example:"15"`
	// Seconds to wait for an answer.
	Timeout int `yaml:"timeout" default:"3" min:"1" max:"60" example:"10"`
	// How many attempts fail until the target counts as broken.
	Retries int `yaml:"retries" default:"3" min:"1" max:"5" example:"2"`
}

// LoadBalancerPool are equal load balancers for ingress traffic.
type LoadBalancerPool struct {
	// The name of the pool, unique among them.
	Name string `yaml:"name" required:"true" format:"dnsLabel" example:"lb-1"`
	// Where they are.
	Location string `yaml:"location" format:"identifier" otherwise:"hetzner.region" example:"fsn1"`
	// How many there are.
	Count int `yaml:"count" default:"1" min:"0" max:"50" example:"2"`
	// Their type.
	Type string `yaml:"type" format:"identifier" otherwise:"that of ingress.loadBalancer" example:"lb21"`
	// Their labels in Hetzner Cloud.
	Labels map[string]string `yaml:"labels" keyFormat:"labelKey" format:"labelValue" otherwise:"none" example:"{traffic: public}"`
	// The label selectors of the servers that they lead to. Dedicated servers have no such labels.
	TargetLabelSelector []string `yaml:"targetLabelSelector" format:"labelSelector" otherwise:"all workers of the cluster" example:"[nodepool=edge]"`
	// The ports that they listen on, and those of the nodes that these lead to.
	Ports []LoadBalancerPort `yaml:"ports" otherwise:"80 to 30000 and 443 to 30001"`
	// Whether they only lead to nodes that run the controller, which then knows the
	// addresses of clients. All pools have the same: one Service is behind them.
	LocalTraffic bool `yaml:"localTraffic" default:"false" example:"true"`
	// How they choose a target.
	Algorithm string `yaml:"algorithm" enum:"least_connections,round_robin" otherwise:"that of ingress.loadBalancer" example:"round_robin"`
	// Whether they have public addresses.
	PublicNetwork *bool `yaml:"publicNetwork" otherwise:"that of ingress.loadBalancer" example:"false"`
	// Names for their public addresses.
	ReverseDNS ReverseDNS `yaml:"rdns"`
}
