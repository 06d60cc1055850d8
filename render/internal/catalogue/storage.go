package catalogue

import (
	"strconv"
	"strings"

	"github.com/talosgen/talosgen/schemas"
)

// Names of classes that drivers have by themselves.
const (
	longhornClass = "longhorn"
	localClass    = "openebs-hostpath"
)

// storageRules are about the storage classes of all addons together.
type storageRules struct{ *facts }

// storageClassName is a storage class that an addon makes, and the option that has it.
type storageClassName struct{ name, addon, option string }

// classes are the storage classes that a cluster has, Hetzner's first.
func (f storageRules) classes() (all []storageClassName) {
	s := f.Cluster.Storage
	if on, _ := f.enabled(hcloudCSI()); on {
		for i, c := range f.Cluster.Hetzner.Volumes.StorageClasses {
			all = append(all, storageClassName{c.Name, csiName, "hetzner.volumes.storageClasses." + strconv.Itoa(i)})
		}
	}
	if on, _ := f.enabled(longhorn()); on {
		all = append(all, storageClassName{longhornClass, longhornName, "storage.longhorn"})
	}
	if on, _ := f.enabled(localVolumes()); on {
		all = append(all, storageClassName{localClass, localName, "storage.local"})
	}
	if on, _ := f.enabled(nfsVolumes()); on {
		for i, c := range s.NFS {
			all = append(all, storageClassName{c.Name, nfsName, "storage.nfs." + strconv.Itoa(i)})
		}
	}
	if on, _ := f.enabled(smbVolumes()); on {
		for i, c := range s.SMB {
			all = append(all, storageClassName{c.Name, smbName, "storage.smb." + strconv.Itoa(i)})
		}
	}
	return all
}

// defaultClass is the class of those who name none; empty if they get no volume.
func (f storageRules) defaultClass() string {
	if named := f.Cluster.Storage.DefaultClass; named != "" {
		return named
	}
	all := f.classes()
	if len(all) > 0 && all[0].addon == csiName {
		for _, c := range f.Cluster.Hetzner.Volumes.StorageClasses {
			if c.Default {
				return c.Name
			}
		}
		return "" // as hetzner.volumes says
	}
	if len(all) == 1 {
		return all[0].name
	}
	return ""
}

// check makes sure that each name is that of one class, and that the default is one.
func (f storageRules) check(addons []Addon) {
	var names []string
	seen := map[string]string{}
	for _, c := range f.classes() {
		if first, there := seen[c.name]; there {
			f.fail(c.option, "give one of them another name", "two storage classes are called %s; the other one is of %s", c.name, first)
			continue
		}
		seen[c.name] = c.option
		names = append(names, c.name)
	}
	named := f.Cluster.Storage.DefaultClass
	switch {
	case named == "" && f.defaultClass() == "" && len(names) > 1 && f.Cluster.Provider != schemas.Hetzner:
		for i := range addons {
			if addons[i].Name == f.classes()[0].addon {
				addons[i].Warnings = append(addons[i].Warnings, "no storage class is the default, so who names none gets no volume: set storage.defaultClass to one of "+strings.Join(names, ", "))
			}
		}
	case named != "" && seen[named] == "":
		f.fail("storage.defaultClass", hintNames(names), "there is no storage class %s", named)
	}
}

func hintNames(names []string) string {
	if len(names) == 0 {
		return "remove it, or enable what makes it: see storage in docs/reference/cluster.md"
	}
	return "one of " + strings.Join(names, ", ")
}

// madeClass is a storage class of a driver.
func (f storageRules) madeClass(name, driver, reclaimPolicy string, parameters map[string]string, rest fields) object {
	all := fields{
		"provisioner": driver, "reclaimPolicy": reclaimPolicy, "allowVolumeExpansion": true, "volumeBindingMode": "Immediate",
		"parameters": parameters,
	}
	for key, value := range rest {
		all[key] = value
	}
	return f.markDefault(newObject("storage.k8s.io/v1", "StorageClass", "", name, all))
}

// markDefault says of a class whether it is for those who name none.
func (f storageRules) markDefault(class object) object {
	return annotated(class, map[string]string{"storageclass.kubernetes.io/is-default-class": strconv.FormatBool(class.Name() == f.defaultClass())})
}

// snapshotClass lets snapshots be taken of a driver's volumes, where the cluster has
// what does that.
func (f storageRules) snapshotClass(a *Addon, name, driver string, parameters map[string]string) {
	if !f.after(a, snapshotController()) {
		return
	}
	rest := fields{"driver": driver, "deletionPolicy": "Delete"}
	if len(parameters) > 0 {
		rest["parameters"] = parameters
	}
	a.Objects = append(a.Objects, newObject("snapshot.storage.k8s.io/v1", "VolumeSnapshotClass", "", name, rest))
}

// pathOf is the directory of a user volume, or another one if there is none.
func pathOf(volume, otherwise string) string {
	if volume != "" {
		return "/var/mnt/" + volume
	}
	return otherwise
}

// volumeOf is a user volume as a need; none if there is none.
func volumeOf(name string) []string {
	if name == "" {
		return nil
	}
	return []string{name}
}
