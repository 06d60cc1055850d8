package catalogue

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/talosgen/talosgen/internal/rotation"
	"github.com/talosgen/talosgen/schemas"
)

const (
	autoscalerName  = "cluster-autoscaler"
	autoscalerImage = "registry.k8s.io/autoscaling/cluster-autoscaler"

	autoscalerSecret = "cluster-autoscaler-hetzner-config"
	autoscalerKey    = "cluster-config"
	autoscalerDir    = "/config"

	// maxSecret is what Kubernetes takes in one Secret, in bytes.
	maxSecret = 1 << 20
)

// Minor versions of the autoscaler since which it reads keys of its
// configuration. It ignores keys that it does not know.
const (
	autoscalerSubnets      = 35 // defaultSubnetIPRange, subnetIPRange
	autoscalerServerLabels = 36 // serverLabels
)

// autoscalerVersion is the release that goes with a minor version of
// Kubernetes: its own, but none that cannot tell servers their subnet.
func autoscalerVersion(kubernetes int) string {
	if kubernetes <= 35 {
		return "v1.35.2"
	}
	return "v1.36.1"
}

// autoscaler adds servers when pods find no place, and removes idle ones.
func autoscaler() entry {
	e := entry{
		about:   "adds servers when pods find no place, and removes idle ones",
		builtIn: true, defaultOn: "with autoscaler.enabled and pools", options: "autoscaler",
		name: autoscalerName, layer: Controllers, namespace: kubeSystem, fixed: true, hetzner: true, onlyBy: "autoscaler.enabled", version: autoscalerVersion(36),
		dependsOn: []string{"hcloud-ccm"},
		wanted: func(f *facts) (bool, string) {
			return f.Cluster.Autoscaler.Enabled && len(f.Infrastructure.AutoscalerPools) > 0, "autoscaler.enabled"
		},
		needs: needToken,
	}
	e.build = func(f *facts, a *Addon) {
		if on, _ := f.enabled(hcloudCCM()); !on {
			// Another cloud controller, and its Secret, are somebody else's.
			a.DependsOn = nil
		}
		// Its Secret makes nodes: it has what a worker joins with.
		a.Applied = true
		tag := autoscalerFacts{f}.autoscalerTag()
		secret := secretObject(kubeSystem, autoscalerSecret, map[string]string{autoscalerKey: autoscalerFacts{f}.autoscalerConfig(tag)})
		a.Objects = append(autoscalerRBAC(), secret, autoscalerDeployment(f, tag, secret))
		if priorities := (autoscalerFacts{f}).priorities(); priorities != nil {
			a.Objects = append(a.Objects, priorities)
		}
		policy, warning := metadataPolicy(f)
		a.Objects = append(a.Objects, policy)
		if warning != "" && !f.Cluster.Autoscaler.AcknowledgeMetadata {
			a.Warnings = append(a.Warnings, warning)
		}
	}
	return e
}

// autoscalerFacts are what the autoscaler is told.
type autoscalerFacts struct{ *facts }

// autoscalerTag is the tag of the image.
func (f autoscalerFacts) autoscalerTag() string {
	version, tag := f.setting(autoscalerName).Version, f.Cluster.Autoscaler.ImageTag
	if version != "" && tag != "" && version != tag {
		f.fail("addons."+autoscalerName+".version", "keep one of them", "addons.%s.version beside autoscaler.imageTag", autoscalerName)
	}
	return cmp.Or(tag, version, autoscalerVersion(minorOf(f.Cluster.Kubernetes.Version)))
}

// minorOf is the second number of a version; of what is none, such as the tag of
// an image of one's own, one that is newer than all.
func minorOf(version string) int {
	parts := strings.Split(strings.TrimPrefix(version, "v"), ".")
	if len(parts) >= 2 {
		if n, err := strconv.Atoi(parts[1]); err == nil {
			return n
		}
	}
	return 1 << 30
}

// autoscalerFile is what HCLOUD_CLUSTER_CONFIG_FILE leads to.
type autoscalerFile struct {
	ImagesForArch        map[string]string             `json:"imagesForArch"`
	DefaultSubnetIPRange string                        `json:"defaultSubnetIPRange,omitempty"`
	NodeConfigs          map[string]autoscalerNodePool `json:"nodeConfigs"`
}

// autoscalerNodePool describes the servers of a pool. Labels and taints are for
// foreseeing what would run on them: nodes have theirs by their machine
// configuration.
type autoscalerNodePool struct {
	CloudInit     string            `json:"cloudInit"`
	ImagesForArch map[string]string `json:"imagesForArch,omitempty"` // if not those of all pools
	Labels        map[string]string `json:"labels,omitempty"`
	Taints        []autoscalerTaint `json:"taints,omitempty"`
	ServerLabels  map[string]string `json:"serverLabels,omitempty"`
	SubnetIPRange string            `json:"subnetIPRange,omitempty"`
}

type autoscalerTaint struct {
	Key    string `json:"key"`
	Value  string `json:"value,omitempty"`
	Effect string `json:"effect"`
}

