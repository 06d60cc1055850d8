package catalogue

import (
	"encoding/hex"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/schemas"
)

const (
	csiName   = "hcloud-csi"
	csiDriver = "csi.hetzner.cloud"
	// From the releases of hetznercloud/csi-driver; the versions of the sidecars
	// are those that the release was tested with.
	csiImage       = "docker.io/hetznercloud/hcloud-csi-driver"
	csiVersion     = "v2.22.1"
	csiAttacher    = "registry.k8s.io/sig-storage/csi-attacher:v4.11.0"
	csiResizer     = "registry.k8s.io/sig-storage/csi-resizer:v2.1.0"
	csiProvisioner = "registry.k8s.io/sig-storage/csi-provisioner:v6.2.0"
	csiLiveness    = "registry.k8s.io/sig-storage/livenessprobe:v2.18.0"
	csiRegistrar   = "registry.k8s.io/sig-storage/csi-node-driver-registrar:v2.16.0"

	// csiSecret holds the passphrase of encrypted volumes.
	csiSecret     = "hcloud-csi-secret"
	csiPassphrase = "CSI_ENCRYPTION_PASSPHRASE"
)

// hcloudCSI gives pods volumes of Hetzner Cloud.
func hcloudCSI() entry {
	e := entry{
		about:   "volumes of Hetzner Cloud for pods",
		builtIn: true, defaultOn: "on Hetzner", options: "hetzner.volumes, storage.defaultClass",
		name: csiName, layer: Controllers, namespace: kubeSystem, fixed: true, hetzner: true, version: csiVersion,
		wanted: func(f *facts) (bool, string) { return f.Cluster.Provider == schemas.Hetzner, "addons." + csiName },
		needs: func(f *facts) []Need {
			needs := needToken(f)
			if f.encryptedVolumes() {
				needs = append(needs, Need{
					Name: csiPassphrase, Option: "hetzner.volumes.storageClasses",
					What:     "the passphrase of encrypted volumes, which are lost without it",
					Generate: passphrase, Shape: strings.Repeat("0", 64),
				})
			}
			return needs
		},
	}
	e.build = func(f *facts, a *Addon) {
		image := csiImage + ":" + f.version(e)
		a.Keep = true
		a.Objects = append(csiRBAC(), csiController(f, image), csiNode(image),
			newObject("storage.k8s.io/v1", "CSIDriver", "", csiDriver, fields{"spec": fields{
				"attachRequired": true, "fsGroupPolicy": "File", "podInfoOnMount": true, "seLinuxMount": true,
				"volumeLifecycleModes": items{"Persistent"},
			}}))
		if f.encryptedVolumes() {
			texts := map[string]string{"encryption-passphrase": f.Secrets[csiPassphrase].Reveal()}
			a.Objects = append(a.Objects, secretObject(kubeSystem, csiSecret, texts))
		}
		for _, c := range f.Cluster.Hetzner.Volumes.StorageClasses {
			a.Objects = append(a.Objects, storageRules{f}.markDefault(storageClass(c)))
		}
	}
	return e
}

// passphrase makes a text of 256 bits.
func passphrase(random io.Reader) (secret.String, error) {
	key := make([]byte, 32)
	if _, err := io.ReadFull(random, key); err != nil {
		return secret.String{}, err
	}
	return secret.New(hex.EncodeToString(key)), nil
}

func (f *facts) encryptedVolumes() bool {
	return slices.ContainsFunc(f.Cluster.Hetzner.Volumes.StorageClasses, func(c schemas.StorageClass) bool { return c.Encrypted })
}

