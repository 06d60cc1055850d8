// Package newenv makes an environment that is like another one and has a cluster of its
// own: another name, other ranges of addresses, new secrets and keys. What belongs to one
// place alone, such as a name in DNS, has to be said; nothing that is secret is copied.
package newenv
