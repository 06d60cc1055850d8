package render_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"math/big"
	"strings"
	"sync"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"
)

// marker is in every secret of the canary tests. Lower case letters and digits
// are what all forms of secrets allow.
const marker = "qzxkanarivogl95"

// markedRandom is the randomness of the canary tests: keys that are made from
// it hold the marker too. No two reads give the same.
type markedRandom struct{ next int }

func (r *markedRandom) Read(p []byte) (int, error) {
	for n := 0; n < len(p); {
		r.next++
		n += copy(p[n:], fmt.Sprintf("%s%d", marker, r.next))
	}
	return len(p), nil
}

// window is how much of the marker must not be seen. In hexadecimal digits it is
// twice as long: six of those are in any address that Go prints, by chance.
const window = 6

// forms are the spellings of pieces of the marker that must not be seen
// anywhere: as it is, in hexadecimal, in base64 at each alignment, and in base64
// of a text that holds base64 (as keys are in bundles).
var forms = sync.OnceValue(func() map[string]string {
	found := map[string]string{}
	add := func(form, name string) { found[form[:window]] = name }
	addHex := func(digits string) { found[digits] = "hex of the marker" }
	for i := 0; i+window <= len(marker); i++ {
		piece := marker[i : i+window]
		add(piece, "the marker")
		addHex(hex.EncodeToString([]byte(piece)))
		addHex(strings.ToUpper(hex.EncodeToString([]byte(piece))))
		for _, inner := range base64Forms(piece) {
			add(inner, "base64 of the marker")
		}
	}
	for i := 0; i+window+2 <= len(marker); i++ {
		for _, inner := range base64Forms(marker[i : i+window+2]) {
			for _, outer := range base64Forms(inner[:window]) {
				add(outer, "base64 of base64 of the marker")
			}
		}
	}
	return found
})

// base64Forms spells a piece of a text in base64 at each alignment, without the
// characters that depend on its neighbours.
func base64Forms(piece string) []string {
	var all []string
	for shift := range 3 {
		padded := strings.Repeat("\x00", shift) + piece
		for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			all = append(all, enc.EncodeToString([]byte(padded))[(shift*8+5)/6:len(padded)*8/6])
		}
	}
	return all
}

// markerBytes is the marker as Go prints a slice of bytes.
var markerBytes = strings.Trim(fmt.Sprint([]byte(marker)), "[]")

// findMarker looks for any form of the marker in a text.
func findMarker(text string) string {
	if i := strings.Index(text, markerBytes); i >= 0 {
		return "the marker as bytes"
	}
	known := forms()
	for i := 0; i+window <= len(text); i++ {
		for _, n := range []int{window, 2 * window} {
			if name, ok := known[text[i:min(len(text), i+n)]]; ok {
				return fmt.Sprintf("%s, in %q", name, text[max(0, i-60):min(len(text), i+60)])
			}
		}
	}
	return ""
}

// shortSecrets are secrets of the canary tests that are too short to hold the
// marker; none of them is part of an ordinary word or number.
var shortSecrets = []string{"q~7", "zq8w1", "48271", "7m13s", "§"}

// withoutCiphertext takes out of a text what only looks random: encrypted
// values, age's wrapped keys, and digests. A marker in there cannot be read, and
// a short one is there by chance.
func withoutCiphertext(text string) string {
	text = cutOut(text, "ENC[AES256_GCM,", func(rest string) int { return strings.Index(rest, "]") })
	text = cutOut(text, "-----BEGIN AGE", func(rest string) int { return strings.Index(rest, "-----END AGE") })
	for prefix, length := range map[string]int{"sha256:": 64, "age1": 58, "seal: ": 44} {
		text = cutOut(text, prefix, func(rest string) int { return min(length, len(rest)) })
	}
	return text
}

// cutOut removes what follows a prefix, up to the end that is found in the rest.
func cutOut(text, prefix string, end func(rest string) int) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, prefix)
		b.WriteString(before)
		if !found {
			return b.String()
		}
		text = rest[max(0, end(rest)):]
	}
}

// mustHideSecrets fails the test if a text shows a secret of the canaries.
func mustHideSecrets(t testing.TB, where, text string) {
	t.Helper()
	text = withoutCiphertext(text)
	if found := findMarker(text); found != "" {
		t.Errorf("%s shows %s", where, found)
	}
	for _, s := range shortSecrets {
		if i := strings.Index(text, s); i >= 0 {
			t.Errorf("%s shows the short secret %q in %q", where, s, text[max(0, i-60):min(len(text), i+60)])
		}
	}
}

