package schemas

// Talos describes the operating system of the nodes.
type Talos struct {
	// The version of Talos.
	Version string `yaml:"version" default:"<talos>" format:"talosVersion" example:"<talos>"`
	// The version whose vocabulary the machine configurations use, not newer
	// than version. Set it to stay with the old vocabulary for a while.
	ConfigContract string `yaml:"configContract" format:"minorVersion" otherwise:"that of version" example:"<older contract>"`
	// Official system extensions. Together with the kernel arguments they make
	// the schematic, whose id is computed without asking the Image Factory.
	Extensions []string `yaml:"extensions" format:"extension" otherwise:"none" example:"[siderolabs/qemu-guest-agent]"`
	// Kernel arguments, in order, one in each item. They go into the schematic.
	ExtraKernelArgs []string `yaml:"extraKernelArgs" format:"kernelArg" otherwise:"none" example:"[net.ifnames=0]"`
	// The id of a schematic, instead of extensions and kernel arguments.
	Schematic string `yaml:"schematic" format:"schematic" otherwise:"computed" example:"376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba"`
	// The registry of the Image Factory that installer images come from.
	ImageFactory string `yaml:"imageFactory" default:"factory.talos.dev" format:"registry" example:"factory.example.com"`
	// What the disks are like that Talos is installed to, for pools and machines
	// that say nothing of it themselves.
	DiskSelector DiskSelector `yaml:"diskSelector"`
	// Which of Talos' own partitions are encrypted. A node that lives must be
	// made again for a change.
	DiskEncryption DiskEncryption `yaml:"diskEncryption"`
	// Whether /var is mounted so that nothing below it is a device file or a
	// set-user-id program. Longhorn without a volume of its own needs that it is
	// not. Since Talos 1.14.
	SecureVar bool `yaml:"secureVar" default:"true" example:"false"`
	// Kernel modules to load.
	KernelModules []KernelModule `yaml:"kernelModules" otherwise:"none"`
	// Kernel parameters.
	Sysctls map[string]string `yaml:"sysctls" keyFormat:"sysctl" otherwise:"none" example:"{vm.max_map_count: 262144}"`
	// Rules of udev for devices, one in each item. A change reboots the nodes.
	UdevRules []string `yaml:"udevRules" format:"nonEmpty" otherwise:"none" example:"['SUBSYSTEM==\"drm\", KERNEL==\"renderD*\", GROUP=\"44\", MODE=\"0660\"']"`
	// The DNS servers of the nodes.
	Nameservers []string `yaml:"nameservers" format:"ip" otherwise:"Hetzner's on hetzner, else those of Talos" example:"[185.12.64.1, 185.12.64.2]"`
	// The time servers of the nodes.
	TimeServers []string `yaml:"timeServers" format:"host" otherwise:"Hetzner's on hetzner, else those of Talos" example:"[ntp1.hetzner.de]"`
	// Names that nodes know without asking a DNS server.
	StaticHosts []StaticHost `yaml:"staticHosts" otherwise:"none"`
	// Certificate authorities that nodes trust in addition.
	TrustedRoots []TrustedRoots `yaml:"trustedRoots" otherwise:"none"`
	// Where container images come from.
	Registries Registries `yaml:"registries"`
	// Where nodes send their logs.
	Logging Logging `yaml:"logging"`
	// How nodes find one another.
	Discovery Discovery `yaml:"discovery"`
	// An encrypted network between all nodes.
	KubeSpan KubeSpan `yaml:"kubeSpan"`
	// A way to the Kubernetes API on every node that needs no load balancer.
	KubePrism KubePrism `yaml:"kubePrism"`
	// A DNS cache on every node.
	HostDNS HostDNS `yaml:"hostDns"`
	// Names and addresses that the certificates of the Talos and the Kubernetes
	// API hold in addition.
	CertSANs []string `yaml:"certSans" format:"host" otherwise:"none" example:"[k8s.example.com, 203.0.113.7]"`
	// Whether pods can use the Talos API.
	APIAccess APIAccess `yaml:"apiAccess"`
	// Whether containerd removes the compressed layers of an image once it is
	// unpacked.
	DiscardUnpackedLayers bool `yaml:"discardUnpackedLayers" default:"true" example:"false"`
	// Where backups of etcd go to.
	Backups Backups `yaml:"backups"`
	// How a node gets a new version of Talos.
	Upgrade Upgrade `yaml:"upgrade"`
	// How a node is restarted.
	Reboot Reboot `yaml:"reboot"`
}

