package talossim

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/versions"
)

// config is a machine configuration, as far as a simulated machine understands
// it.
type config struct {
	text      []byte
	documents []map[string]any
	main      mainDocument
	hostname  string
	labels    map[string]string
	taints    map[string]string
	kubelet   string            // its image
	programs  map[string]string // images of static pods, by program
	endpoint  string            // of the Kubernetes API
	kubeCA    pair
	// The certificates that Kubernetes trusts besides, and the keys of service accounts.
	kubeAccepted []string
	tokens       tokenKeys
	secretKeys   []string // that Secrets are encrypted with (the first) and read
	kubeNames    []string // more names for the certificate of the Kubernetes API
	podAccess    bool     // pods may use the Talos API
	noProxy      bool     // kube-proxy does not run
	clusterID    string
}

// pair is a certificate and its key: PEM in base64, or plain in documents of
// Talos 1.14, which call the certificate cert.
type pair struct {
	Crt  string `yaml:"crt"`
	Cert string `yaml:"cert"`
	Key  string `yaml:"key"`
}

type mainDocument struct {
	Machine struct {
		Type     string   `yaml:"type"`
		Token    string   `yaml:"token"`
		CA       pair     `yaml:"ca"`
		Accepted []pair   `yaml:"acceptedCAs"`
		CertSANs []string `yaml:"certSANs"`
		Kubelet  struct {
			Image string `yaml:"image"`
		} `yaml:"kubelet"`
		Network struct {
			Hostname string `yaml:"hostname"`
		} `yaml:"network"`
		NodeLabels map[string]string `yaml:"nodeLabels"`
		NodeTaints map[string]string `yaml:"nodeTaints"`
		Features   struct {
			TalosAPIAccess struct {
				Enabled bool `yaml:"enabled"`
			} `yaml:"kubernetesTalosAPIAccess"`
		} `yaml:"features"`
	} `yaml:"machine"`
	Cluster struct {
		ID           string `yaml:"id"`
		Token        string `yaml:"token"`
		ControlPlane struct {
			Endpoint string `yaml:"endpoint"`
		} `yaml:"controlPlane"`
		CA        pair   `yaml:"ca"`
		Accepted  []pair `yaml:"acceptedCAs"`
		Account   pair   `yaml:"serviceAccount"`
		Secretbox string `yaml:"secretboxEncryptionSecret"`
		APIServer struct {
			CertSANs []string `yaml:"certSANs"`
			Image    string   `yaml:"image"`
		} `yaml:"apiServer"`
		ControllerManager program `yaml:"controllerManager"`
		Scheduler         program `yaml:"scheduler"`
		Proxy             struct {
			Image    string `yaml:"image"`
			Disabled bool   `yaml:"disabled"`
		} `yaml:"proxy"`
		Etcd struct {
			CA pair `yaml:"ca"`
		} `yaml:"etcd"`
	} `yaml:"cluster"`
}

// program is a static pod, as the main document describes it.
type program struct {
	Image string `yaml:"image"`
}

// otherDocument is what other documents say that matters here.
type otherDocument struct {
	Hostname  string            `yaml:"hostname"`
	Labels    map[string]string `yaml:"labels"`
	Taints    map[string]string `yaml:"taints"`
	Image     string            `yaml:"image"`
	Enabled   *bool             `yaml:"enabled"`
	Endpoint  string            `yaml:"endpoint"`
	IssuingCA pair              `yaml:"issuingCA"`
	Accepted  yaml.Node         `yaml:"acceptedCAs"`
	Issuer    struct {
		Key string `yaml:"privateKey"`
	} `yaml:"issuer"`
	Trusted struct {
		Keys []string `yaml:"publicKeys"`
	} `yaml:"accepted"`
	Config    yaml.Node `yaml:"config"`
	ClusterID string    `yaml:"clusterID"`
	CertSANs  []string  `yaml:"certExtraSANs"`
}

// parseConfig reads a configuration. The errors are those that Talos gives for
// what it cannot read, in short.
func parseConfig(text []byte) (*config, error) {
	c := &config{text: bytes.Clone(text)}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var node yaml.Node
		if err := dec.Decode(&node); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, errors.New("failed to decode the configuration: it is not YAML")
		}
		if err := c.document(&node); err != nil {
			return nil, err
		}
	}
	if len(c.documents) == 0 {
		return nil, errors.New("no configuration documents found")
	}
	return c, c.check()
}

