package main

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// root lays the root file system out on a tmpfs. It is gone with the last
// process of the node, however that ends; what is in folders of the host stays.
func (n node) root() error {
	if err := mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return err
	}

	if err := mount("tmpfs", n.Mount, "tmpfs", 0, "mode=755"); err != nil {
		return err
	}

	for _, step := range []func() error{n.layOut, n.kernel, n.devices, n.contents} {
		if err := step(); err != nil {
			return err
		}
	}

	return nil
}

func (n node) layOut() error {
	for _, name := range folders {
		if err := os.MkdirAll(n.path(name), 0o755); err != nil {
			return err
		}
	}

	for _, link := range links {
		if err := os.Symlink(link[1], n.path(link[0])); err != nil {
			return err
		}
	}

	for _, name := range files {
		if err := os.WriteFile(n.path(name), nil, 0o644); err != nil {
			return err
		}
	}

	for _, name := range written {
		if err := os.MkdirAll(n.path(name), 0o755); err != nil {
			return err
		}

		if err := n.store(name); err != nil {
			return err
		}
	}

	return nil
}

// store gives a folder something to write to.
func (n node) store(name string) error {
	if folder := n.Folders[name]; folder != "" {
		return mount(folder, n.path(name), "", syscall.MS_BIND, "")
	}

	return mount("tmpfs", n.path(name), "tmpfs", 0, "mode=755")
}

// kernel mounts the views of the kernel that belong to the namespaces.
func (n node) kernel() error {
	for name, kind := range map[string]string{"proc": "proc", "sys": "sysfs"} {
		if err := mount(kind, n.path(name), kind, 0, ""); err != nil {
			return err
		}
	}

	if err := mount("cgroup2", n.path("sys/fs/cgroup"), "cgroup2", 0, ""); err != nil {
		return err
	}

	return n.boot()
}

// boot gives the node a boot id of its own, where the kernel shows its own.
func (n node) boot() error {
	if n.BootID == "" {
		return nil
	}

	file := n.path("boot/id")
	if err := os.WriteFile(file, []byte(n.BootID+"\n"), 0o444); err != nil {
		return err
	}

	return mount(file, n.path("proc/sys/kernel/random/boot_id"), "", syscall.MS_BIND, "")
}

func (n node) devices() error {
	dev := n.path("dev")
	if err := mount("tmpfs", dev, "tmpfs", 0, "mode=755"); err != nil {
		return err
	}

	for _, name := range devices {
		if err := bind("/dev/"+name, filepath.Join(dev, name)); err != nil {
			return err
		}
	}

	// The host's log of the kernel is not the node's.
	if err := bind("/dev/null", filepath.Join(dev, "kmsg")); err != nil {
		return err
	}

	if err := os.WriteFile(filepath.Join(dev, "console"), nil, 0o600); err != nil {
		return err
	}

	for _, m := range []struct{ folder, kind, options string }{
		{"pts", "devpts", "newinstance,ptmxmode=0666,mode=0620"}, {"shm", "tmpfs", ""}, {"mqueue", "mqueue", ""},
	} {
		folder := filepath.Join(dev, m.folder)
		if err := os.Mkdir(folder, 0o755); err != nil {
			return err
		}

		if err := mount(m.kind, folder, m.kind, 0, m.options); err != nil {
			return err
		}
	}

	for _, link := range deviceLinks {
		if err := os.Symlink(link[1], filepath.Join(dev, link[0])); err != nil {
			return err
		}
	}

	return nil
}

// contents adds what talosenv wants to be there.
func (n node) contents() error {
	for name, text := range n.Files {
		if err := os.MkdirAll(filepath.Dir(n.path(name)), 0o755); err != nil {
			return err
		}

		if err := os.WriteFile(n.path(name), []byte(text), 0o644); err != nil {
			return err
		}
	}

	for name, from := range n.Binds {
		if err := bind(from, n.path(name)); err != nil {
			return err
		}

		if err := remountReadOnly(n.path(name)); err != nil {
			return err
		}
	}

	return nil
}

// path is where a path of the node is as long as the host's root is there.
func (n node) path(name string) string {
	return filepath.Join(n.Mount, name)
}

// bind shows a file at another path.
func bind(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}

	if err := os.WriteFile(to, nil, 0o644); err != nil {
		return err
	}

	return mount(from, to, "", syscall.MS_BIND, "")
}

func remountReadOnly(path string) error {
	return mount("", path, "", syscall.MS_BIND|syscall.MS_REMOUNT|syscall.MS_RDONLY, "")
}

func mount(source, target, kind string, flags uintptr, options string) error {
	if err := syscall.Mount(source, target, kind, flags, options); err != nil {
		return fmt.Errorf("mounting %s on %s: %w", source, target, err)
	}

	return nil
}
