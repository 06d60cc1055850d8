package machine

import (
	"fmt"
	"strings"

	machineapi "github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/compatibility"
	talosconfig "github.com/siderolabs/talos/pkg/machinery/config"
	"github.com/siderolabs/talos/pkg/machinery/config/config"
	"github.com/siderolabs/talos/pkg/machinery/config/generate"
	talosmachine "github.com/siderolabs/talos/pkg/machinery/config/machine"
	"github.com/siderolabs/talos/pkg/machinery/config/types/k8s"
	"github.com/siderolabs/talos/pkg/machinery/config/types/v1alpha1"
	"github.com/siderolabs/talos/pkg/machinery/constants"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/rotation"
)

// Role is what a node is in the cluster.
type Role string

// Roles, as Talos calls them.
const (
	ControlPlane Role = "controlplane"
	Worker       Role = "worker"
)

// Settings are the inputs of the generated base, below all patches.
type Settings struct {
	ClusterName       string
	Endpoint          string // https://host:port of the Kubernetes API
	Contract          string // version contract: "v1.13"
	KubernetesVersion string // "1.36.0"
	PodSubnets        []string
	ServiceSubnets    []string
	DNSDomain         string
	InstallDisk       string // "" for none
	InstallImage      string
	AllowScheduling   bool // of ordinary pods on control planes, which load balancers lead to then
}

// parseContract reads a version contract such as "v1.13".
func parseContract(text string) (*talosconfig.VersionContract, error) {
	vc, err := talosconfig.ParseContractFromVersion(text)
	if err != nil {
		return nil, fmt.Errorf("Talos version contract %q: %w", text, err)
	}
	return vc, nil
}

// multiDocument reports whether a contract has documents of their own for what
// the v1alpha1 document held before: Talos 1.14 and later.
func multiDocument(vc *talosconfig.VersionContract) bool {
	return vc.Greater(talosconfig.TalosVersion1_13)
}

// MultiDocument reports whether a version contract such as "v1.14" has documents
// of their own for what the v1alpha1 document held before.
func MultiDocument(contract string) (bool, error) {
	vc, err := parseContract(contract)
	return err == nil && multiDocument(vc), err
}

// checkEncryption refuses what the library gets wrong: at contract 1.14 it puts
// an AES-CBC key where a secretbox key belongs, and leaves out reading what was
// not encrypted, so that the API server could not read etcd any more.
func checkEncryption(s Settings, b *Bundle) error {
	vc, err := parseContract(s.Contract)
	if err != nil {
		return err
	}
	if multiDocument(vc) && b.bundle.Secrets.AESCBCEncryptionSecret != "" {
		return diag.On("secrets bundle", "an AES-CBC encryption secret (made before Talos 1.3) cannot be used with contract %s: Talos' library would generate a configuration that cannot read the Secrets in etcd", s.Contract).
			WithHint("set talos.configContract to v1.13 in cluster.yaml").WithCode(diag.Secrets)
	}
	return nil
}

// Generate makes the base configuration of a role, and learns which of its
// values are secret: those that differ when it is made from other secrets.
func Generate(s Settings, role Role, bundle, other *Bundle) (*Config, error) {
	if err := checkEncryption(s, bundle); err != nil {
		return nil, err
	}
	c, err := generateOnce(s, role, bundle)
	if err != nil {
		return nil, err
	}
	d, err := generateOnce(s, role, other.likewise(bundle))
	if err != nil {
		return nil, err
	}
	taint := newTaint()
	for i, doc := range c.docs {
		if i >= len(d.docs) || d.docs[i].ID != doc.ID {
			return nil, fmt.Errorf("generating %s: the documents depend on the secrets", doc.ID)
		}
		if err := taint.addDifferences(doc, d.docs[i]); err != nil {
			return nil, err
		}
	}
	for _, v := range bundle.values {
		taint.addText(v.Reveal())
	}
	c.taints = []*Taint{taint}
	return c, nil
}

// addDifferences makes the leaves of a document secret that are not the same in
// its twin.
func (t *Taint) addDifferences(doc, twin *Document) error {
	leaves, err := doc.Leaves()
	if err != nil {
		return err
	}
	others, err := twin.Leaves()
	if err != nil {
		return err
	}
	next := 0
	for i := range leaves {
		l := &leaves[i]
		at := -1
		if len(others) > 0 {
			at = findLeaf(others, l.Path, next)
		}
		if at >= 0 {
			next = at + 1
		}
		if at < 0 || others[at].Value != l.Value {
			t.addPlace(doc.ID, l.Path.Pattern(), l.Value)
		}
	}
	return nil
}

