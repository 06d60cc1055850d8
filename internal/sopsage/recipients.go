package sopsage

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/getsops/sops/v3"
	ageservice "github.com/getsops/sops/v3/age"
	"github.com/getsops/sops/v3/keyservice"

	"github.com/talosgen/talosgen/internal/diag"
)

// Recipients is who a data key is wrapped for: public keys of any type that
// SOPS knows, in one group, or in several of which a threshold is needed. The
// zero value is nobody.
type Recipients struct {
	groups    []sops.KeyGroup
	threshold int
}

// With adds age (or SSH) public keys. If there are several groups, a key is added to
// each of them, so that it can decrypt alone.
func (r Recipients) With(public ...string) (Recipients, error) {
	out := Recipients{groups: slices.Clone(r.groups), threshold: r.threshold}
	if len(out.groups) == 0 {
		out.groups = []sops.KeyGroup{nil}
	}
	for _, text := range public {
		for i, group := range out.groups {
			key, err := newAgeKey(text)
			if err != nil {
				return Recipients{}, err
			}
			out.groups[i] = append(slices.Clip(group), key)
		}
	}
	return out, nil
}

func newAgeKey(public string) (*ageservice.MasterKey, error) {
	key, err := ageservice.MasterKeyFromRecipient(public)
	if err != nil {
		// The library's message quotes its input, which may be a private key
		// that was pasted at the wrong place.
		return nil, diag.New(diag.Pos{}, "not an age recipient").
			WithHint("a recipient is a public key: age1… or ssh-…").WithCode(diag.Secrets)
	}
	return key, nil
}

// IsZero reports whether there are no recipients at all.
func (r Recipients) IsZero() bool { return len(r.Strings()) == 0 }

// Strings lists the recipients: age public keys as they are, others with their
// type in front ("pgp:…").
func (r Recipients) Strings() []string {
	var out []string
	for _, group := range r.groups {
		for _, key := range group {
			text := key.ToString()
			if kind := key.TypeToIdentifier(); kind != ageservice.KeyTypeIdentifier {
				text = kind + ":" + text
			}
			if !slices.Contains(out, text) {
				out = append(out, text)
			}
		}
	}
	return out
}

// Equal reports whether two sets of recipients give the same people access,
// whatever the order in which they are written.
func (r Recipients) Equal(other Recipients) bool {
	return r.signature() == other.signature()
}

func (r Recipients) signature() string {
	var groups []string
	for _, group := range r.groups {
		keys := Recipients{groups: []sops.KeyGroup{group}}.Strings()
		slices.Sort(keys)
		groups = append(groups, strings.Join(keys, "\n"))
	}
	slices.Sort(groups)
	threshold := 0
	if len(groups) > 1 {
		if threshold = r.threshold; threshold == 0 {
			threshold = len(groups) // SOPS' default
		}
	}
	return fmt.Sprint(threshold, groups)
}

// wrap wraps a data key for the recipients and gives the wrapped keys. Each
// call makes other ciphertexts: age and the key services take their randomness
// from the system and cannot be given any.
func (r Recipients) wrap(key []byte, now time.Time) (sops.Metadata, error) {
	if r.IsZero() {
		return sops.Metadata{}, diag.New(diag.Pos{}, "no recipients to encrypt for").
			WithHint("name at least one public key in the creation rule of .sops.yaml").WithCode(diag.Secrets)
	}
	// Through SOPS' storage form and back: master keys hold their ciphertext,
	// so every data key needs copies of its own.
	tree, err := metadataTree(sops.Metadata{KeyGroups: r.groups, ShamirThreshold: r.threshold})
	if err != nil {
		return sops.Metadata{}, err
	}
	setCreated(tree, now)
	md, err := keyMetadata(tree, now.UTC().Truncate(time.Second))
	if err != nil {
		return sops.Metadata{}, err
	}
	// The local key service reaches cloud KMS, PGP and Vault the way sops does,
	// with their own configuration from the process environment.
	local := []keyservice.KeyServiceClient{keyservice.NewLocalClient()}
	if errs := md.UpdateMasterKeysWithKeyServices(bytes.Clone(key), local); len(errs) > 0 {
		var list diag.List
		for _, err := range errs {
			list.Add(diag.New(diag.Pos{}, "the data key could not be encrypted for a recipient: %s", firstLine(err.Error())).
				WithCode(diag.Secrets).WithCause(err))
		}
		return sops.Metadata{}, list.Err()
	}
	md.DataKey = nil // never kept where a printed struct would show it
	return md, nil
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}
