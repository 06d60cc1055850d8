package schemas

import (
	"strconv"
	"strings"
)

// HostKeyFile is the file in a rendered tree that holds a [HostKey], if the
// cluster has a NAT gateway.
const HostKeyFile = "ssh-host-key.yaml"

// HostKeySecret is the key in that file whose value is encrypted.
const HostKeySecret = "privateKey"

// HostKey is the SSH host key of the NAT gateway.
type HostKey struct {
	APIVersion string `yaml:"apiVersion"` // [InfrastructureVersion]
	Cluster    string `yaml:"cluster"`
	PublicKey  string `yaml:"publicKey"`  // as in an authorized_keys file
	PrivateKey string `yaml:"privateKey"` // PEM, in the format of OpenSSH; a secret
}

// HostKeyMarker stands in the user data of a server for its private SSH host
// key, which is a secret: apply puts the key there when it makes the server.
const HostKeyMarker = "${SSH_HOST_KEY}"

// FillHostKey puts a private SSH host key, as PEM, in place of the marker in
// user data: as a text in double quotes, as YAML and JSON have it.
func FillHostKey(userData, key string) string {
	return strings.ReplaceAll(userData, HostKeyMarker, strconv.Quote(key))
}
