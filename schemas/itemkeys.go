package schemas

// BaseKey is the key of cluster.yaml that names the file which it is laid over.
const BaseKey = "base"

// ItemKeys are the lists of cluster.yaml whose items are known by a key, by the types of
// their items: where a file is laid over its base, an item meets the one with the same
// value of that key. Items of all other lists are added.
var ItemKeys = map[string]string{
	"AdmissionPlugin":  "name",
	"AutoscalerPool":   "name",
	"ClusterRole":      "name",
	"ControlPlanePool": "name",
	"GroupMapping":     "group",
	"InlineManifest":   "name",
	"Issuer":           "name",
	"KernelModule":     "name",
	"LoadBalancerPool": "name",
	"LoadBalancerPort": "listen",
	"NFSClass":         "name",
	"NodeVolume":       "name",
	"Notification":     "name",
	"RegistryAuth":     "registry",
	"RegistryMirror":   "registry",
	"RegistryTLS":      "registry",
	"SMBClass":         "name",
	"StaticHost":       "ip",
	"StaticNode":       "name",
	"StorageClass":     "name",
	"TrustedRoots":     "name",
	"Webhook":          "name",
	"WorkerPool":       "name",
}