// storageClass keeps volumes off dedicated servers, which cannot attach them.
func storageClass(c schemas.StorageClass) object {
	parameters := maps.Clone(c.Parameters)
	if c.Encrypted {
		if parameters == nil {
			parameters = map[string]string{}
		}
		parameters["csi.storage.k8s.io/node-publish-secret-name"] = csiSecret
		parameters["csi.storage.k8s.io/node-publish-secret-namespace"] = kubeSystem
	}
	rest := fields{
		"provisioner": csiDriver, "volumeBindingMode": "WaitForFirstConsumer", "allowVolumeExpansion": true, "reclaimPolicy": c.ReclaimPolicy,
		"allowedTopologies": items{fields{"matchLabelExpressions": items{
			fields{"key": "instance.hetzner.cloud/provided-by", "values": items{"cloud"}},
		}}},
	}
	if len(parameters) > 0 {
		rest["parameters"] = parameters
	}
	return newObject("storage.k8s.io/v1", "StorageClass", "", c.Name, rest)
}

// csiRBAC is what the sidecars of the controller ask for: attacher, provisioner
// and resizer, without snapshots, which Hetzner's volumes do not have.
func csiRBAC() []object {
	name := csiName + "-controller"
	return []object{
		serviceAccount(kubeSystem, name),
		clusterRole(name,
			rule("", "persistentvolumes", "get list watch create delete update patch"),
			rule("", "persistentvolumeclaims persistentvolumeclaims/status", "get list watch update patch"),
			rule("", "nodes pods", "get list watch"),
			rule("", "events", "get list watch create update patch"),
			rule("storage.k8s.io", "csinodes storageclasses volumeattributesclasses", "get list watch"),
			rule("storage.k8s.io", "volumeattachments", "get list watch update patch"),
			rule("storage.k8s.io", "volumeattachments/status", "patch")),
		clusterRoleBinding(name, name, kubeSystem, name),
	}
}

// csiController makes and attaches volumes. There is one at a time: its parts
// choose no leader.
func csiController(f *facts, image string) object {
	name := csiName + "-controller"
	socket := items{fields{"name": "socket-dir", "mountPath": "/run/csi"}}
	sidecar := func(name, image string, args ...string) fields {
		c := fields{"name": name, "image": image, "volumeMounts": socket, "securityContext": csiConfined()}
		if len(args) > 0 {
			c["args"] = args
		}
		return c
	}
	key, _ := f.token(csiToken)
	variables := append(csiEnv(f), envField("KUBE_NODE_NAME", "spec.nodeName"), envSecret("HCLOUD_TOKEN", hcloudSecret, key))
	driver := csiDriverContainer(image, "-controller", variables)
	driver["volumeMounts"], driver["securityContext"] = socket, csiConfined()
	pod := fields{
		"serviceAccountName": name,
		"priorityClassName":  "system-cluster-critical",
		"nodeSelector":       onControlPlanes(),
		"securityContext":    fields{"fsGroup": 1001, "seccompProfile": fields{"type": "RuntimeDefault"}},
		"tolerations":        []fields{tolerateControlPlanes()},
		"containers": []fields{
			driver,
			sidecar("csi-attacher", csiAttacher, "--default-fstype=ext4"),
			sidecar("csi-resizer", csiResizer),
			sidecar("csi-provisioner", csiProvisioner,
				"--feature-gates=Topology=true", "--default-fstype=ext4", "--extra-create-metadata", "--strict-topology"),
			sidecar("liveness-probe", csiLiveness),
		},
		"volumes": items{fields{"name": "socket-dir", "emptyDir": fields{}}},
	}
	o := deployment(kubeSystem, name, 1, checksum(f.tokenSecret(csiToken)), pod)
	o["spec"].(fields)["strategy"] = fields{"type": "Recreate"}
	return o
}

// csiConfined is for containers that run as root, because their images want it,
// and may do nothing with it.
func csiConfined() fields {
	return fields{"allowPrivilegeEscalation": false, "capabilities": fields{"drop": items{"ALL"}}, "readOnlyRootFilesystem": true}
}