// DiskEncryption says which of Talos' own partitions are encrypted, with LUKS2.
type DiskEncryption struct {
	// Whether the partition with the machine configuration is.
	State *bool `yaml:"state" otherwise:"true on hetzner, else false" example:"true"`
	// Whether the partition with images, logs, pods' volumes and etcd is.
	Ephemeral *bool `yaml:"ephemeral" otherwise:"true on hetzner, else false" example:"true"`
	// What the key is made from: the identity of the node, which protects disks
	// that are thrown away but not stolen nodes, or its TPM.
	Key string `yaml:"key" default:"nodeId" enum:"nodeId,tpm" example:"tpm"`
}

// KernelModule is a kernel module to load.
type KernelModule struct {
	// Its name.
	Name string `yaml:"name" required:"true" format:"kernelModule" example:"nbd"`
	// Its parameters.
	Parameters []string `yaml:"parameters" format:"kernelArg" otherwise:"none" example:"[nbds_max=64]"`
}

// StaticHost gives an address names.
type StaticHost struct {
	// The address.
	IP string `yaml:"ip" required:"true" format:"ip" example:"192.168.1.20"`
	// Its names.
	Hostnames []string `yaml:"hostnames" required:"true" format:"dnsName" example:"[registry.example.com]"`
}

// TrustedRoots are certificate authorities that nodes trust.
type TrustedRoots struct {
	// A name for them, unique among them.
	Name string `yaml:"name" required:"true" format:"resourceName" example:"company"`
	// Their certificates, in PEM; never a private key.
	Certificates string `yaml:"certificates" required:"true" example:"-----BEGIN CERTIFICATE-----…"`
}

// Registries say where container images come from.
type Registries struct {
	// Registries that are asked instead of others.
	Mirrors []RegistryMirror `yaml:"mirrors" otherwise:"none"`
	// Registries that want a password.
	Auth []RegistryAuth `yaml:"auth" otherwise:"none"`
	// Registries whose certificate is not signed by a well-known authority.
	TLS []RegistryTLS `yaml:"tls" otherwise:"none"`
}

// RegistryMirror says what is asked instead of a registry.
type RegistryMirror struct {
	// The registry; * is every one.
	Registry string `yaml:"registry" required:"true" format:"registryOrAll" example:"docker.io"`
	// The URLs to ask, in order.
	Endpoints []string `yaml:"endpoints" required:"true" format:"url" example:"['https://mirror.example.com']"`
	// Whether the path of the endpoints is complete, so that no /v2 is added.
	OverridePath bool `yaml:"overridePath" default:"false" example:"true"`
	// Whether the registry itself is never asked.
	SkipFallback bool `yaml:"skipFallback" default:"false" example:"true"`
}

// RegistryAuth names the credentials of a registry.
type RegistryAuth struct {
	// The registry.
	Registry string `yaml:"registry" required:"true" format:"registry" example:"registry.example.com"`
	// The variable that holds the user.
	UsernameVariable string `yaml:"usernameVariable" required:"true" format:"variable" example:"REGISTRY_USER"`
	// The secret variable that holds the password.
	PasswordVariable string `yaml:"passwordVariable" required:"true" format:"variable" example:"REGISTRY_PASSWORD"`
}

// RegistryTLS says how the certificate of a registry is checked.
type RegistryTLS struct {
	// The registry.
	Registry string `yaml:"registry" required:"true" format:"registry" example:"registry.example.com"`
	// The certificate of its authority, in PEM.
	CA string `yaml:"ca" example:"-----BEGIN CERTIFICATE-----…"`
	// Whether its certificate is not checked at all.
	InsecureSkipVerify bool `yaml:"insecureSkipVerify" default:"false" example:"true"`
}

// Logging says where nodes send their logs.
type Logging struct {
	// Where to.
	Destinations []LogDestination `yaml:"destinations" otherwise:"none"`
}

// LogDestination receives the logs of nodes.
type LogDestination struct {
	// Its URL.
	Endpoint string `yaml:"endpoint" required:"true" format:"logEndpoint" example:"tcp://192.168.1.30:5140"`
	// How a line is written.
	Format string `yaml:"format" default:"json_lines" enum:"json_lines" example:"json_lines"`
	// Texts that each line gets in addition.
	ExtraTags map[string]string `yaml:"extraTags" otherwise:"none" example:"{cluster: dev}"`
}

// Discovery says how nodes find one another.
type Discovery struct {
	// Whether they use the discovery service of Sidero Labs, which sees only
	// encrypted data.
	Service bool `yaml:"service" default:"true" example:"false"`
	// Whether they use annotations of Kubernetes nodes. Contracts up to v1.13
	// only.
	Kubernetes bool `yaml:"kubernetes" default:"false" example:"true"`
}

// KubeSpan is an encrypted network between all nodes.
type KubeSpan struct {
	// Whether there is one.
	Enabled bool `yaml:"enabled" default:"false" example:"true"`
}

