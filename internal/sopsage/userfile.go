package sopsage

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/getsops/sops/v3"
	sopsaes "github.com/getsops/sops/v3/aes"

	"github.com/talosgen/talosgen/internal/diag"
)

// Encrypt encrypts a file of a person's own for the first time, as `sops -e`
// does: a fresh data key from random, and nonces that SOPS' library takes from
// the system, so every call gives other bytes. The name chooses the format:
// KEY=VALUE for .env, else YAML. The rule chooses which values are encrypted; see
// [Rule.Whole].
func Encrypt(file string, plain []byte, rule *Rule, random io.Reader, now time.Time) ([]byte, error) {
	return encryptNew(file, plain, rule, rule.metadata, random, now)
}

// encryptNew encrypts a plaintext with a new data key; chosen completes the
// metadata with what is encrypted.
func encryptNew(file string, plain []byte, rule *Rule, chosen func(sops.Metadata) sops.Metadata, random io.Reader, now time.Time) ([]byte, error) {
	store := storeFor(file, rule.indent)
	branches, err := loadPlain(file, plain, store)
	if err != nil {
		return nil, err
	}
	if rule.whole {
		if err := refuseSuffix(file, branches); err != nil {
			return nil, err
		}
	}
	key, err := newKey(random)
	if err != nil {
		return nil, err
	}
	wrapped, err := rule.Recipients().wrap(key, now)
	if err != nil {
		return nil, err
	}
	tree := sops.Tree{Branches: branches, Metadata: chosen(wrapped), FilePath: file}
	return encryptTree(tree, key, sopsaes.NewCipher(), store, now)
}

// Reencrypt writes a changed plaintext into an encrypted file of which every
// value is secret: with the same data key, and with the old ciphertext for every
// value that did not change. If nothing changed, the file is returned as it was,
// byte for byte; a value that stood there in the clear is encrypted.
func (k *Keys) Reencrypt(ctx context.Context, file string, old, plain []byte, now time.Time) ([]byte, error) {
	store := storeFor(file, indentOf(old))
	opened, err := k.openTree(ctx, file, old, store)
	if err != nil {
		return nil, err
	}
	whole := choosesAll(opened.tree.Metadata)
	if whole && bytes.Equal(opened.plain, plain) {
		return old, nil
	}
	branches, err := loadPlain(file, plain, store)
	if err != nil {
		return nil, err
	}
	if err := refuseSuffix(file, branches); err != nil {
		return nil, err
	}
	before, err := store.LoadPlainFile(opened.plain)
	if err != nil {
		return nil, unreadable(file, err)
	}
	if whole && slices.EqualFunc(before, branches, sops.TreeBranch.Equals) {
		return old, nil
	}
	tree := opened.tree
	tree.Branches, tree.Metadata = branches, encryptAll(tree.Metadata)
	return encryptTree(tree, opened.key, opened.cipher, store, now)
}

// Rekey encrypts a file again for the recipients of a rule, with a fresh data
// key: whoever was a recipient before cannot read what comes after. What Git
// remembers stays readable to them. The same values are encrypted as before,
// unless the rule is one for all of them: of which values are secret, the file
// is to say, and not .sops.yaml.
func (k *Keys) Rekey(ctx context.Context, file string, old []byte, rule *Rule, random io.Reader, now time.Time) ([]byte, error) {
	opened, err := k.openTree(ctx, file, old, storeFor(file, indentOf(old)))
	if err != nil {
		return nil, err
	}
	chosen := func(md sops.Metadata) sops.Metadata { return choose(md, opened.tree.Metadata) }
	if rule.whole {
		chosen = encryptAll
	}
	return encryptNew(file, opened.plain, rule, chosen, random, now)
}

// loadPlain parses a plaintext as SOPS does, and refuses what it could not
// encrypt.
func loadPlain(file string, plain []byte, store sops.Store) (sops.TreeBranches, error) {
	branches, err := store.LoadPlainFile(plain)
	if err != nil {
		return nil, unreadable(file, err)
	}
	if len(branches) == 0 {
		return nil, diag.New(diag.Pos{File: file}, "there is nothing to encrypt").WithCode(diag.Secrets)
	}
	for _, branch := range branches {
		if store.HasSopsTopLevelKey(branch) {
			return nil, diag.New(diag.Pos{File: file}, "the plaintext has a key that belongs to SOPS").
				WithHint("encrypt a file once; change it with `talosgen secrets edit`").WithCode(diag.Secrets)
		}
	}
	return branches, nil
}

// encryptTree encrypts and prints a tree whose metadata is complete but for
// date, version and MAC.
func encryptTree(tree sops.Tree, key []byte, cipher sops.Cipher, store sops.Store, now time.Time) ([]byte, error) {
	tree.Metadata.LastModified = now.UTC().Truncate(time.Second)
	tree.Metadata.Version = SOPSVersion
	mac, err := tree.Encrypt(key, cipher)
	if err != nil {
		return nil, unreadable(tree.FilePath, err)
	}
	modified := tree.Metadata.LastModified.Format(time.RFC3339)
	tree.Metadata.MessageAuthenticationCode, err = cipher.Encrypt(mac, key, modified)
	if err != nil {
		return nil, err
	}
	out, err := store.EmitEncryptedFile(tree)
	if err != nil {
		return nil, unreadable(tree.FilePath, err)
	}
	return out, nil
}

func newKey(random io.Reader) ([]byte, error) {
	key := make([]byte, dataKeySize)
	if _, err := io.ReadFull(random, key); err != nil {
		return nil, fmt.Errorf("no randomness for a data key: %w", err)
	}
	return key, nil
}
