package catalogue

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/talosgen/talosgen/schemas"
)

const (
	nfsName   = "csi-driver-nfs"
	nfsDriver = "nfs.csi.k8s.io"
	smbName   = "csi-driver-smb"
	smbDriver = "smb.csi.k8s.io"
)

// nfsVolumes gives pods directories on NFS servers.
func nfsVolumes() entry {
	return charted(entry{
		about:     "directories on NFS servers as volumes",
		defaultOn: "with storage.nfs", options: "storage.nfs, storage.defaultClass",
		name: nfsName, layer: Controllers, namespace: kubeSystem, version: "4.13.4", onlyBy: "storage.nfs", keep: true,
		wanted: func(f *facts) (bool, string) { return len(f.Cluster.Storage.NFS) > 0, "storage.nfs" },
		machine: func(f *facts) (n schemas.AddonNeeds) {
			if slices.ContainsFunc(f.Cluster.Storage.NFS, locksByStatd) {
				n.Extensions = []string{"siderolabs/nfs-utils"}
			}
			return n
		},
	}, "https://kubernetes-csi.github.io/csi-driver-nfs", nfsName, func(f *facts, a *Addon) fields {
		rules := storageRules{f}
		for _, c := range f.Cluster.Storage.NFS {
			parameters := merged(map[string]string{"server": c.Server, "share": c.Share}, c.Parameters)
			a.Objects = append(a.Objects, rules.madeClass(c.Name, nfsDriver, c.ReclaimPolicy, parameters, fields{"mountOptions": c.MountOptions}))
		}
		rules.snapshotClass(a, nfsDriver, nfsDriver, nil)
		snapshots := slices.Contains(a.DependsOn, snapshotController().name)
		return fields{
			"controller":          fields{"replicas": 1, "enableSnapshotter": snapshots},
			"externalSnapshotter": fields{"enabled": false, "customResourceDefinitions": fields{"enabled": false}},
		}
	})
}

// locksByStatd tells whether mounts of a class ask a program of the node for locks:
// those of NFS 3, unless they have none.
func locksByStatd(c schemas.NFSClass) bool {
	old, locks := false, true
	for _, o := range c.MountOptions {
		old = old || slices.Contains([]string{"nfsvers=3", "vers=3", "v3"}, o)
		locks = locks && o != "nolock"
	}
	return old && locks
}

// smbVolumes gives pods directories on SMB servers.
func smbVolumes() entry {
	return charted(entry{
		about:     "directories on SMB servers as volumes",
		defaultOn: "with storage.smb", options: "storage.smb, storage.defaultClass",
		name: smbName, layer: Controllers, namespace: kubeSystem, version: "1.20.3", onlyBy: "storage.smb", keep: true,
		wanted: func(f *facts) (bool, string) { return len(f.Cluster.Storage.SMB) > 0, "storage.smb" },
		needs: func(f *facts) (all []Need) {
			for i, c := range f.Cluster.Storage.SMB {
				at := "storage.smb." + strconv.Itoa(i)
				all = append(all,
					Need{Name: c.UsernameVariable, Option: at, What: "the user of " + c.Source, Readable: true, Shape: "user"},
					Need{Name: c.PasswordVariable, Option: at, What: "the password of " + c.Source, Shape: "password"})
			}
			return eachOnce(all)
		},
	}, "https://kubernetes-csi.github.io/csi-driver-smb", smbName, func(f *facts, a *Addon) fields {
		for _, c := range f.Cluster.Storage.SMB {
			account := smbName + "-" + strings.ReplaceAll(c.Name, ".", "-")
			parameters := map[string]string{"source": c.Source}
			for _, stage := range []string{"provisioner", "node-stage"} {
				parameters["csi.storage.k8s.io/"+stage+"-secret-name"] = account
				parameters["csi.storage.k8s.io/"+stage+"-secret-namespace"] = a.Namespace
			}
			a.Objects = append(a.Objects,
				secretObject(a.Namespace, account, map[string]string{
					"username": f.Secrets[c.UsernameVariable].Reveal(), "password": f.Secrets[c.PasswordVariable].Reveal(),
				}),
				storageRules{f}.madeClass(c.Name, smbDriver, c.ReclaimPolicy, merged(parameters, c.Parameters), fields{"mountOptions": c.MountOptions}))
		}
		return fields{"controller": fields{"replicas": 1}, "windows": fields{"enabled": false}}
	})
}

// merged are settings with others over them.
func merged(settings, over map[string]string) map[string]string {
	all := maps.Clone(settings)
	maps.Copy(all, over)
	return all
}
