package generate

import "github.com/talosgen/talosgen/schemas"

// storageGenerator makes what keeps data of pods, and what takes snapshots of it.
type storageGenerator struct{ *environment }

// snapshotClasses defines the one kind that addons of the catalogue have an object of
// and a chart brings.
const snapshotClasses = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: volumesnapshotclasses.snapshot.storage.k8s.io}
spec:
  group: snapshot.storage.k8s.io
  scope: Cluster
  names: {kind: VolumeSnapshotClass, plural: volumesnapshotclasses}
  versions:
    - name: v1
      served: true
      storage: true
      schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`

// storage sets where pods keep data.
func (e storageGenerator) storage(c values) {
	const at = "storage"
	s := values{}
	var classes []string
	if e.is(at+".longhorn", 10) {
		s["longhorn"] = e.longhorn(c)
		classes = append(classes, "longhorn")
	}
	if e.is(at+".local", 10) {
		l := values{"enabled": true}
		put(e, l, at+".local", "volume", 40, func(string) string { return "local" })
		s["local"] = l
		e.charted(c, "openebs-localpv", values{"unmet": unmetOf(e, l["volume"])})
		classes = append(classes, "openebs-hostpath")
	}
	put(e, s, at, "nfs", 10, func(name string) []values {
		e.charted(c, "csi-driver-nfs", values{"unmet": schemas.ApplyUnmet})
		classes = append(classes, "nas")
		return []values{e.nfs(name)}
	})
	put(e, s, at, "smb", 10, func(name string) []values {
		e.charted(c, "csi-driver-smb", nil)
		classes = append(classes, "box")
		return []values{e.smb(name)}
	})
	if len(classes) > 0 {
		put(e, s, at, "defaultClass", 50, func(name string) string { return one(e, name+" value", classes...) })
	}
	if h, ok := c["hetzner"].(values); ok && s["defaultClass"] != nil {
		delete(h, "volumes") // a class of it may be the default
	}
	section(c, at, s)
	if e.is("addons.snapshot-controller", 10) {
		e.charted(c, "snapshot-controller", nil)["enabled"] = true
		e.files[e.place("snapshot-controller")+"/templates/definitions.yaml"] = snapshotClasses
	}
}

func (e storageGenerator) longhorn(c values) values {
	const at = "storage.longhorn"
	l := values{"enabled": true}
	put(e, l, at, "volume", 40, func(string) string { return "longhorn" })
	put(e, l, at, "replicas", 40, func(name string) int { return e.of(name+" value", 1, 3) })
	e.charted(c, "longhorn", values{"unmet": unmetOf(e, l["volume"])})
	return l
}

// unmetOf is what becomes of needs: talosgen adds them, but for a volume.
func unmetOf(e storageGenerator, volume any) string {
	if volume != nil {
		return schemas.WarnUnmet
	}
	return schemas.ApplyUnmet
}

func (e storageGenerator) nfs(name string) values {
	n := values{"name": "nas", "server": "nas.example.com", "share": "/volume1/kubernetes"}
	e.choice(n, name, "reclaimPolicy", 40, "Retain", "Delete")
	put(e, n, name, "mountOptions", 40, func(string) []string { return []string{"nfsvers=3", "hard"} })
	put(e, n, name, "parameters", 40, func(string) values { return values{"subDir": "pods"} })
	return n
}

func (e storageGenerator) smb(name string) values {
	n := values{"name": "box", "source": "//u123456.your-storagebox.de/backup"}
	user, password := "SMB_USERNAME", "SMB_PASSWORD"
	if e.is(name+".variables", 40) {
		user, password = "BOX_USER", "BOX_PASSWORD"
		n["usernameVariable"], n["passwordVariable"] = user, password
	}
	e.env = append(e.env, user+"=u123456")
	e.Secrets[password] = e.token(e.at+"."+name, 20)
	e.choice(n, name, "reclaimPolicy", 40, "Retain", "Delete")
	put(e, n, name, "mountOptions", 40, func(string) []string { return []string{"vers=3.1.1"} })
	put(e, n, name, "parameters", 40, func(string) values { return values{"subDir": "pods"} })
	return n
}
