package sopsage

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"strings"

	"filippo.io/age"
	"filippo.io/age/agessh"
	"filippo.io/age/armor"
	"filippo.io/age/plugin"

	"github.com/talosgen/talosgen/internal/diag"
)

// EncryptStream encrypts what is written to the writer that it returns, in age's
// own format, so that the program age decrypts it too. The end is written when
// that writer is closed; without it nothing can be decrypted.
//
// Recipients are those of [Recipients.Strings]. age knows no other keys than its
// own and those of SSH: the others are returned as left out, and it is an error
// if nobody is left.
func (k *Keys) EncryptStream(to io.Writer, recipients []string) (w io.WriteCloser, leftOut []string, err error) {
	var use []age.Recipient
	for _, text := range recipients {
		r, err := parser{k.env}.recipient(text)
		switch {
		case err != nil:
			return nil, nil, diag.On("age", "a recipient cannot be used").
				WithHint("a recipient is a public key: age1… or ssh-…").WithCode(diag.Secrets)
		case r == nil:
			leftOut = append(leftOut, text)
		default:
			use = append(use, r)
		}
	}
	if len(use) == 0 {
		return nil, nil, diag.On("age", "there is no recipient to encrypt for").
			WithHint("age encrypts for age and SSH keys only: add one to .sops.yaml, and run `talosgen secrets rekey`").WithCode(diag.Secrets)
	}
	w, err = age.Encrypt(to, use...)
	if err != nil {
		return nil, nil, diag.On("age", "cannot encrypt for these recipients: %s", firstLine(err.Error())).
			WithHint("post-quantum recipients (age1pq…) and others cannot be mixed in one file").WithCode(diag.Secrets).WithCause(err)
	}
	return w, leftOut, nil
}

// recipient parses a public key; nil is one of a kind that age does not know.
func (p parser) recipient(text string) (age.Recipient, error) {
	switch {
	case strings.HasPrefix(text, "ssh-"):
		return agessh.ParseRecipient(text)
	case strings.HasPrefix(text, "age1pq1"):
		return age.ParseHybridRecipient(text)
	case strings.HasPrefix(text, "age1") && strings.LastIndex(text, "1") > len("age1"): // age1name1…
		return plugin.NewRecipient(text, p.pluginUI())
	case strings.HasPrefix(text, "age1"):
		return age.ParseX25519Recipient(text)
	}
	return nil, nil
}

// StreamHead is how many bytes at the beginning tell whether something was
// encrypted by age.
const StreamHead = len(armor.Header)

// IsEncryptedStream reports whether something that begins with head was
// encrypted by age.
func IsEncryptedStream(head []byte) bool {
	return bytes.HasPrefix(head, []byte("age-encryption.org/")) || bytes.HasPrefix(head, []byte(armor.Header))
}

// DecryptStream decrypts what age, or [Keys.EncryptStream], has encrypted, with
// an identity found where sops looks. What is read is authentic as far as it is
// read; that it is complete, only its end says. recipients are whom it was
// probably encrypted for, for commands that print the key of one. file is its
// name, for messages.
func (k *Keys) DecryptStream(ctx context.Context, file string, from io.Reader, recipients []string) (io.Reader, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	head := bufio.NewReader(from)
	from = head
	if start, _ := head.Peek(StreamHead); string(start) == armor.Header {
		from = armor.NewReader(head)
	}
	a := &attempt{keys: k}
	plain, err := age.Decrypt(from, &anyIdentity{ctx: ctx, attempt: a, recipients: recipients})
	var noMatch *age.NoIdentityMatchError
	switch {
	case err == nil:
		return plain, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.As(err, &noMatch):
		return nil, a.problem(file, recipients).WithCause(err)
	}
	return nil, diag.New(diag.Pos{File: file}, "cannot be decrypted: %s", firstLine(err.Error())).
		WithHint("is it whole, and was it encrypted by age?").WithCode(diag.Secrets).WithCause(err)
}

// anyIdentity is whatever identity can be found, looked for when it is needed.
type anyIdentity struct {
	ctx        context.Context
	attempt    *attempt
	recipients []string
}

// Unwrap tries first what costs nothing.
func (i *anyIdentity) Unwrap(stanzas []*age.Stanza) ([]byte, error) {
	keys, ssh := i.attempt.keys, false
	for _, s := range stanzas {
		ssh = ssh || strings.HasPrefix(s.Type, "ssh-")
	}
	sets := []func() *identitySet{keys.loadStatic}
	if ssh {
		sets = append(sets, keys.loadSSH)
	}
	for _, recipient := range i.recipients {
		sets = append(sets, func() *identitySet { return keys.runCommand(i.ctx, recipient, ssh) })
	}
	for _, load := range sets {
		set := load()
		i.attempt.tried = append(i.attempt.tried, set)
		for _, id := range set.ids {
			key, err := id.Unwrap(stanzas)
			if err == nil {
				return key, nil
			}
			if !errors.Is(err, age.ErrIncorrectIdentity) {
				i.attempt.failures = append(i.attempt.failures, firstLine(err.Error()))
			}
		}
	}
	return nil, age.ErrIncorrectIdentity
}
