// Package placeholder has what takes the place of secrets in a render without keys:
// values of the same shape, which are no secrets. It is pure.
package placeholder

import "encoding/base64"

// Text takes the place of a secret text. It is base64 of 32 bytes, which is what
// keys look like.
var Text = base64.StdEncoding.EncodeToString([]byte("talosgen placeholder, 32 bytes!!"))

const (
	// SSHKey takes the place of a public SSH key.
	SSHKey = "ssh-ed25519 placeholder"
	// AgeRecipient takes the place of the cluster's public age key.
	AgeRecipient = "age1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqs3290gq"
)