func generateOnce(s Settings, role Role, bundle *Bundle) (*Config, error) {
	vc, err := parseContract(s.Contract)
	if err != nil {
		return nil, err
	}
	if bundle.rotates == rotation.ServiceAccount && !multiDocument(vc) {
		return nil, errOneKey
	}
	if bundle.encryption != (encryption{}) && !multiDocument(vc) {
		return nil, errOneEncryptionKey
	}
	options := []generate.Option{
		generate.WithVersionContract(vc),
		generate.WithSecretsBundle(bundle.bundle),
		generate.WithAllowSchedulingOnControlPlanes(s.AllowScheduling),
		generate.WithInstallImage(s.InstallImage),
	}
	if s.InstallDisk != "" {
		options = append(options, generate.WithInstallDisk(s.InstallDisk))
	}
	if s.DNSDomain != "" {
		options = append(options, generate.WithDNSDomain(s.DNSDomain))
	}
	in, err := generate.NewInput(s.ClusterName, s.Endpoint, s.KubernetesVersion, options...)
	if err != nil {
		return nil, fmt.Errorf("generating the base of a %s: %w", role, err)
	}
	if len(s.PodSubnets) > 0 {
		in.PodNet = s.PodSubnets
	}
	if len(s.ServiceSubnets) > 0 {
		in.ServiceNet = s.ServiceSubnets
	}
	machineType, err := talosmachine.ParseType(string(role))
	if err != nil {
		return nil, fmt.Errorf("role %q: %w", role, err)
	}
	provider, err := in.Config(machineType)
	if err != nil {
		return nil, fmt.Errorf("generating the base of a %s: %w", role, err)
	}
	c := &Config{}
	for _, doc := range provider.Documents() {
		matchLink(doc, s.InstallDisk)
		bundle.accept(doc)
		bundle.encrypt(doc)
		if role == ControlPlane {
			correct(doc, s, bundle, vc)
		}
		c.docs = append(c.docs, &Document{ID: typedID(doc), typed: doc})
	}
	if vc.UnattendedInstallConfig() && s.InstallDisk == "" && s.InstallImage != "" {
		doc := installer(s.InstallImage)
		c.docs = append(c.docs, &Document{ID: typedID(doc), typed: doc})
	}
	return c, nil
}

// correct puts right what the library generates for a control plane.
func correct(doc config.Document, s Settings, bundle *Bundle, vc *talosconfig.VersionContract) {
	var labels map[string]string
	switch doc := doc.(type) {
	case *k8s.KubeNodeConfigV1Alpha1:
		labels = doc.LabelsConfig
	case *v1alpha1.Config:
		//lint:ignore SA1019 its place up to contract 1.13
		labels = doc.MachineConfig.MachineNodeLabels
		if !multiDocument(vc) {
			// The library leaves this one out since contract 1.3, also if there is
			// no other: the API server could not read its Secrets any more.
			//lint:ignore SA1019 its place up to contract 1.13
			doc.ClusterConfig.ClusterAESCBCEncryptionSecret = bundle.bundle.Secrets.AESCBCEncryptionSecret
		}
	}
	if s.AllowScheduling {
		// What runs there must be reached by load balancers as well.
		delete(labels, constants.LabelExcludeFromExternalLB)
	}
}

// CheckKubernetes reports whether a Kubernetes version runs on the Talos
// version of a contract. The library leaves this to its callers.
func CheckKubernetes(kubernetesVersion, contract string) error {
	k, err := compatibility.ParseKubernetesVersion(strings.TrimPrefix(kubernetesVersion, "v"))
	if err != nil {
		return fmt.Errorf("Kubernetes version %q: %w", kubernetesVersion, err)
	}
	t, err := compatibility.ParseTalosVersion(&machineapi.VersionInfo{Tag: strings.TrimPrefix(contract, "v") + ".0"})
	if err != nil {
		return fmt.Errorf("Talos version %q: %w", contract, err)
	}
	return k.SupportedWith(t)
}
