package machine

import (
	"errors"
	"fmt"
	"strings"

	"github.com/siderolabs/talos/pkg/machinery/config/configpatcher"
	"github.com/siderolabs/talos/pkg/machinery/config/encoder"
	"github.com/siderolabs/talos/pkg/machinery/config/generate"
	talosmachine "github.com/siderolabs/talos/pkg/machinery/config/machine"

	"github.com/talosgen/talosgen/internal/diag"
)

// GenConfig are the arguments of `talosctl gen config`. [GenConfig.Make] does what it
// does, where [Generate] makes the base that talosgen puts patches on.
type GenConfig struct {
	ClusterName, Endpoint, KubernetesVersion string
	Contract                                 string // of --talos-version: "v1.13"
	InstallDisk, InstallImage, DNSDomain     string
	CertSANs                                 []string
	NoDiscovery, KubeSpan                    bool
	// What talosctl has no argument for, and programs that use its library do.
	PodSubnets, ServiceSubnets []string
	AllowScheduling            bool
}

// Make generates the configuration of a role and applies patches to it, in their order,
// as talosctl does. It returns the text that talosctl writes without comments. Errors
// repeat no values.
func (g GenConfig) Make(role Role, b *Bundle, patches []Source) ([]byte, error) {
	vc, err := parseContract(g.Contract)
	if err != nil {
		return nil, err
	}
	options := []generate.Option{
		generate.WithVersionContract(vc),
		generate.WithSecretsBundle(b.bundle),
		generate.WithInstallDisk(g.InstallDisk),
		generate.WithInstallImage(g.InstallImage),
		generate.WithAdditionalSubjectAltNames(g.CertSANs),
		generate.WithDNSDomain(g.DNSDomain),
		generate.WithClusterDiscovery(!g.NoDiscovery),
	}
	if g.KubeSpan {
		options = append(options, generate.WithKubeSpanEnabled(true))
	}
	if g.AllowScheduling {
		options = append(options, generate.WithAllowSchedulingOnControlPlanes(true))
	}
	in, err := generate.NewInput(g.ClusterName, g.Endpoint, strings.TrimPrefix(g.KubernetesVersion, "v"), options...)
	if err != nil {
		return nil, fmt.Errorf("generating the configuration of a %s: %w", role, err)
	}
	if len(g.PodSubnets) > 0 {
		in.PodNet = g.PodSubnets
	}
	if len(g.ServiceSubnets) > 0 {
		in.ServiceNet = g.ServiceSubnets
	}
	machineType, err := talosmachine.ParseType(string(role))
	if err != nil {
		return nil, fmt.Errorf("role %q: %w", role, err)
	}
	provider, err := in.Config(machineType)
	if err != nil {
		return nil, fmt.Errorf("generating the configuration of a %s: %w", role, err)
	}
	out := configpatcher.WithConfig(provider)
	for _, p := range patches {
		if out, err = applyAsTalosctl(out, p); err != nil {
			return nil, err
		}
	}
	made, err := out.Config()
	if err != nil {
		return nil, errors.New("the patches do not lead to a configuration that Talos can read")
	}
	return made.EncodeBytes(encoder.WithComments(encoder.CommentsDisabled))
}

// applyAsTalosctl applies a patch. One that is wrong is explained as talosgen explains
// its own.
func applyAsTalosctl(in configpatcher.Input, p Source) (configpatcher.Output, error) {
	docs, err := parseDocuments(p.File, p.Data)
	if err != nil {
		return nil, err
	}
	if len(docs) == 0 {
		return in, nil // empty, which says nothing
	}
	p.Encrypted = []byte{} // so that no value is repeated
	if _, err := LoadPatch(p, LoadOptions{}); err != nil {
		return nil, err
	}
	patch, err := configpatcher.LoadPatch(p.Data)
	if err != nil {
		return nil, refusedPatch(p.File)
	}
	out, err := configpatcher.Apply(in, []configpatcher.Patch{patch})
	if err != nil {
		return nil, refusedPatch(p.File)
	}
	return out, nil
}

func refusedPatch(file string) error {
	return diag.New(diag.Pos{File: file}, "talosctl does not take this patch").
		WithHint("talosctl machineconfig patch <config> --patch @%s says why", file)
}
