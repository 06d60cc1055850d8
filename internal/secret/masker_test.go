package secret

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
)

func masker(secrets ...string) *Masker {
	m := NewMasker()
	for _, s := range secrets {
		m.Add(New(s))
	}
	return m
}

func TestMasker(t *testing.T) {
	quoted, err := json.Marshal(canary)
	if err != nil {
		t.Fatal(err)
	}
	hexed := hex.EncodeToString([]byte(canary))
	m := masker(canary, "the first line of it\nthe second line of it", "tiny", "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIA\n-----END PRIVATE KEY-----\n", "correct horse 1234")
	for _, tt := range []struct{ name, in, want string }{
		{"plain", "token " + canary + " is bad", "token " + Mask + " is bad"},
		{"base64 of a whole secret", base64.StdEncoding.EncodeToString([]byte(canary)), Mask},
		{"twice", canary + canary, Mask},
		{"json", string(quoted), `"` + Mask + `"`},
		{"quoted by Go", fmt.Sprintf("%q", canary), `"` + Mask + `"`},
		{"in a URL", "https://x/?a=" + url.QueryEscape(canary), "https://x/?a=" + Mask},
		{"in the path of a URL", "https://x/" + url.PathEscape(canary), "https://x/" + Mask},
		{"hexadecimal", hexed + " " + strings.ToUpper(hexed), Mask + " " + Mask},
		{"in a longer hexadecimal number", "00" + hexed + "ff", "00" + Mask + "ff"},
		{"bytes", fmt.Sprint([]byte(canary)), "[" + Mask + "]"},
		{"broken into lines", "it is " + canary[:12] + "\n    " + canary[12:20] + "\n    " + canary[20:] + " here", "it is " + Mask + " here"},
		{"broken at a space", "it is correct\n\thorse 1234.", "it is " + Mask + "."},
		{"wrapped base64", base64.StdEncoding.EncodeToString([]byte(canary))[:20] + "\n" + base64.StdEncoding.EncodeToString([]byte(canary))[20:] + "\n", Mask + "\n"},
		{"cut off", "cannot unmarshal !!str `" + canary[:17] + "...` into int", "cannot unmarshal !!str `" + Mask + "...` into int"},
		{"one line of several", "at the second line of it here", "at " + Mask + " here"},
		{"the frame of a key", "no -----BEGIN PRIVATE KEY----- in it", "no -----BEGIN PRIVATE KEY----- in it"},
		{"the lines of a key", "bad MC4CAQAwBQYDK2VwBCIEIA", "bad " + Mask},
		{"too short to be told from text", "a tiny CAN", "a tiny CAN"},
		{"other lines", "one\ntwo\n  three\n", "one\ntwo\n  three\n"},
		{"nothing", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := m.String(tt.in); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// What everybody can read, and words, are not masked: not whole, not as the
// beginning or the end of something, and in no form.
func TestMaskerLeavesText(t *testing.T) {
	m := masker("acme-staging", "example-token-for-the-project", "kubernetes", "production", "longhorn", "staging-1", "for example")
	m.Readable().Add([]byte("clusterName: acme-staging\nserver: acme-staging-1\n"))
	for _, text := range []string{
		"talosgen apply acme-staging --allow server/acme-staging-worker-1", "for example", "an example-token", "example-token-f",
		"kubernetes in production uses longhorn", base64.StdEncoding.EncodeToString([]byte("acme-staging")), "examples are exemplary",
	} {
		if got := m.String(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	if got := m.String("example-token-for-the-project acme-staging-2 example-token-for-t"); got != Mask+" acme-staging-2 "+Mask {
		t.Errorf("got %q", got)
	}
}

// Whether something stands readable may become known later.
func TestReadableCanGrow(t *testing.T) {
	m := masker("acme-staging")
	if got := m.String("acme-staging"); got != Mask {
		t.Errorf("got %q", got)
	}
	m.Readable().Add([]byte("acme-staging"))
	if got := m.String("acme-staging"); got != "acme-staging" {
		t.Errorf("got %q", got)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		if text := fmt.Sprintf(verb, m.Readable()); text != Mask {
			t.Errorf("%s prints %q", verb, text)
		}
	}
}

func TestRecognisable(t *testing.T) {
	for text, want := range map[string]bool{
		"": false, "hunter2": false, "hunter22": true, "password": false, "correcthorse": false, "correcthorsebattery": true,
		"12345678": true, "Sesame öffne": false, "zwölf-10": true, "a b c d e f g h": false,
	} {
		if New(text).Recognisable() != want {
			t.Errorf("%q: not %v", text, want)
		}
	}
}

func TestMaskerFindsBase64AtEveryAlignment(t *testing.T) {
	m := masker(canary)
	for shift := range 6 {
		blob := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", shift) + canary + "tail"))
		if got := m.String(blob); !strings.Contains(got, Mask) || len(got) > len(Mask)+shift*2+16 {
			t.Errorf("shift %d: %s became %s", shift, blob, got)
		}
	}
}

func TestMaskerNeverPrints(t *testing.T) {
	m := masker(canary)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
		if text := fmt.Sprintf(verb, m); text != Mask {
			t.Errorf("%s prints %q", verb, text)
		}
	}
}

func TestMaskingWriter(t *testing.T) {
	var b strings.Builder
	n, err := masker(canary).Writer(&b).Write([]byte("x " + canary))
	if err != nil || n != len(canary)+2 {
		t.Fatalf("Write = %d, %v", n, err)
	}
	if b.String() != "x "+Mask {
		t.Errorf("got %q", b.String())
	}
}

func FuzzMaskerLeavesNoSecret(f *testing.F) {
	f.Add("before", "the secret 1", "after")
	f.Fuzz(func(t *testing.T, before, s, after string) {
		if !New(s).Recognisable() || strings.Contains(Mask, s) {
			return
		}
		if got := masker(s).String(before + s + after); strings.Contains(got, s) && !strings.Contains(before, s) && !strings.Contains(after, s) && !strings.Contains(Mask+after, s) && !strings.Contains(before+Mask, s) {
			t.Errorf("%q is still in %q", s, got)
		}
	})
}