// architectures are Hetzner's names for them, and the autoscaler's.
var architectures = map[string]string{"x86": "amd64", "arm": "arm64"}

// autoscalerConfig is the configuration of all pools, as JSON.
func (f autoscalerFacts) autoscalerConfig(tag string) string {
	file := autoscalerFile{ImagesForArch: map[string]string{}, NodeConfigs: map[string]autoscalerNodePool{}}
	subnets, total := minorOf(tag) >= autoscalerSubnets, 0
	if s := f.subnet("autoscaler"); s != nil && subnets {
		file.DefaultSubnetIPRange = s.IPRange
	}
	if !subnets {
		f.fail("autoscaler.imageTag", "set it to v1.35.2, or remove it",
			"cluster-autoscaler %s cannot tell servers their subnet: they would take addresses of other nodes", tag)
	}
	for i, p := range f.Infrastructure.AutoscalerPools {
		pool, arch := f.autoscalerPool(p, i), architectures[p.Image.Architecture]
		if first, taken := file.ImagesForArch[arch]; taken && first != p.Image.Selector {
			pool.ImagesForArch = map[string]string{arch: p.Image.Selector}
		} else {
			file.ImagesForArch[arch] = p.Image.Selector
		}
		total += len(pool.CloudInit)
		if subnets && p.IPRange != file.DefaultSubnetIPRange {
			pool.SubnetIPRange = p.IPRange
		}
		if minorOf(tag) >= autoscalerServerLabels {
			pool.ServerLabels = p.Labels
		}
		file.NodeConfigs[p.Group] = pool
	}
	if total > maxSecret*9/10 {
		f.fail("autoscaler.nodepools", "have fewer pools, or smaller machine configurations", "the pools take %d bytes; Kubernetes takes %d in a Secret", total, maxSecret)
	}
	text, err := json.Marshal(file)
	if err != nil {
		f.fail("autoscaler.nodepools", "", "cannot be written as JSON: %v", err)
	}
	return string(text)
}

// autoscalerPool is the configuration of the servers of a pool.
func (f autoscalerFacts) autoscalerPool(p schemas.InfraAutoscalerPool, i int) autoscalerNodePool {
	at := "autoscaler.nodepools." + strconv.Itoa(i)
	var pool autoscalerNodePool
	for _, option := range f.Cluster.Autoscaler.NodePools {
		if option.Name == p.Name {
			pool.Labels = option.Labels
			for _, t := range option.Taints {
				pool.Taints = append(pool.Taints, taintOf(t))
			}
		}
	}
	config := f.Autoscaled[p.Name]
	if config.IsZero() {
		f.fail(at, "", "pool %s has no machine configuration", p.Name)
		return pool
	}
	packed, err := UserData([]byte(config.Reveal()))
	if err != nil {
		f.fail(at, "", "the machine configuration of pool %s cannot be packed: %v", p.Name, err)
	}
	if len(packed) > MaxUserData {
		f.fail(at+".name", "keep large files, manifests and certificates out of what workers get",
			"the configuration of the servers of pool %s has %d bytes as user data, compressed; Hetzner takes %d", p.Name, len(packed), MaxUserData)
	}
	pool.CloudInit = packed
	return pool
}

// taintOf takes key=value:Effect apart.
func taintOf(text string) autoscalerTaint {
	at := strings.LastIndex(text, ":")
	key, value, _ := strings.Cut(text[:at], "=")
	return autoscalerTaint{Key: key, Value: value, Effect: text[at+1:]}
}

// autoscalerRBAC is what it watches to foresee where pods would run, and what it
// does to empty a node.
func autoscalerRBAC() []object {
	name := autoscalerName
	return []object{
		serviceAccount(kubeSystem, name),
		clusterRole(name,
			rule("", "events", "create patch"),
			rule("", "pods/eviction", "create"),
			rule("", "pods/status", "update"),
			rule("", "nodes", "get list watch update"),
			rule("", "configmaps namespaces pods services replicationcontrollers persistentvolumeclaims persistentvolumes", "get list watch"),
			rule("apps", "daemonsets deployments replicasets statefulsets", "get list watch"),
			rule("batch", "jobs", "get list watch patch"),
			rule("batch", "cronjobs", "get list watch"),
			rule("policy", "poddisruptionbudgets", "get list watch"),
			rule("resource.k8s.io", "deviceclasses resourceclaims resourceslices", "get list watch"),
			rule("storage.k8s.io", "csidrivers csinodes csistoragecapacities storageclasses volumeattachments", "get list watch")),
		clusterRoleBinding(name, name, kubeSystem, name),
		role(kubeSystem, name,
			rule("", "configmaps", "create"),
			rule("", "configmaps", "delete get update", "cluster-autoscaler-status"),
			rule("coordination.k8s.io", "leases", "create"),
			rule("coordination.k8s.io", "leases", "get update", name)),
		roleBinding(kubeSystem, name, "Role", name, kubeSystem, name),
	}
}