// csiDriverContainer is what the driver has in common on nodes and in the
// controller.
func csiDriverContainer(image, mode string, variables []fields) fields {
	return fields{
		"name": "hcloud-csi-driver", "image": image, "args": items{mode}, "env": variables,
		"ports": items{
			fields{"name": "metrics", "containerPort": 9189},
			fields{"name": "healthz", "containerPort": 9808, "protocol": "TCP"},
		},
		"livenessProbe": httpProbe("/healthz", "healthz", fields{
			"failureThreshold": 5, "initialDelaySeconds": 10, "periodSeconds": 2, "timeoutSeconds": 3,
		}),
	}
}

func csiEnv(f *facts) []fields {
	values := map[string]string{
		"CSI_ENDPOINT":                "unix:///run/csi/socket",
		"METRICS_ENDPOINT":            "0.0.0.0:9189",
		"ENABLE_METRICS":              "true",
		"ENABLE_PROVIDED_BY_TOPOLOGY": "t",
	}
	if f != nil {
		if region := f.Cluster.Hetzner.Region; region != "" {
			values["HCLOUD_VOLUME_DEFAULT_LOCATION"] = region
		}
		var labels []string
		for _, key := range slices.Sorted(maps.Keys(f.Cluster.Hetzner.Volumes.Labels)) {
			labels = append(labels, key+"="+f.Cluster.Hetzner.Volumes.Labels[key])
		}
		if len(labels) > 0 {
			values["HCLOUD_VOLUME_EXTRA_LABELS"] = strings.Join(labels, ",")
		}
	}
	return envs(values)
}

// csiNode mounts volumes on every node that is a cloud server.
func csiNode(image string) object {
	name := csiName + "-node"
	mount := func(name, path string) fields { return fields{"name": name, "mountPath": path} }
	hostPath := func(name, path, kind string) fields {
		return fields{"name": name, "hostPath": fields{"path": path, "type": kind}}
	}
	kubelet := mount("kubelet-dir", "/var/lib/kubelet")
	kubelet["mountPropagation"] = "Bidirectional"
	driver := csiDriverContainer(image, "-node", csiEnv(nil))
	driver["volumeMounts"] = []fields{kubelet, mount("plugin-dir", "/run/csi"), mount("device-dir", "/dev")}
	// It mounts for others, and opens encrypted devices.
	driver["securityContext"] = fields{"privileged": true}
	notRobot := func(key, value string) fields { return fields{"key": key, "operator": "NotIn", "values": items{value}} }
	pod := fields{
		"priorityClassName": "system-node-critical",
		"securityContext":   fields{"fsGroup": 1001},
		"affinity": fields{"nodeAffinity": fields{"requiredDuringSchedulingIgnoredDuringExecution": fields{
			"nodeSelectorTerms": items{fields{"matchExpressions": []fields{
				notRobot("instance.hetzner.cloud/is-root-server", "true"), notRobot("instance.hetzner.cloud/provided-by", "robot"),
			}}},
		}}},
		"tolerations": items{fields{"operator": "Exists"}},
		"containers": []fields{
			driver,
			{
				"name": "csi-node-driver-registrar", "image": csiRegistrar,
				"args":         items{"--kubelet-registration-path=/var/lib/kubelet/plugins/" + csiDriver + "/socket"},
				"volumeMounts": []fields{mount("plugin-dir", "/run/csi"), mount("registration-dir", "/registration")},
			},
			{"name": "liveness-probe", "image": csiLiveness, "volumeMounts": []fields{mount("plugin-dir", "/run/csi")}},
		},
		"volumes": []fields{
			hostPath("kubelet-dir", "/var/lib/kubelet", "Directory"),
			hostPath("plugin-dir", "/var/lib/kubelet/plugins/"+csiDriver+"/", "DirectoryOrCreate"),
			hostPath("registration-dir", "/var/lib/kubelet/plugins_registry/", "Directory"),
			hostPath("device-dir", "/dev", "Directory"),
		},
	}
	return daemonSet(kubeSystem, name, nil, pod)
}
