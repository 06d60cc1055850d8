package sopsage

import (
	"context"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"time"

	"github.com/getsops/sops/v3"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
)

// Domain names a group of files that share a data key, and with it the people
// and machines who can read them.
type Domain string

const (
	// Operator is the domain of everything: only people have its keys.
	Operator Domain = "operator"
	// Cluster is the domain of the Secrets that the cluster itself decrypts.
	Cluster Domain = "cluster"
)

var domains = []Domain{Operator, Cluster}

// Keyring is an environment's data keys, one for each domain, wrapped for their
// recipients. It holds nothing secret and is committed.
//
// Wrapping needs public keys only, so anybody who can change the file could put
// a data key of their own there, have an operator render with it, and read the
// result. Therefore each entry carries a seal of its data key and its recipients,
// which only a holder of the environment's binding secret can make; [Keyring.Unwrap] refuses
// an entry without it.
type Keyring struct {
	file    string
	version int
	entries map[Domain]entry
}

// Versions of the keyring. The seals of the first one do not cover recipients; it
// is read, and never written anew.
const (
	firstKeyring   = 1
	keyringVersion = 2
)

// entry is one domain's wrapped data key.
type entry struct {
	wrapped sops.Metadata // LastModified is when the data key was made
	seal    []byte
}

// NewKeyring makes fresh data keys. The binding is a secret of the environment,
// kept in its secrets.sops.yaml, that seals the keyring; it must stay the same
// for as long as the keyring lives, and be a new one for the next: whoever knew
// the old one could bring an old keyring back.
func NewKeyring(operator, cluster Recipients, binding secret.String, random io.Reader, now time.Time) (*Keyring, error) {
	k := &Keyring{version: keyringVersion, entries: map[Domain]entry{}}
	if err := k.Rotate(Operator, operator, binding, random, now); err != nil {
		return nil, err
	}
	if err := k.Rotate(Cluster, cluster, binding, random, now); err != nil {
		return nil, err
	}
	return k, nil
}

// Rotate replaces the data key of a domain by a fresh one, wrapped for the
// given recipients. Everything that was encrypted in the domain must be
// rendered again.
func (k *Keyring) Rotate(domain Domain, recipients Recipients, binding secret.String, random io.Reader, now time.Time) error {
	key, err := newKey(random)
	if err != nil {
		return err
	}
	wrapped, err := recipients.wrap(key, now)
	if err != nil {
		return err
	}
	seal, err := k.sealKey(binding, domain, wrapped, key)
	if err != nil {
		return err
	}
	k.entries[domain] = entry{wrapped: wrapped, seal: seal}
	return nil
}

// Recipients returns who can unwrap the data key of a domain.
func (k *Keyring) Recipients(domain Domain) Recipients {
	md := k.entries[domain].wrapped
	return Recipients{groups: md.KeyGroups, threshold: md.ShamirThreshold}
}

// Unwrap recovers the data key of a domain, and checks that it was sealed with
// the binding.
func (k *Keyring) Unwrap(ctx context.Context, keys *Keys, domain Domain, binding secret.String) (*DataKey, error) {
	e, ok := k.entries[domain]
	if !ok {
		return nil, diag.New(diag.Pos{File: k.file}, "there is no data key for the domain %q", domain).WithCode(diag.Secrets)
	}
	block, err := newSkeleton(e.wrapped)
	if err != nil {
		return nil, diag.New(diag.Pos{File: k.file}, "the entry %q cannot be used", domain).WithCode(diag.Secrets).WithCause(err)
	}
	key, err := keys.cachedKey(block.before+block.after, func() (*DataKey, error) {
		return keys.unwrap(ctx, k.file, e.wrapped)
	})
	if err != nil {
		return nil, err
	}
	seal, err := k.sealKey(binding, domain, e.wrapped, key.key)
	if err != nil {
		return nil, err
	}
	if !hmac.Equal(seal, e.seal) {
		return nil, diag.New(diag.Pos{File: k.file}, "the data key %q was not made for this environment, or its recipients were changed", domain).
			WithHint("it was changed without the secrets of this environment, it comes from another environment, " +
				"or it is from before the last `talosgen secrets rekey`: restore it and the secrets from Git, or make new data keys with `talosgen secrets rekey <env> --new-keys`").
			WithCode(diag.Secrets)
	}
	return key, nil
}

// Outdated reports whether the keyring has an older format than is written now.
func (k *Keyring) Outdated() bool { return k.version < keyringVersion }

// Upgrade seals the data keys of an older keyring as they are sealed now. The data
// keys and their wrapped forms stay, so nothing has to be encrypted again.
func (k *Keyring) Upgrade(ctx context.Context, keys *Keys, binding secret.String) error {
	return k.Reseal(ctx, keys, binding, binding)
}

// Reseal seals the data keys with another binding, of a keyring that is to hold another
// data key too: who knew the binding before cannot bring that keyring back. What stays
// is as for [Keyring.Upgrade].
func (k *Keyring) Reseal(ctx context.Context, keys *Keys, from, to secret.String) error {
	next := &Keyring{file: k.file, version: keyringVersion, entries: map[Domain]entry{}}
	for domain, e := range k.entries {
		key, err := k.Unwrap(ctx, keys, domain, from)
		if err != nil {
			return err
		}
		seal, err := next.sealKey(to, domain, e.wrapped, key.key)
		if err != nil {
			return err
		}
		next.entries[domain] = entry{wrapped: e.wrapped, seal: seal}
	}
	*k = *next
	return nil
}

// sealKey binds a data key to its environment, domain, date and recipients.
func (k *Keyring) sealKey(binding secret.String, domain Domain, wrapped sops.Metadata, key []byte) ([]byte, error) {
	if binding.IsZero() {
		return nil, diag.New(diag.Pos{}, "the secret that seals the keyring is missing").
			WithHint("create it with `talosgen secrets init`").WithCode(diag.Secrets)
	}
	macKey, err := hkdf.Key(sha256.New, []byte(binding.Reveal()), nil, deriveInfo+"keyring", sha256.Size)
	if err != nil {
		return nil, fmt.Errorf("cannot derive the key of the keyring's seal: %w", err)
	}
	mac := hmac.New(sha256.New, macKey)
	mac.Write(appendField(nil, string(domain)))
	mac.Write(appendField(nil, wrapped.LastModified.UTC().Format(time.RFC3339)))
	mac.Write(appendField(nil, string(key)))
	if k.version > firstKeyring {
		recipients := Recipients{groups: wrapped.KeyGroups, threshold: wrapped.ShamirThreshold}
		mac.Write(appendField(nil, recipients.signature()))
	}
	return mac.Sum(nil), nil
}

func sealText(seal []byte) string { return base64.StdEncoding.EncodeToString(seal) }
