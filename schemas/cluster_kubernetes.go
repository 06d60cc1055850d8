package schemas

import "go.yaml.in/yaml/v4"

// Kubernetes describes Kubernetes itself.
type Kubernetes struct {
	// The version of Kubernetes.
	Version string `yaml:"version" default:"<kubernetes>" format:"version" example:"<kubernetes>"`
	// A name that leads to the Kubernetes API, for people. Certificates hold
	// it.
	APIHostname string `yaml:"apiHostname" format:"dnsName" otherwise:"none" example:"api.k8s.example.com"`
	// The API server. On hetzner it has the argument enable-aggregator-routing.
	APIServer Component `yaml:"apiServer"`
	// The controller manager.
	ControllerManager Component `yaml:"controllerManager"`
	// The scheduler.
	Scheduler Component `yaml:"scheduler"`
	// The store of the control plane. Its members find one another in
	// network.nodeCidrs.
	Etcd Component `yaml:"etcd"`
	// What leads from a service to its pods on each node.
	Proxy Proxy `yaml:"proxy"`
	// Whether the metrics of the controller manager, the scheduler, etcd and kube-proxy
	// can be read from other nodes: the first two want an account of Kubernetes, the
	// others nothing. An argument of your own wins.
	OpenMetrics *bool `yaml:"openMetrics" otherwise:"true with addons.kube-prometheus-stack; else on hetzner all but kube-proxy's, on static none" example:"true"`
	// What runs the pods of each node.
	Kubelet Kubelet `yaml:"kubelet"`
	// The cluster's own DNS.
	CoreDNS CoreDNS `yaml:"coreDns"`
	// Plugins that check objects before they are stored.
	AdmissionControl []AdmissionPlugin `yaml:"admissionControl" otherwise:"that of Talos"`
	// Whether a cloud controller manager introduces nodes.
	ExternalCloudProvider *bool `yaml:"externalCloudProvider" otherwise:"true on hetzner, else false" example:"false"`
	// Manifests that Talos applies when the cluster begins.
	InlineManifests []InlineManifest `yaml:"inlineManifests" otherwise:"none"`
	// The URLs of manifests that Talos applies when the cluster begins.
	RemoteManifests []string `yaml:"remoteManifests" format:"url" otherwise:"none" example:"['https://example.com/crds.yaml']"`
	// People who log in with an OpenID Connect provider.
	OIDC OIDC `yaml:"oidc"`
	// Who may do what.
	RBAC RBAC `yaml:"rbac"`
}

// Component is a component of the control plane.
type Component struct {
	// Its image, instead of that of the version.
	Image string `yaml:"image" format:"image" otherwise:"that of the version" example:"registry.example.com/component:v<kubernetes>"`
	// Arguments of its command line in addition, without --.
	ExtraArgs map[string]string `yaml:"extraArgs" keyFormat:"argument" otherwise:"none" example:"{v: 3}"`
}

// Proxy is kube-proxy.
type Proxy struct {
	Component `yaml:",inline"`
	// How it leads to pods. Contract v1.14 takes nftables only.
	Mode string `yaml:"mode" enum:"nftables,iptables,ipvs" otherwise:"that of Talos" example:"nftables"`
	// Whether it runs.
	Enabled *bool `yaml:"enabled" otherwise:"false if Cilium replaces it" example:"false"`
}

// Kubelet runs the pods of each node.
type Kubelet struct {
	Component `yaml:",inline"`
	// Settings of its configuration file in addition. On hetzner, systemReserved
	// and kubeReserved keep processor time, memory and disk from pods.
	ExtraConfig *yaml.Node `yaml:"extraConfig" otherwise:"none" example:"{maxPods: 200}"`
	// Directories of the node that it can mount into pods. Contracts up to
	// v1.13 only.
	ExtraMounts []KubeletMount `yaml:"extraMounts" otherwise:"none"`
	// Whether it asks the cluster for the certificate that it serves with, which
	// the addon kubelet-serving-cert-approver approves. Else it signs one itself.
	RotateServerCertificates *bool `yaml:"rotateServerCertificates" otherwise:"true" example:"false"`
	// How it ends pods when the node shuts down.
	GracefulShutdown GracefulShutdown `yaml:"gracefulShutdown"`
}

// KubeletMount is a directory that the kubelet can mount into pods.
type KubeletMount struct {
	// The directory on the node.
	Source string `yaml:"source" required:"true" format:"path" example:"/var/lib/longhorn"`
	// Where the kubelet finds it.
	Destination string `yaml:"destination" format:"path" otherwise:"source" example:"/var/lib/longhorn"`
	// The type of the mount.
	Type string `yaml:"type" default:"bind" format:"identifier" example:"bind"`
	// The options of the mount.
	Options []string `yaml:"options" default:"[bind, rshared, rw]" format:"identifier" example:"[bind, rshared, rw]"`
}

