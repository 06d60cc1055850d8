package simtest

import (
	"encoding/base64"
	"strings"
)

// Turn takes the rotation of the authority of Kubernetes one phase on: a new one is
// trusted, it signs, the old one is forgotten. Configurations that are asked for after
// it are of that phase.
func (c *Cluster) Turn() {
	switch {
	case c.other.certificate == nil:
		c.other = newAuthority(c.t, "kubernetes")
	case !c.turned:
		c.kubernetes, c.other, c.turned = c.other, c.kubernetes, true
	default:
		c.other, c.turned = authority{}, false
	}
}

// accepted is the field of what is trusted besides, in a rotation.
func (c *Cluster) accepted() string {
	if c.other.certificate == nil {
		return ""
	}
	return "  acceptedCAs: [{crt: " + base64.StdEncoding.EncodeToString(c.other.certificatePEM()) + "}]\n"
}

// KubernetesAuthorities are the certificates of all authorities of Kubernetes that are
// trusted, PEM.
func (c *Cluster) KubernetesAuthorities() []byte {
	all := string(c.kubernetes.certificatePEM())
	if c.other.certificate != nil {
		all = strings.TrimSpace(all) + "\n" + string(c.other.certificatePEM())
	}
	return []byte(all)
}
