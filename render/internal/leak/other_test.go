package leak

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"
)

// keyed are the others of many keys.
func keyed(n int) (all []Others) {
	for i := range n {
		all = append(all, NewOthers([]byte{byte(i), byte(i >> 8)}))
	}
	return all
}

// Another text has the length of the first, characters of the same classes, and
// none of the first at its place.
func TestOtherIsAlike(t *testing.T) {
	const text = "aZ0 p@ss-w.rd:!{}[]\"'#&*\\\t\x07äÖ§✓漢😀\nqzxkanarivogl95ßAB"
	for _, others := range keyed(200) {
		other := others.Of(text)
		if len(other) != len(text) {
			t.Fatalf("%q has another length", other)
		}
		for i, r := range text {
			o, size := utf8.DecodeRuneInString(other[i:])
			if size != utf8.RuneLen(r) || o == r && r != '\n' {
				t.Fatalf("%q at %d of %q", o, i, other)
			}
			for _, is := range []func(rune) bool{unicode.IsLetter, unicode.IsUpper, unicode.IsDigit, unicode.IsControl} {
				if is(r) != is(o) && r != '\t' {
					t.Fatalf("%q is of another class than %q", o, r)
				}
			}
		}
	}
}

// Each character is chosen by itself: neither what two have between them nor
// their order, nor a count, is what it was more often than by chance.
func TestOtherIsIndependent(t *testing.T) {
	const text = "mmmmmmmm55555555MMMMMMMM--------:"
	const keys = 400
	seen := map[string]int{}
	for _, others := range keyed(keys) {
		other := others.Of(text)
		for i := range len(text) - 1 {
			if text[i] == text[i+1] && other[i] == other[i+1] {
				seen[fmt.Sprintf("neighbours of the class of %c are equal", text[i])]++
			}
		}
		for i := range 8 {
			seen[fmt.Sprintf("%d is %c", i, other[i])]++
		}
	}
	for what, n := range seen {
		// Of 7 pairs, one in 25, 9, 25 or 5 may be; of a letter, one in 25.
		limit := keys * 7 / 4
		if strings.Contains(what, " is ") {
			limit = keys / 25 * 4
		}
		if n > limit {
			t.Errorf("%s: %d times", what, n)
		}
	}
	if len(seen) < 8*25 {
		t.Errorf("only %d characters were chosen", len(seen))
	}
}

// The same key gives the same others, another key or another text has nothing in
// common with it.
func TestOtherIsKeyed(t *testing.T) {
	a, same, b := NewOthers([]byte("a")), NewOthers([]byte("a")), NewOthers([]byte("b"))
	if a.Of(canary) != same.Of(canary) || a.Of(canary) == b.Of(canary) || a.Of(canary + "x")[:len(canary)] == a.Of(canary) {
		t.Error("others do not depend on key and text")
	}
	read := func(o Others, name string) string {
		bytes := make([]byte, 32)
		if _, err := o.Random(name).Read(bytes); err != nil {
			t.Fatal(err)
		}
		return string(bytes)
	}
	if read(a, "x") != read(same, "x") || read(a, "x") == read(b, "x") || read(a, "x") == read(a, "y") {
		t.Error("random bytes do not depend on key and name")
	}
}

// What reads a text can read the other one.
func TestOtherCanBeRead(t *testing.T) {
	parses := func(parse func(string) error, texts ...string) {
		t.Helper()
		for _, text := range texts {
			if err := parse(text); err != nil {
				t.Fatalf("%q: %v", text, err)
			}
			for _, others := range keyed(50) {
				other := others.Of(text)
				if err := parse(other); err != nil || other == text {
					t.Errorf("%q: %q: %v", text, other, err)
				}
			}
		}
	}
	parses(func(s string) error { return json.Unmarshal([]byte(s), new(map[string]any)) },
		`{"auths": {"registry.example.com": {"password": "p\\u00e4\"ss, {x}", "n": 10, "f": -0.5, "ok": true, "no": null}}}`, `{"a":[1,2,"300"]}`)
	parses(func(s string) error { _, err := netip.ParseAddr(s); return err }, "10.0.9.1", "192.168.255.254", "fd00:1:2::3")
	parses(func(s string) error { _, err := netip.ParseAddrPort(s); return err }, "10.0.9.1:80", "10.1.1.1:48271", "[fd00::1]:443")
	parses(func(s string) error { _, err := netip.ParsePrefix(s); return err }, "10.0.0.0/8", "10.200.0.0/24", "192.0.2.0/32")
	parses(func(s string) error { _, err := time.ParseDuration(s); return err }, "7m13s", "1.5h", "10ms")
	parses(func(s string) error { return json.Unmarshal([]byte(s), new(float64)) }, "5", "10", "48271", "1.50", "-3")
	parses(func(s string) error {
		u, err := url.Parse(s)
		if err == nil && (u.Scheme != "https" || u.User == nil || u.Port() == "" || u.Path == "") {
			return fmt.Errorf("%+v", u)
		}
		return err
	}, "https://user:p%C3%A4ss@registry.example.com:48271/path?x=y#z")
	for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		parses(func(s string) error { _, err := encoding.DecodeString(s); return err },
			encoding.EncodeToString([]byte("\xfb\xff\xfe some text, and more")), encoding.EncodeToString([]byte("0123456789abcdef")))
	}
	parses(func(s string) error {
		if strings.Trim(s, "0123456789abcdef") != "" {
			return fmt.Errorf("no hexadecimal digits")
		}
		return nil
	}, "0123456789abcdef0123456789abcdef")
	pem := "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIA+/MC4CAQA=\n-----END PRIVATE KEY-----\n"
	other := strings.Split(NewOthers(nil).Of(pem), "\n")
	if was := strings.Split(pem, "\n"); len(other) != 4 || other[0] != was[0] || other[2] != was[2] || other[1] == was[1] || !strings.HasSuffix(other[1], "=") {
		t.Errorf("%q", other)
	}
	if o := NewOthers(nil); o.Of("true") != "false" || o.Of("false") != "true" || o.Of("") != "" {
		t.Error("booleans, or nothing")
	}
}

func FuzzOther(f *testing.F) {
	for _, text := range []string{canary, `{"a": 1}`, `["\\`, "https://a:1/%zz", "-----BEGIN A", "1.2.3.4/33", "\xff\xfe", "0x10", "7m13s"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		other := NewOthers(nil).Of(text)
		if text != "true" && text != "false" && len(other) != len(text) {
			t.Errorf("%q has another length than %q", other, text)
		}
		if other == text && strings.ContainsAny(text, decimal+lower+upper) && shapeOf(text).syntax == nil {
			t.Errorf("%q stays", text)
		}
	})
}
