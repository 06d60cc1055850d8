package rendered

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"

	"github.com/talosgen/talosgen/internal/diag"
)

const (
	// SealLabel names the key of the seal among those that are derived from the
	// data key of the operators.
	SealLabel = "seal"

	sealPrefix = "hmac-sha256:"
	// sealPurpose keeps this use of the key apart from every other use of it.
	sealPurpose = "talosgen render.lock.yaml seal"
)

// ComputeSeal returns the seal of everything in the lock but its seal: for which
// environment and cluster it was rendered too. Whoever does not have the key
// cannot make one that fits an edited lock.
func (l *Lock) ComputeSeal(key []byte) string {
	mac := hmac.New(sha256.New, key)
	var buf []byte
	// Lengths and counts go before what they count, so that no two locks are
	// sealed as the same bytes.
	text := func(s string) {
		buf = binary.BigEndian.AppendUint64(buf, uint64(len(s)))
		buf = append(buf, s...)
	}
	text(sealPurpose)
	buf = binary.BigEndian.AppendUint64(buf, uint64(l.Version))
	text(l.Talosgen)
	if l.Version > firstFormat {
		text(l.Environment)
		text(l.Cluster)
	}
	for _, entries := range [][]Entry{l.Inputs, l.Outputs} {
		buf = binary.BigEndian.AppendUint64(buf, uint64(len(entries)))
		for _, e := range entries {
			text(e.Path)
			text(e.Digest)
		}
		mac.Write(buf)
		buf = buf[:0]
	}
	if l.Version > secondFormat {
		buf = binary.BigEndian.AppendUint64(buf, uint64(len(l.Warned)))
		for _, part := range l.Warned {
			text(part)
		}
		mac.Write(buf)
	}
	return sealPrefix + hex.EncodeToString(mac.Sum(nil))
}

// VerifySeal refuses a lock that was not sealed with this key as it is now.
// It says nothing about the files: [Read] compares those with the lock.
func (l *Lock) VerifySeal(key []byte) error {
	if hmac.Equal([]byte(l.Seal), []byte(l.ComputeSeal(key))) {
		return nil
	}
	return diag.On(LockName, "the seal does not fit: the rendered tree was edited outside a render, or sealed with another key").
		WithCode(diag.Secrets).
		WithHint("review `git diff`, then run `talosgen render <env> --force`: it writes the tree from its sources and seals it")
}
