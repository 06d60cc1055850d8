package schemas

import (
	"slices"
	"strings"
)

// NotYet lists the options of cluster.yaml that are read and checked, but have
// no effect yet, each with everything below it. A render warns of those that a
// file sets, and the reference marks them: whoever gives one an effect removes
// it here, and nowhere else. Indexes of lists are left out of the paths.
var NotYet = []string{
	"hetzner.robot.apiUrl",

	"talos.upgrade.debug",
	"talos.upgrade.force",
	"talos.upgrade.stage",
	"talos.reboot.debug",
}

// NoEffect are those of [NotYet] that get no effect, each with the reason.
var NoEffect = map[string]string{
	"hetzner.robot.apiUrl": "a changed file must not send the login of Robot elsewhere: `talosgen install` reads the environment variable ROBOT_ENDPOINT",

	"talos.upgrade.debug": "no call of Talos has it: it is a flag of talosctl, which shows the kernel log as `talosctl dmesg` does",
	"talos.upgrade.force": "no upgrade leaves out checks of etcd, and since Talos 1.13 its call makes none that could be left out",
	"talos.upgrade.stage": "a version is installed and booted while the node is drained, and since Talos 1.13 its call cannot wait for a restart",
	"talos.reboot.debug":  "no call of Talos has it: it is a flag of talosctl, which shows the kernel log as `talosctl dmesg` does",
}

// IsNotYet tells whether an option, or one that it is below, is in [NotYet].
// The path has no indexes of lists.
func IsNotYet(path string) bool {
	return slices.ContainsFunc(NotYet, func(option string) bool {
		return path == option || strings.HasPrefix(path, option+".")
	})
}
