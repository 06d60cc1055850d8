package node

import (
	"strings"

	"github.com/siderolabs/talos/pkg/machinery/config/configloader"
	"github.com/siderolabs/talos/pkg/machinery/config/validation"

	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/versions"
)

// Judged reports whether [Invalid] knows what a version of Talos accepts.
func Judged(talos string) bool { return versions.Minor(talos) == versions.Newest().Minor }

// machineMode is what a configuration is validated for: Talos on metal wants to know
// its disk.
type machineMode struct{ metal bool }

func (m machineMode) String() string {
	if m.metal {
		return "metal"
	}
	return "cloud"
}

func (m machineMode) RequiresInstall() bool { return m.metal }
func (machineMode) InContainer() bool       { return false }

var _ validation.RuntimeMode = machineMode{}

// Invalid says why the newest known Talos refuses the configuration of a node; empty
// if it does not. Its installer judges in the same way: a warning does not count.
func Invalid(config secret.String, platform string) string {
	loaded, err := configloader.NewFromBytes([]byte(config.Reveal()))
	if err != nil {
		first, _, _ := strings.Cut(err.Error(), "\n") // what follows quotes the configuration
		return strings.TrimSuffix(first, ":")
	}
	if _, err := loaded.ValidateAsClient(machineMode{platform == "metal"}); err != nil {
		return oneLine(err.Error())
	}
	return ""
}