// The search itself must find what it is for.
func TestMarkerIsFound(t *testing.T) {
	const text = "some " + marker + " text"
	std := base64.StdEncoding
	for name, leak := range map[string]string{
		"plain":        text,
		"cut off":      "`" + marker[:window] + "...`",
		"cut in front": "..." + marker[len(marker)-window:] + "`",
		"quoted":       fmt.Sprintf("%q", "\n"+text),
		"base64 0":     std.EncodeToString([]byte(marker)),
		"base64 1":     std.EncodeToString([]byte("a" + marker)),
		"base64 2":     std.EncodeToString([]byte("aa" + marker)),
		"base64 URL":   base64.URLEncoding.EncodeToString([]byte("ÿÿ" + marker)),
		"hex":          hex.EncodeToString([]byte(text)),
		"HEX":          fmt.Sprintf("%X", text),
		"bytes":        fmt.Sprint([]byte(text)),
		"PEM":          "key: " + std.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "X", Bytes: []byte(text)})),
	} {
		if findMarker(leak) == "" {
			t.Errorf("%s: nothing is found in %q", name, leak)
		}
	}
	// Addresses of memory are not secret, whatever they are.
	for i := range marker[:len(marker)-4] {
		if address := fmt.Sprintf("0xc0%x", marker[i:i+4]); findMarker(address) != "" {
			t.Errorf("the marker is found in %s", address)
		}
	}
	if found := findMarker(readFile(t, shipped, "rendered/prod/nodes/acme-production-eu-central-worker-1.yaml")); found != "" {
		t.Errorf("a rendered file shows %s", found)
	}
}

// markedBundle is a Talos secrets bundle whose every value holds the marker:
// certificates and keys are genuine, and hold it in their names and in the
// bytes that make the key.
var markedBundle = sync.OnceValue(func() string {
	text := func(n int) string {
		b := make([]byte, n)
		_, _ = (&markedRandom{next: n}).Read(b)
		return base64.StdEncoding.EncodeToString(b)
	}
	token := func(n byte) string { return marker[:6] + "." + marker + string('0'+n) }
	pair := func(key crypto.Signer, keyType string) map[string]string {
		return map[string]string{"crt": certificate(key), "key": privateKey(key, keyType)}
	}
	out, err := yaml.Marshal(map[string]any{
		"cluster":    map[string]string{"id": text(32), "secret": text(32)},
		"secrets":    map[string]string{"bootstraptoken": token(1), "secretboxencryptionsecret": text(32)},
		"trustdinfo": map[string]string{"token": token(2)},
		"certs": map[string]any{
			"etcd":              pair(ecdsaKey(1), "EC PRIVATE KEY"),
			"k8s":               pair(ecdsaKey(2), "EC PRIVATE KEY"),
			"k8saggregator":     pair(ecdsaKey(3), "EC PRIVATE KEY"),
			"k8sserviceaccount": map[string]string{"key": privateKey(ecdsaKey(4), "EC PRIVATE KEY")},
			"os":                pair(ed25519Key(), "ED25519 PRIVATE KEY"),
		},
	})
	if err != nil {
		panic(err)
	}
	return string(out)
})

func ecdsaKey(n byte) *ecdsa.PrivateKey {
	scalar := append([]byte(marker+marker), n, n)
	key, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), scalar)
	if err != nil {
		panic(err)
	}
	return key
}

func ed25519Key() ed25519.PrivateKey { return ed25519.NewKeyFromSeed([]byte(marker + marker + "75")) }

// certificate makes a CA's certificate, in PEM and base64 as bundles have it.
func certificate(key crypto.Signer) string {
	template := &x509.Certificate{
		SerialNumber: new(big.Int).SetBytes([]byte(marker)),
		Subject:      pkix.Name{Organization: []string{marker}},
		NotBefore:    testTime.Add(-time.Hour), NotAfter: testTime.AddDate(10, 0, 0),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		panic(err)
	}
	return base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

func privateKey(key crypto.Signer, keyType string) string {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if ec, ok := key.(*ecdsa.PrivateKey); ok {
		der, err = x509.MarshalECPrivateKey(ec)
	}
	if err != nil {
		panic(err)
	}
	return base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: keyType, Bytes: der}))
}

// Every value of the bundle holds the marker.
func TestEverySecretIsMarked(t *testing.T) {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(markedBundle()), &doc); err != nil {
		t.Fatal(err)
	}
	var walk func(n *yaml.Node)
	walk = func(n *yaml.Node) {
		if n.Kind == yaml.MappingNode {
			for i := 1; i < len(n.Content); i += 2 {
				walk(n.Content[i])
			}
			return
		}
		for _, c := range n.Content {
			walk(c)
		}
		if n.Kind == yaml.ScalarNode && findMarker(n.Value) == "" {
			t.Errorf("no marker in line %d", n.Line)
		}
	}
	walk(&doc)
}
