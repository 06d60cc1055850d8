//go:build linux

package talosenv

import (
	"maps"
	"path/filepath"
)

// systemFiles are what the kubelet asks for in its image. It looks for /run,
// which Talos mounts at /var/run.
var systemFiles = image{
	{path: "etc/passwd", text: "root:x:0:0:root:/root:/bin/false\n"},
	{path: "etc/group", text: "root:x:0:\n"},
	{path: "run"},
	{path: "tmp"},
	{path: "var/run", link: "/run"},
}

// images are the files of the images that nodes pull, by the last element of
// their names. With two minors of Kubernetes, its images have tags as well.
func (b bed) images() map[string]image {
	images := map[string]image{
		"etcd":    {{path: "usr/local/bin/etcd", file: b.etcd}},
		"kubelet": {{path: "usr/local/bin/kubelet", file: filepath.Join(b.node, "kubelet")}},
		"pause":   {{path: "pause", file: filepath.Join(b.node, "pause")}},
	}

	maps.Copy(images, b.swapImages())

	if b.controlPlane == "" {
		return images
	}

	maps.Copy(images, b.fluxImages())
	kubernetes := b.kubernetesImages(map[string][]string{
		filepath.Join(b.nodeComponents, "node-components"): {"kubelet", "kube-scheduler"},
		filepath.Join(b.controlPlane, "control-plane"):     {"kube-apiserver", "kube-controller-manager"},
	})

	if b.next == "" {
		maps.Copy(images, kubernetes)
		return images
	}

	next := b.kubernetesImages(map[string][]string{
		filepath.Join(b.next, "components"): {"kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet"},
	})

	for name := range kubernetes {
		delete(images, name) // no other tag
		images[name+":v"+Kubernetes], images[name+":v"+NextKubernetes] = kubernetes[name], next[name]
	}

	return images
}

// kubernetesImages are those of components of Kubernetes, by name. One binary is
// several of them. Images that are equal have layers that a node keeps once.
func (b bed) kubernetesImages(components map[string][]string) map[string]image {
	images := map[string]image{}

	for file, names := range components {
		files := image{{path: "usr/local/bin/" + names[0], file: file}}
		for _, name := range names[1:] {
			files = append(files, imageFile{path: "usr/local/bin/" + name, link: names[0]})
		}

		files = append(files, systemFiles...)
		files = append(files, imageFile{path: "usr/bin/mount", file: filepath.Join(b.node, "mount")},
			imageFile{path: "usr/bin/umount", link: "mount"})

		for _, name := range names {
			images[name] = files
		}
	}

	return images
}
