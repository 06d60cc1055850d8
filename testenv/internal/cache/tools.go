package cache

// Tool is one program, built from a package of a published Go module.
type Tool struct {
	Name    string // file name of the binary
	Package string // import path of its main package
}

// Module is a Go module of ours, a folder below testenv, that pins what one
// or more tools are built from.
type Module struct {
	Folder string // slash-separated, below testenv
	Tools  []Tool
}

// Modules are all the modules, in the order in which they are built: the
// quick ones first.
func Modules() []Module {
	talosctl := []Tool{{"talosctl", "github.com/siderolabs/talos/cmd/talosctl"}}

	return []Module{
		{"tools/staticcheck", []Tool{{"staticcheck", "honnef.co/go/tools/cmd/staticcheck"}}},
		{"tools/sops", []Tool{
			{"age", "filippo.io/age/cmd/age"},
			{"age-keygen", "filippo.io/age/cmd/age-keygen"},
			{"sops", "github.com/getsops/sops/v3/cmd/sops"},
		}},
		{"tools/talosctl-1.13", talosctl},
		{"tools/talosctl-1.14", talosctl},
	}
}
