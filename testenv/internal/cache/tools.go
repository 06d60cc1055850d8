package cache

import (
	"slices"
	"strings"
)

// Tool is one program, built from a package of a published Go module.
type Tool struct {
	Name    string // file name of the binary
	Package string // import path of its main package

	// Alias is the tool of the same module that also is this one, when it is
	// called by this name. Package then only says which version that is.
	Alias string
}

// Files are files of a published module that the programs are used with.
type Files struct {
	Folder string // where they are, beside the programs
	Module string // path of the module
	Glob   string // slash-separated, in the module
}

// Module is a Go module of ours, a folder below testenv, that pins what one
// or more tools are built from.
type Module struct {
	Folder      string // slash-separated, below testenv
	Tools       []Tool
	Files       []Files
	LinkerFlags string // besides those of every build
}

// Nightly reports whether only tests of the nightly level run the module's programs,
// so that the other levels need not wait for their builds. It is not a field, as a
// new one would change the folder of every module.
func (m Module) Nightly() bool {
	return m.Folder == nextKubernetes || m.Folder == nextEtcd || m.Folder == talhelper || m.Folder == argoCD || strings.HasPrefix(m.Folder, "talosnode/installer-")
}

// BuildFlags are the flags of go build: small binaries that are the same in
// every checkout.
func (m Module) BuildFlags() []string {
	linker := "-s -w"
	if m.LinkerFlags != "" {
		linker += " " + m.LinkerFlags
	}

	return []string{"-trimpath", "-ldflags", linker}
}

// Modules are all the modules, in the order in which they are built: the
// quick ones first.
func Modules() []Module {
	return slices.Concat(tools(), []Module{kube()}, talosnode())
}

// talhelper is the folder of the program whose repositories are imported.
const talhelper = "tools/talhelper"

// talhelperModule is where it and its examples are from.
const talhelperModule = "github.com/budimanjojo/talhelper/v3"

// tools are programs that tests run as commands.
func tools() []Module {
	talosctl := []Tool{{Name: "talosctl", Package: "github.com/siderolabs/talos/cmd/talosctl"}}

	return []Module{
		{Folder: "tools/staticcheck", Tools: []Tool{{Name: "staticcheck", Package: "honnef.co/go/tools/cmd/staticcheck"}}},
		{Folder: "tools/sops", Tools: []Tool{
			{Name: "age", Package: "filippo.io/age/cmd/age"},
			{Name: "age-keygen", Package: "filippo.io/age/cmd/age-keygen"},
			{Name: "sops", Package: "github.com/getsops/sops/v3/cmd/sops"},
		}},
		{Folder: "tools/release", Tools: []Tool{
			{Name: "actionlint", Package: "github.com/rhysd/actionlint/cmd/actionlint"},
			{Name: "cyclonedx-gomod", Package: "github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod"},
		}},
		{
			Folder:      "tools/kubectl",
			Tools:       []Tool{{Name: "kubectl", Package: "github.com/talosgen/talosgen/testenv/tools/kubectl"}},
			LinkerFlags: "-X k8s.io/component-base/version.gitVersion=v1.37.1", // as in go.mod
		},
		fluxOperator(),
		{
			Folder: argoCD,
			Tools:  []Tool{{Name: "argocd", Package: "github.com/talosgen/talosgen/testenv/tools/argocd"}},
			Files:  []Files{{Folder: "crds", Module: argoModule, Glob: "manifests/crds/*.yaml"}},
		},
		{
			Folder: talhelper,
			Tools:  []Tool{{Name: "talhelper", Package: talhelperModule}},
			Files: []Files{
				{Folder: "example", Module: talhelperModule, Glob: "example/*.*"},
				{Folder: "testdata", Module: talhelperModule, Glob: "pkg/config/testdata/*.yaml"},
				{Folder: "docs", Module: talhelperModule, Glob: "docs/docs/*.md"},
			},
		},
		{Folder: "tools/talosctl-1.13", Tools: talosctl},
		{Folder: "tools/talosctl-1.14", Tools: talosctl},
	}
}

// argoCD is the folder of Argo CD, and argoModule where it is from.
const (
	argoCD     = "tools/argocd"
	argoModule = "github.com/argoproj/argo-cd/v3"
)

// fluxOperator is the operator of Flux, with the release of Flux that it installs,
// which its image has too.
func fluxOperator() Module {
	const module = "github.com/controlplaneio-fluxcd/flux-operator"

	return Module{
		Folder: "tools/flux-operator",
		Tools:  []Tool{{Name: "flux-operator", Package: module + "/cmd/operator"}},
		Files: []Files{
			{Folder: "crds", Module: module, Glob: "config/crd/bases/*.yaml"},
			{Folder: "data/flux/v2.9.4", Module: module, Glob: "config/data/flux/v2.9.4/*.yaml"},
			{Folder: "data/flux-images/v2.9.4", Module: module, Glob: "config/data/flux-images/v2.9.4/*.yaml"},
		},
	}
}

// kubernetesVersion and nextVersion are linker flags with what Kubernetes says that
// it is, which clients decide by. The same versions as in go.mod, which a test makes
// sure of.
const (
	kubernetesVersion = "-X k8s.io/component-base/version.gitVersion=v1.36.4" +
		" -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=36"
	nextVersion = "-X k8s.io/component-base/version.gitVersion=v1.37.1" +
		" -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=37"
)

// kube is a Kubernetes control plane with Flux, which testenv/kubeenv starts.
func kube() Module {
	const controlPlane = "control-plane"

	crds := func(module string) Files {
		return Files{Folder: "crds", Module: module, Glob: "config/crd/bases/*.yaml"}
	}

	return Module{
		Folder: "kube",
		Tools: []Tool{
			{Name: controlPlane, Package: "github.com/talosgen/talosgen/testenv/kube/control-plane"},
			{Name: "etcd", Package: "go.etcd.io/etcd/server/v3", Alias: controlPlane},
			{Name: "kube-apiserver", Package: "k8s.io/kubernetes/cmd/kube-apiserver", Alias: controlPlane},
			{Name: "kube-controller-manager", Package: "k8s.io/kubernetes/cmd/kube-controller-manager", Alias: controlPlane},
			{Name: "source-controller", Package: "github.com/fluxcd/source-controller"},
			{Name: "kustomize-controller", Package: "github.com/fluxcd/kustomize-controller"},
			{Name: "helm-controller", Package: "github.com/fluxcd/helm-controller"},
		},
		Files: []Files{
			crds("github.com/fluxcd/source-controller"),
			crds("github.com/fluxcd/kustomize-controller"),
			crds("github.com/fluxcd/helm-controller"),
		},
		LinkerFlags: kubernetesVersion,
	}
}