func (c *config) document(node *yaml.Node) error {
	var d map[string]any
	if err := node.Decode(&d); err != nil {
		return errors.New("a document of the configuration is no map")
	}
	c.documents = append(c.documents, d)
	kind, _ := d["kind"].(string)
	if kind == "" {
		if err := node.Decode(&c.main); err != nil {
			return errors.New("the main document of the configuration has values of other types")
		}
		m := c.main.Machine
		c.hostname, c.labels, c.taints, c.kubelet = m.Network.Hostname, m.NodeLabels, m.NodeTaints, m.Kubelet.Image
		c.endpoint, c.kubeCA = c.main.Cluster.ControlPlane.Endpoint, c.main.Cluster.CA
		for _, other := range c.main.Cluster.Accepted {
			c.kubeAccepted = append(c.kubeAccepted, other.Crt)
		}
		c.tokens.signs = c.main.Cluster.Account.Key
		c.secretKeys = append(c.secretKeys, encryptionKey("secretbox", "key2", c.main.Cluster.Secretbox)...)
		c.kubeNames = c.main.Cluster.APIServer.CertSANs
		c.clusterID = cmp.Or(c.main.Cluster.ID, c.clusterID)
		c.program("kube-apiserver", c.main.Cluster.APIServer.Image)
		c.program("kube-controller-manager", c.main.Cluster.ControllerManager.Image)
		c.program("kube-scheduler", c.main.Cluster.Scheduler.Image)
		c.program("kube-proxy", c.main.Cluster.Proxy.Image)
		c.noProxy = c.main.Cluster.Proxy.Disabled
		c.podAccess = m.Features.TalosAPIAccess.Enabled
		return nil
	}
	var o otherDocument
	if err := node.Decode(&o); err != nil {
		return nil // of another shape: it is none of those below
	}
	switch kind {
	case "HostnameConfig":
		c.hostname = o.Hostname
	case "DiscoveryIdentityConfig":
		c.clusterID = o.ClusterID
	case "KubeNodeConfig":
		c.labels, c.taints = o.Labels, o.Taints
	case "KubeletConfig":
		c.kubelet = o.Image
	case "KubeTalosAPIAccessConfig":
		c.podAccess = true
	case "KubeAPIServerConfig":
		c.kubeNames = o.CertSANs
		c.program("kube-apiserver", o.Image)
	case "KubeControllerManagerConfig":
		c.program("kube-controller-manager", o.Image)
	case "KubeSchedulerConfig":
		c.program("kube-scheduler", o.Image)
	case "KubeProxyConfig":
		c.program("kube-proxy", o.Image)
		c.noProxy = o.Enabled != nil && !*o.Enabled
	case "KubeClusterConfig":
		c.endpoint = o.Endpoint
	case "KubeAPIServerCAConfig":
		c.kubeCA = pair{Crt: o.IssuingCA.Cert, Key: o.IssuingCA.Key}
		_ = o.Accepted.Decode(&c.kubeAccepted)
	case "KubeServiceAccountConfig":
		c.tokens = tokenKeys{o.Issuer.Key, o.Trusted.Keys}
	case "KubeEtcdEncryptionConfig":
		c.secretKeys = encryptionKeys(&o.Config)
	}
	return nil
}

// check refuses what Talos' validation refuses first.
func (c *config) check() error {
	switch t := c.main.Machine.Type; {
	case !c.hasMain():
		return nil
	case t != "" && t != "controlplane" && t != "worker" && t != "init":
		return fmt.Errorf("invalid machine type: %q", t)
	case t != "" && c.main.Machine.CA.Crt == "":
		return errors.New("issuing Talos API CA or accepted CAs are required")
	}
	return nil
}

// hasMain reports whether there is the document without a kind.
func (c *config) hasMain() bool {
	return slices.ContainsFunc(c.documents, func(d map[string]any) bool { return d["kind"] == nil })
}

// complete reports whether a machine can boot with it.
func (c *config) complete() bool { return c.main.Machine.Type != "" }

func (c *config) controlPlane() bool { return c.main.Machine.Type != "worker" && c.complete() }

// cluster tells one cluster from another: its id, which stays when authorities are
// rotated; without one its machine authority.
func (c *config) cluster() string {
	sum := sha256.Sum256([]byte(cmp.Or(c.clusterID, c.main.Machine.CA.Crt)))
	return hex.EncodeToString(sum[:8])
}

// program notes the image of a static pod.
func (c *config) program(name, image string) {
	if c.programs == nil {
		c.programs = map[string]string{}
	}
	if image != "" {
		c.programs[name] = image
	}
}

// kubernetes is the version of Kubernetes: that of its kubelet.
func (c *config) kubernetes() string {
	return cmp.Or(versionOf(c.kubelet), "v"+versions.Newest().Start())
}

// versionOf is the version in the tag of an image; empty if it has none.
func versionOf(image string) string {
	if i := strings.LastIndex(image, ":v"); i >= 0 {
		version, _, _ := strings.Cut(image[i+1:], "@")
		return version
	}
	return ""
}

// immediate are the keys of machine whose change takes effect without a reboot
// in Talos 1.13.
var immediate = strings.Fields(`ca acceptedCAs time certSANs install network sysfs sysctls logging controlPlane kubelet
kernel registries pods seccompProfiles nodeAnnotations nodeLabels nodeTaints features`)

// needsReboot reports whether Talos 1.13 can only change to another
// configuration by a reboot: it compares the main document.
func (c *config) needsReboot(other *config) bool {
	return !reflect.DeepEqual(c.rest(), other.rest())
}

// rest is what is left of the main document without what changes at once.
func (c *config) rest() map[string]any {
	left := map[string]any{}
	for _, d := range c.documents {
		if d["kind"] != nil {
			continue
		}
		left = maps.Clone(d)
		delete(left, "debug")
		delete(left, "cluster")
		if m, isMap := left["machine"].(map[string]any); isMap {
			m = maps.Clone(m)
			for _, key := range immediate {
				delete(m, key)
			}
			left["machine"] = m
		}
	}
	return left
}

// asPEM returns PEM, plain or in base64, as PEM.
func asPEM(text string) []byte {
	if strings.Contains(text, "-----BEGIN ") {
		return []byte(text)
	}
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil
	}
	return data
}
