package sopsage

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"filippo.io/age"
	"filippo.io/age/armor"
	"github.com/getsops/sops/v3"
	ageservice "github.com/getsops/sops/v3/age"
	"github.com/getsops/sops/v3/keyservice"

	"github.com/talosgen/talosgen/internal/diag"
)

// attempt is one try to recover a data key: what it learned is what a problem
// tells if it fails.
type attempt struct {
	keys     *Keys
	tried    []*identitySet
	failures []string // other than an identity that does not match
}

// plainKey returns the data key that metadata holds wrapped.
func (k *Keys) plainKey(ctx context.Context, file string, md *sops.Metadata) ([]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	a := &attempt{keys: k}
	for _, group := range md.KeyGroups {
		a.openGroup(ctx, group)
	}
	service := []keyservice.KeyServiceClient{keyservice.NewCustomLocalClient(service{attempt: a})}
	askable := a.askable(file, *md)
	key, err := askable.GetDataKeyWithKeyServices(service, sops.DefaultDecryptionOrder)
	if err != nil {
		return nil, a.problem(file, Recipients{groups: md.KeyGroups}.Strings()).WithCause(err)
	}
	md.DataKey = nil // never kept where a printed struct would show it
	return key, nil
}

// unwrap gives the data key of a rendered file's metadata.
func (k *Keys) unwrap(ctx context.Context, file string, md sops.Metadata) (*DataKey, error) {
	key, err := k.plainKey(ctx, file, &md)
	if err != nil {
		return nil, err
	}
	block, err := newSkeleton(md)
	if err != nil {
		return nil, err
	}
	manifestBlock, err := newManifestSkeleton(md)
	if err != nil {
		return nil, err
	}
	dataKey, err := newDataKey(key, block, manifestBlock)
	if err != nil {
		return nil, diag.New(diag.Pos{File: file}, "%s", err).WithCode(diag.Secrets)
	}
	return dataKey, nil
}

// openGroup tries our identities on the age keys of a group: first those that
// cost nothing, then those that commands print. A command is run for the first
// recipient; only if what it prints opens nothing is it asked for the next.
func (a *attempt) openGroup(ctx context.Context, group sops.KeyGroup) {
	var wrapped []*ageservice.MasterKey
	ssh := false
	for _, key := range group {
		if key, ok := key.(*ageservice.MasterKey); ok {
			wrapped = append(wrapped, key)
			ssh = ssh || strings.HasPrefix(key.Recipient, "ssh-")
		}
	}
	if len(wrapped) == 0 || a.opened(wrapped) || a.try(a.keys.loadStatic(), wrapped) {
		return
	}
	if ssh && a.try(a.keys.loadSSH(), wrapped) {
		return
	}
	for _, key := range wrapped {
		if a.try(a.keys.runCommand(ctx, key.Recipient, ssh), wrapped) {
			return
		}
	}
}

func (a *attempt) opened(wrapped []*ageservice.MasterKey) bool {
	return slices.ContainsFunc(wrapped, func(key *ageservice.MasterKey) bool {
		return a.keys.parts[key.EncryptedKey] != nil
	})
}

// try tries a set of identities on wrapped keys until one opens.
func (a *attempt) try(set *identitySet, wrapped []*ageservice.MasterKey) bool {
	if !slices.Contains(a.tried, set) {
		a.tried = append(a.tried, set)
	}
	for _, key := range wrapped {
		for _, id := range set.ids { // one by one: a failing plugin must not hide a good key
			part, err := decryptAge(key.EncryptedKey, id)
			if err == nil {
				a.keys.parts[key.EncryptedKey] = part
				return true
			}
			// A wrong passphrase, a missing plugin: worth telling, unlike an
			// identity that is just not the right one.
			if noMatch := new(age.NoIdentityMatchError); !errors.As(err, &noMatch) {
				a.failures = append(a.failures, firstLine(err.Error()))
			}
		}
	}
	return false
}

func decryptAge(text string, id age.Identity) ([]byte, error) {
	r, err := age.Decrypt(armor.NewReader(strings.NewReader(text)), id)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(r, 1<<16))
}

// service answers SOPS' requests to decrypt a part of a data key: for age from
// what the attempt opened, for everything else through SOPS' own service, which
// reads the configuration of KMS, PGP and Vault from the process environment.
type service struct {
	keyservice.Server
	attempt *attempt
}

// Decrypt implements SOPS' key service.
func (s service) Decrypt(ctx context.Context, req *keyservice.DecryptRequest) (*keyservice.DecryptResponse, error) {
	if req.GetKey().GetAgeKey() != nil {
		if part := s.attempt.keys.parts[string(req.Ciphertext)]; part != nil {
			return &keyservice.DecryptResponse{Plaintext: bytes.Clone(part)}, nil
		}
		return nil, errNoIdentity
	}
	resp, err := s.Server.Decrypt(ctx, req)
	if err != nil {
		s.attempt.failures = append(s.attempt.failures, firstLine(err.Error()))
	}
	return resp, err
}

var errNoIdentity = age.ErrIncorrectIdentity

// problem explains why something that was encrypted for the recipients could not
// be decrypted.
func (a *attempt) problem(file string, recipients []string) *diag.Problem {
	var mine, looked []string
	for _, set := range a.tried {
		mine = append(mine, set.public...)
		looked = append(looked, set.looked...)
	}
	var hint strings.Builder
	message := "no identity was found to decrypt it with"
	if len(mine) > 0 {
		message = "none of the identities that were found can decrypt it"
	}
	writeList(&hint, "it is encrypted for:", recipients)
	writeList(&hint, "found identities for:", mine)
	writeList(&hint, "looked in:", looked)
	writeList(&hint, "this went wrong:", a.failures)
	if len(mine) == 0 {
		hint.WriteString("make a key with `age-keygen -o keys.txt` (or `talosgen init`), put it where sops looks, " +
			"and ask an operator who can decrypt to add its public key to .sops.yaml and run `talosgen secrets rekey`")
	} else {
		hint.WriteString("use a key of one of these recipients, or have one of them add yours to .sops.yaml " +
			"and run `talosgen secrets rekey`")
	}
	return diag.New(diag.Pos{File: file}, "%s", message).WithHint("%s", hint.String()).WithCode(diag.Secrets)
}

// longest is how much of a list's line is shown: a post-quantum recipient has
// two thousand characters.
const longest = 120

func writeList(b *strings.Builder, title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	b.WriteString(title + "\n")
	seen := map[string]bool{}
	for _, line := range lines {
		if len(line) > longest {
			line = line[:longest] + "…"
		}
		if !seen[line] {
			b.WriteString("  " + line + "\n")
		}
		seen[line] = true
	}
}