// KubePrism is a way to the Kubernetes API on every node.
type KubePrism struct {
	// Whether there is one.
	Enabled bool `yaml:"enabled" default:"true" example:"false"`
	// Its port on the node itself.
	Port int `yaml:"port" default:"7445" min:"1" max:"65535" example:"7446"`
}

// HostDNS is a DNS cache on every node.
type HostDNS struct {
	// Whether there is one.
	Enabled bool `yaml:"enabled" default:"true" example:"false"`
	// Whether the cluster's DNS asks it too.
	ForwardKubeDNSToHost bool `yaml:"forwardKubeDnsToHost" default:"false" example:"true"`
	// Whether it knows the names of the other nodes.
	ResolveMemberNames bool `yaml:"resolveMemberNames" otherwise:"true if there is a cache" example:"false"`
}

// APIAccess says whether pods can use the Talos API.
type APIAccess struct {
	// Whether they can.
	Enabled *bool `yaml:"enabled" otherwise:"true on hetzner, else false" example:"true"`
	// The roles that they can have.
	Roles []string `yaml:"roles" default:"[os:reader, os:etcd:backup]" enum:"os:admin,os:operator,os:reader,os:etcd:backup" example:"[os:reader]"`
	// The namespaces in which they can.
	Namespaces []string `yaml:"namespaces" default:"[kube-system]" format:"dnsLabel" example:"[kube-system, backup]"`
}

// Backups says where backups of etcd go to.
type Backups struct {
	// A bucket of an S3 service.
	S3 S3Backups `yaml:"s3"`
}

// S3Backups are backups of etcd in a bucket.
type S3Backups struct {
	// Whether backups are made.
	Enabled bool `yaml:"enabled" default:"false" example:"true"`
	// The bucket. Required if enabled.
	Bucket string `yaml:"bucket" format:"bucket" example:"my-backup"`
	// The region of the bucket.
	Region string `yaml:"region" format:"identifier" otherwise:"hetzner.region on hetzner, else us-east-1" example:"fsn1"`
	// The URL of the service.
	Endpoint string `yaml:"endpoint" format:"url" otherwise:"Hetzner Object Storage in region on hetzner, else required" example:"https://s3.example.com"`
	// What the names of backups begin with.
	Prefix string `yaml:"prefix" format:"objectPrefix" otherwise:"clusterName" example:"prod/etcd"`
	// Whether the bucket is a part of the path and not of the host.
	PathStyle bool `yaml:"pathStyle" default:"false" example:"true"`
	// When, as cron does.
	Schedule string `yaml:"schedule" default:"0 * * * *" format:"cron" example:"30 3 * * *"`
	// Whether backups are compressed.
	Compression bool `yaml:"compression" default:"false" example:"true"`
	// The public half of the age key that backups are encrypted for.
	AgePublicKey string `yaml:"agePublicKey" format:"ageRecipient" otherwise:"that of the cluster's own key" example:"age1am3j6k6r06rkvs7fns29erfxxfds434e6geqj29gfmcpfrskfgtse76mk3"`
	// The secret variable that holds the access key.
	AccessKeyVariable string `yaml:"accessKeyVariable" default:"BACKUP_S3_ACCESS_KEY" format:"variable" example:"S3_ACCESS_KEY"`
	// The secret variable that holds the secret key.
	SecretKeyVariable string `yaml:"secretKeyVariable" default:"BACKUP_S3_SECRET_KEY" format:"variable" example:"S3_SECRET_KEY"`
	// The image that makes them.
	Image string `yaml:"image" format:"image" otherwise:"that of the addon" example:"ghcr.io/siderolabs/talos-backup:v0.1.0-beta.3"`
}

// Upgrade says how a node gets a new version of Talos.
type Upgrade struct {
	// Whether the kernel log is shown meanwhile.
	Debug bool `yaml:"debug" default:"false" example:"true"`
	// Whether Talos leaves out its own checks of etcd.
	Force bool `yaml:"force" default:"false" example:"true"`
	// Whether the new version is installed at the next restart.
	Stage bool `yaml:"stage" default:"false" example:"true"`
	// How the node restarts into the new version: `powercycle` goes through the firmware,
	// without kexec. `--reboot-mode` of `upgrade` overrides it.
	RebootMode string `yaml:"rebootMode" default:"default" enum:"default,powercycle" example:"powercycle"`
}

// Reboot says how a node is restarted.
type Reboot struct {
	// Whether the kernel log is shown meanwhile.
	Debug bool `yaml:"debug" default:"false" example:"true"`
	// How, when a change of its configuration needs it: `powercycle` goes through the
	// firmware, `force` does not end services before (since Talos 1.12).
	Mode string `yaml:"mode" default:"default" enum:"default,powercycle,force" example:"powercycle"`
}
