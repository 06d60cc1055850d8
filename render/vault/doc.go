// Package vault makes and changes the secrets of an environment: the Talos bundle,
// the cluster's age key, the keyring, and what addons and options need. Existing
// secrets are never overwritten, and nothing secret is written in the clear.
package vault