func autoscalerDeployment(f *facts, tag string, secret object) object {
	args := append([]string{"--cloud-provider=hetzner", "--namespace=" + kubeSystem, autoscalerFacts{f}.expander()}, scaleDownArguments(f.Cluster.Autoscaler.ScaleDown)...)
	for _, p := range f.Infrastructure.AutoscalerPools {
		args = append(args, "--nodes="+strings.Join([]string{strconv.Itoa(p.Min), strconv.Itoa(p.Max), p.Type, p.Location, p.Group}, ":"))
	}
	container := fields{
		"name": autoscalerName, "image": autoscalerImage + ":" + tag, "command": append([]string{"./cluster-autoscaler"}, args...),
		"env":             autoscalerEnv(f),
		"ports":           items{fields{"name": "metrics", "containerPort": 8085}},
		"livenessProbe":   httpProbe("/health-check", "metrics", nil),
		"resources":       fields{"requests": requests("100m", "300Mi")},
		"securityContext": confined(),
		"volumeMounts":    items{fields{"name": "config", "mountPath": autoscalerDir, "readOnly": true}},
	}
	pod := fields{
		"serviceAccountName": autoscalerName,
		"priorityClassName":  "system-cluster-critical",
		"securityContext":    as(65534),
		// Workers may all be gone.
		"nodeSelector": onControlPlanes(),
		"tolerations":  []fields{tolerateControlPlanes()},
		"containers":   []fields{container},
		"volumes":      items{fields{"name": "config", "secret": fields{"secretName": autoscalerSecret}}},
	}
	annotations := checksum(secret, f.tokenSecret(autoscalerToken))
	if f.Authorities != "" {
		annotations[rotation.MarkAnnotation] = f.Authorities
	}
	return deployment(kubeSystem, autoscalerName, 1, annotations, pod)
}

func autoscalerEnv(f *facts) []fields {
	network := f.Cluster.Network
	values := map[string]string{
		"HCLOUD_CLUSTER_CONFIG_FILE":     autoscalerDir + "/" + autoscalerKey,
		"HCLOUD_PUBLIC_IPV4":             strconv.FormatBool(network.PublicIPv4),
		"HCLOUD_PUBLIC_IPV6":             strconv.FormatBool(network.PublicIPv6),
		"HCLOUD_SERVER_CREATION_TIMEOUT": "10", // minutes
	}
	if name := (autoscalerFacts{f}).firewallName(); name != "" {
		values["HCLOUD_FIREWALL"] = name
	}
	if keys := f.Cluster.Hetzner.SSHKeys; len(keys) > 0 {
		values["HCLOUD_SSH_KEY"] = keys[0] // keeps Hetzner from mailing passwords
	}
	key, _ := f.token(autoscalerToken)
	return append([]fields{
		envSecret("HCLOUD_TOKEN", hcloudSecret, key), envSecret("HCLOUD_NETWORK", hcloudSecret, "network"),
	}, envs(values)...)
}

// firewallName is the name of the firewall of the nodes, or its id; empty if
// there is none.
func (f autoscalerFacts) firewallName() string {
	for _, w := range f.Infrastructure.Firewalls {
		switch {
		case w.ExistingID != 0:
			return strconv.FormatInt(w.ExistingID, 10)
		case w.ApplyTo != "" && w.Labels[schemas.LabelComponent] != "nat-gateway":
			return w.Name
		}
	}
	return ""
}

// metadataPolicy keeps pods from the metadata service, where servers that the
// autoscaler made find their machine configuration, with all its secrets. Pods
// in kube-system may ask it: the driver of volumes has to.
func metadataPolicy(f *facts) (policy object, warning string) {
	const metadata, name = "169.254.169.254/32", "deny-metadata"
	if f.Cluster.CNI.Type == "cilium" {
		return newObject("cilium.io/v2", "CiliumClusterwideNetworkPolicy", "", name, fields{"spec": fields{
			"description": "pods outside of kube-system do not reach the metadata service, which holds machine configurations",
			"endpointSelector": fields{"matchExpressions": items{
				fields{"key": "k8s:io.kubernetes.pod.namespace", "operator": "NotIn", "values": items{kubeSystem}},
			}},
			// Everything else stays as it is.
			"enableDefaultDeny": fields{"egress": false, "ingress": false},
			"egressDeny":        items{fields{"toCIDR": items{metadata}}},
		}}), ""
	}
	warning = "pods can read the machine configurations of its servers at the metadata service, unless a network policy keeps them away: " +
		"there is one for the namespace default, and with cni.type: cilium one for all; autoscaler.acknowledgeMetadata: true says that you know"
	return newObject("networking.k8s.io/v1", "NetworkPolicy", "default", name, fields{"spec": fields{
		"podSelector": fields{}, "policyTypes": items{"Egress"},
		"egress": items{
			fields{"to": items{fields{"namespaceSelector": fields{}}}},
			fields{"to": items{
				fields{"ipBlock": fields{"cidr": "0.0.0.0/0", "except": items{metadata}}},
				fields{"ipBlock": fields{"cidr": "::/0"}},
			}},
		},
	}}), warning
}
