package rotation

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strings"
)

// MarkAnnotation is the annotation with the mark of the autoscaler's pods.
const MarkAnnotation = "talosgen.dev/authorities"

// Mark is the trust of a kind as text: what pods carry that make servers while a
// rotation is under way.
func Mark(kind Kind, t Trust) string {
	return string(kind) + "=" + strings.Join(append([]string{t.Issues}, t.Accepts...), ",")
}

// readMark reads what [Mark] wrote.
func readMark(text string) (kind Kind, t Trust, ok bool) {
	name, authorities, cut := strings.Cut(text, "=")
	all := strings.Split(authorities, ",")
	kind, t.Issues = Kind(name), all[0]
	if len(all) > 1 {
		t.Accepts = all[1:]
	}
	return kind, t, cut && kind.Known() && t.Issues != ""
}

// DigestOf stands for a certificate or a key. It is the same for PEM, and for PEM in
// base64; empty if there is nothing.
func DigestOf(text string) string {
	text = strings.Join(strings.Fields(PlainPEM(text)), "")
	if text == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// PlainPEM is PEM that may be in base64.
func PlainPEM(text string) string {
	if decoded, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text)); err == nil && strings.HasPrefix(string(decoded), "-----BEGIN ") {
		return string(decoded)
	}
	return text
}