// GracefulShutdown says how much time pods have when a node shuts down.
type GracefulShutdown struct {
	// The time for all pods.
	Period string `yaml:"period" default:"90s" format:"duration" example:"3m"`
	// The part of it, at the end, that is for critical pods only.
	CriticalPods string `yaml:"criticalPods" default:"15s" format:"duration" example:"30s"`
}

// CoreDNS is the cluster's own DNS.
type CoreDNS struct {
	// Whether Talos runs it.
	Enabled bool `yaml:"enabled" default:"true" example:"false"`
	// Its image, instead of that of the version.
	Image string `yaml:"image" format:"image" otherwise:"that of Talos" example:"registry.example.com/coredns:v1.13.1"`
}

// AdmissionPlugin is a plugin that checks objects before they are stored.
type AdmissionPlugin struct {
	// Its name.
	Name string `yaml:"name" required:"true" format:"kubernetesName" example:"PodSecurity"`
	// Its configuration, in place of that of Talos.
	Configuration *yaml.Node `yaml:"configuration" required:"true" example:"{apiVersion: pod-security.admission.config.k8s.io/v1, kind: PodSecurityConfiguration}"`
}

// InlineManifest is a manifest that Talos applies.
type InlineManifest struct {
	// A name for it, unique among them.
	Name string `yaml:"name" required:"true" format:"dnsLabel" example:"namespaces"`
	// The manifest, one or more YAML documents without secrets.
	Contents string `yaml:"contents" required:"true" example:"'{apiVersion: v1, kind: Namespace, metadata: {name: web}}'"`
}

// OIDC describes people who log in with an OpenID Connect provider.
type OIDC struct {
	// Whether they can.
	Enabled bool `yaml:"enabled" default:"false" example:"true"`
	// The URL of the provider. Required if enabled.
	IssuerURL string `yaml:"issuerUrl" format:"issuer" example:"https://issuer.example.com"`
	// The client that tokens are made for.
	ClientID string `yaml:"clientId" default:"kubernetes" format:"nonEmpty" example:"kubernetes"`
	// The claim that holds the name of the user.
	UsernameClaim string `yaml:"usernameClaim" default:"sub" format:"nonEmpty" example:"email"`
	// What the names of users begin with in Kubernetes.
	UsernamePrefix string `yaml:"usernamePrefix" otherwise:"the URL of the provider and #, or nothing for the claim email" example:"'oidc:'"`
	// The claim that holds the groups of the user.
	GroupsClaim string `yaml:"groupsClaim" default:"groups" format:"nonEmpty" example:"roles"`
	// What the names of groups begin with in Kubernetes.
	GroupsPrefix string `yaml:"groupsPrefix" default:"oidc:" example:"'company:'"`
	// What groups may do.
	GroupMappings []GroupMapping `yaml:"groupMappings" otherwise:"none"`
}

// GroupMapping gives the members of a group roles.
type GroupMapping struct {
	// The group, as the provider names it.
	Group string `yaml:"group" required:"true" format:"nonEmpty" example:"admins"`
	// The cluster roles of its members.
	ClusterRoles []string `yaml:"clusterRoles" format:"kubernetesName" otherwise:"none" example:"[cluster-admin]"`
	// The roles of its members in namespaces.
	Roles []RoleReference `yaml:"roles" otherwise:"none"`
}

// RoleReference names a role in a namespace.
type RoleReference struct {
	// Its name.
	Name string `yaml:"name" required:"true" format:"kubernetesName" example:"deployer"`
	// Its namespace, which an addon has to make unless it exists.
	Namespace string `yaml:"namespace" required:"true" format:"dnsLabel" example:"web"`
}

// RBAC are roles to define.
type RBAC struct {
	// Roles in namespaces.
	Roles []Role `yaml:"roles" otherwise:"none"`
	// Roles in the whole cluster.
	ClusterRoles []ClusterRole `yaml:"clusterRoles" otherwise:"none"`
}

// Role is a role in a namespace.
type Role struct {
	// Its name.
	Name string `yaml:"name" required:"true" format:"kubernetesName" example:"deployer"`
	// Its namespace.
	Namespace string `yaml:"namespace" required:"true" format:"dnsLabel" example:"web"`
	// What it allows.
	Rules []PolicyRule `yaml:"rules" required:"true"`
}

// ClusterRole is a role in the whole cluster.
type ClusterRole struct {
	// Its name.
	Name string `yaml:"name" required:"true" format:"kubernetesName" example:"node-viewer"`
	// What it allows.
	Rules []PolicyRule `yaml:"rules" required:"true"`
}

// PolicyRule allows verbs on resources.
type PolicyRule struct {
	// The API groups of the resources; "" is the core group.
	APIGroups []string `yaml:"apiGroups" required:"true" example:"['', apps]"`
	// The resources.
	Resources []string `yaml:"resources" required:"true" format:"nonEmpty" example:"[pods, deployments]"`
	// The verbs.
	Verbs []string `yaml:"verbs" required:"true" format:"nonEmpty" example:"[get, list, watch]"`
}
