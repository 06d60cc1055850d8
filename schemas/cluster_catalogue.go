package schemas

// Addon is what runs in the cluster, or is configured in it: one that talosgen
// knows and that is changed here, or one of your own. Values of charts are in
// patches/addons/<addon>/values.yaml and envs/<env>/addons/<addon>/values.yaml.
type Addon struct {
	// Whether the cluster has it.
	Enabled *bool `yaml:"enabled" otherwise:"true for one of your own; see docs/reference/addons.md for those that talosgen knows" example:"true"`
	// The version of the chart or release; of one that is built in, the tag of
	// its image. Required for a chart that is not in the repository.
	Version string `yaml:"version" format:"imageTag" otherwise:"that of the talosgen in use" example:"1.21.0"`
	// Where its objects come from; instead of what talosgen would take.
	Source AddonSource `yaml:"source"`
	// Where objects go that name no namespace. It is made if it is not there.
	Namespace string `yaml:"namespace" format:"dnsLabel" otherwise:"see docs/reference/addons.md; required for one of your own whose objects name none" example:"cert-manager"`
	// What pods in that namespace may do, as Kubernetes' pod security standards
	// have it.
	PodSecurity string `yaml:"podSecurity" enum:"privileged,baseline,restricted" otherwise:"what the addon needs; for one of your own Talos' default, baseline" example:"restricted"`
	// When it comes up: what others need first, then what configures that, then
	// the rest.
	Layer string `yaml:"layer" enum:"controllers,configs,apps" otherwise:"that of the addon; apps for one of your own" example:"controllers"`
	// Addons that have to be ready before.
	DependsOn []string `yaml:"dependsOn" format:"dnsLabel" otherwise:"none" example:"[cert-manager]"`
	// What becomes of a chart's hooks that install something: objects as all
	// others, or nothing. Hooks for tests, upgrades and removal are always left
	// out.
	Hooks string `yaml:"hooks" enum:"keep,drop" otherwise:"objects as all others, with a warning of those that run something" example:"drop"`
	// Objects that its programs make in the cluster, and no manifest has, so that
	// check does not miss them: Secrets, ConfigMaps, definitions of custom resources.
	// A * stands for any text without a slash.
	Makes []string `yaml:"makes" format:"objectPattern" otherwise:"none" example:"[Secret/argocd/argocd-redis, 'CustomResourceDefinition/*.example.com']"`
	// What it needs of machines and of the cluster. A render makes sure that each
	// node that it can run on has that.
	Needs AddonNeeds `yaml:"needs"`
}

// What becomes of needs that are not met.
const (
	RefuseUnmet = "refuse"
	ApplyUnmet  = "apply"
	WarnUnmet   = "warn"
	IgnoreUnmet = "ignore"
)

// AddonNeeds are what an addon needs; for one that talosgen knows, besides what
// talosgen knows that it needs.
type AddonNeeds struct {
	// Official system extensions.
	Extensions []string `yaml:"extensions" format:"extension" otherwise:"none" example:"[siderolabs/iscsi-tools]"`
	// Kernel modules that are loaded.
	KernelModules []string `yaml:"kernelModules" format:"kernelModule" otherwise:"none" example:"[nvme_tcp]"`
	// Kernel parameters: a value, or >= and the least number.
	Sysctls map[string]string `yaml:"sysctls" keyFormat:"sysctl" otherwise:"none" example:"{vm.nr_hugepages: '>=1024'}"`
	// User volumes, by their names.
	UserVolumes []string `yaml:"userVolumes" format:"dnsLabel" otherwise:"none" example:"[data]"`
	// Directories of the node that the kubelet sees. Contracts up to v1.13 only:
	// Talos 1.14 mounts nothing into the kubelet.
	KubeletMounts []string `yaml:"kubeletMounts" otherwise:"none" example:"[/var/lib/longhorn]"`
	// Whether it needs device files or set-user-id programs below /var, which Talos
	// 1.14 does not allow there unless talos.secureVar is false.
	UnsecuredVar bool `yaml:"unsecuredVar" default:"false" example:"true"`
	// Whether it needs the compressed layers of images, which containerd removes unless
	// talos.discardUnpackedLayers is false.
	KeptLayers bool `yaml:"keptLayers" default:"false" example:"true"`
	// Roles of the Talos API that it has in its namespace.
	TalosRoles []string `yaml:"talosRoles" enum:"os:admin,os:operator,os:reader,os:etcd:backup" otherwise:"none" example:"[os:reader]"`
	// The least that pods in its namespace must be allowed.
	PodSecurity string `yaml:"podSecurity" enum:"privileged,baseline,restricted" otherwise:"nothing" example:"privileged"`
	// Definitions of custom resources that an addon makes, by the names of theirs.
	Definitions []string `yaml:"definitions" format:"kubernetesName" otherwise:"none" example:"[servicemonitors.monitoring.coreos.com]"`
	// A storage class that an addon makes.
	StorageClass string `yaml:"storageClass" format:"kubernetesName" otherwise:"none" example:"longhorn"`
	// Secret variables.
	Secrets []string `yaml:"secrets" format:"variable" otherwise:"none" example:"[DNS_TOKEN]"`
	// The pools that it runs on.
	Pools []string `yaml:"pools" format:"dnsLabel" otherwise:"every node that takes pods without tolerations" example:"[storage]"`
	// The labels of the nodes that it runs on.
	NodeSelector map[string]string `yaml:"nodeSelector" keyFormat:"labelKey" format:"labelValue" otherwise:"none" example:"{example.com/disk: ssd}"`
	// What becomes of a need that is not met: an error, a warning or nothing; or
	// talosgen adds it to what cluster.yaml says of the nodes.
	Unmet string `yaml:"unmet" default:"refuse" enum:"refuse,apply,warn,ignore" example:"apply"`
}

// AddonSource is where the objects of an addon come from: one of these.
type AddonSource struct {
	// A Helm chart.
	Chart ChartSource `yaml:"chart"`
	// Manifests from elsewhere, such as those of a release.
	Manifests []RemoteSource `yaml:"manifests" otherwise:"none"`
	// A file or directory in the repository, with manifests or a kustomization;
	// relative to its root, in charts/ or in the directory of the environment.
	Path string `yaml:"path" format:"repositoryPath" otherwise:"none" example:"charts/podinfo"`
}

// ChartSource names a Helm chart: by repository and name, or by path.
type ChartSource struct {
	// The URL of a repository, or oci:// with the registry and the path up to
	// the chart's name.
	Repository string `yaml:"repository" format:"chartRepo" otherwise:"none" example:"https://charts.example.com"`
	// The name of the chart.
	Name string `yaml:"name" format:"chartName" otherwise:"none" example:"podinfo"`
	// A directory or an archive in the repository; relative to its root.
	Path string `yaml:"path" format:"repositoryPath" otherwise:"none" example:"charts/podinfo"`
}

// RemoteSource is a file with manifests.
type RemoteSource struct {
	// Its URL.
	URL string `yaml:"url" required:"true" format:"url" example:"https://example.com/v1.6.1/install.yaml"`
	// Its digest, in hexadecimal.
	SHA256 string `yaml:"sha256" format:"sha256" otherwise:"the one in charts/charts.lock" example:"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"`
}
