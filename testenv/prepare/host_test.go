package main

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/testenv/internal/cache"
)

func TestPrepareHost(t *testing.T) {
	nodes := []cache.Module{{Folder: "tools/sops"}, {Folder: "talosnode/etcd"}}
	nightly := append(slices.Clone(nodes), cache.Module{Folder: "talosnode/installer-1.14"})

	for name, c := range map[string]struct {
		modules  []cache.Module
		programs []string
		root     bool
		fails    error
		ran      string
		says     string
	}{
		"nothing needed":  {nodes[:1], nil, true, nil, "", ""},
		"all there":       {nodes, []string{"ip", "nsenter", "runc", "sshd", "apt-get", "zsh", "fish", "chromium"}, true, nil, "", ""},
		"installs":        {nodes, []string{"ip", "nsenter", "sshd", "apt-get", "zsh", "fish", "chromium"}, true, nil, "apt-get install -y --no-install-recommends runc", ""},
		"installers":      {nightly, []string{"ip", "nsenter", "runc", "sshd", "apt-get", "zsh", "fish", "chromium"}, true, nil, "apt-get install -y --no-install-recommends grub2-common grub-pc-bin xfsprogs qemu-system-x86", ""},
		"not root":        {nodes, []string{"ip", "nsenter", "sshd", "apt-get", "zsh", "fish", "chromium"}, false, nil, "", "apt-get install runc\n"},
		"no apt-get":      {nodes, []string{"runc", "sshd"}, true, nil, "", "apt-get install iproute2 util-linux zsh fish chromium\n"},
		"apt-get offline": {nodes, []string{"ip", "nsenter", "sshd", "apt-get", "zsh", "fish", "chromium"}, true, errors.New("offline"), "apt-get install -y --no-install-recommends runc", "apt-get install runc\n"},
	} {
		var (
			out bytes.Buffer
			ran string
		)

		prepareHost(host{
			findProgram: func(program string) (string, error) {
				if slices.Contains(c.programs, program) {
					return program, nil
				}

				return "", errors.New("missing")
			},
			root: c.root,
			run: func(name string, args ...string) error {
				ran = name + " " + strings.Join(args, " ")
				return c.fails
			},
		}, &out, c.modules)

		if ran != c.ran {
			t.Errorf("%s: ran %q, want %q", name, ran, c.ran)
		}

		if !strings.HasSuffix(out.String(), c.says) || (c.says == "") != (out.Len() == 0) {
			t.Errorf("%s: says %q, want %q", name, &out, c.says)
		}
	}
}
