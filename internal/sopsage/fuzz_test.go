package sopsage

import (
	"slices"
	"testing"

	sopsaes "github.com/getsops/sops/v3/aes"
)

// FuzzEnc: what parses prints back to the same text, and decrypts, or not, as
// it does with SOPS' cipher.
func FuzzEnc(f *testing.F) {
	_, key, _ := testKeyring(f)
	for _, typ := range []struct {
		value string
		typ   Type
	}{{"text", Str}, {"5", Int}, {"1.5", Float}, {"true", Bool}} {
		enc, err := key.File("f").Encrypt([]string{"a"}, typ.value, typ.typ)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(enc)
	}
	f.Add("ENC[AES256_GCM,data:,iv:,tag:,type:]")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := parseSealed(text)
		if err != nil {
			return
		}
		if again := s.String(); again != text {
			t.Errorf("%q became %q", text, again)
		}
		value, typ, err := key.Open("f").Decrypt([]string{"a"}, text)
		theirs, theirErr := sopsaes.NewCipher().Decrypt(text, key.key, "a:")
		if err == nil && theirErr != nil {
			t.Errorf("%q gives %q (%s), but SOPS fails: %v", text, value, typ, theirErr)
		}
		if err == nil && typ == Str && theirs != value {
			t.Errorf("%q gives %q, but SOPS %q", text, value, theirs)
		}
	})
}

// FuzzEncrypt: SOPS' cipher gives back every value, under the path that SOPS
// would use.
func FuzzEncrypt(f *testing.F) {
	_, key, _ := testKeyring(f)
	f.Add("cluster", "token", "value")
	f.Add("a:b", "", "\x00\xff\n")
	f.Fuzz(func(t *testing.T, parent, name, value string) {
		enc, err := key.File("f").Encrypt([]string{parent, name}, value, Str)
		if err != nil {
			t.Fatal(err)
		}
		theirs, err := sopsaes.NewCipher().Decrypt(enc, key.key, parent+":"+name+":")
		if err != nil || theirs != value {
			t.Errorf("SOPS gives %q, %v; want %q", theirs, err, value)
		}
		ours, _, err := key.Open("f").Decrypt([]string{parent, name}, enc)
		if err != nil || ours != value {
			t.Errorf("Reader gives %q, %v; want %q", ours, err, value)
		}
	})
}

// FuzzKeyring: what parses prints to a text that parses to the same keyring.
func FuzzKeyring(f *testing.F) {
	ring, _, _ := testKeyring(f)
	f.Add([]byte(encode(f, ring)))
	f.Add([]byte("version: 1\ndomains:\n  operator: {created: \"2026-03-01T12:30:00Z\", seal: x, key_groups: [{age: [{recipient: a, enc: b}]}], shamir_threshold: 2}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		ring, err := ParseKeyring("keyring.yaml", data)
		if err != nil {
			return
		}
		first, err := ring.Encode()
		if err != nil {
			return // what YAML cannot express, such as bytes that are not UTF-8
		}
		ring, err = ParseKeyring("keyring.yaml", first)
		if err != nil {
			t.Fatalf("%v in\n%s", err, first)
		}
		if second, err := ring.Encode(); err != nil || !slices.Equal(first, second) {
			t.Errorf("%v\n%s\nbecame\n%s", err, first, second)
		}
	})
}

// FuzzBlock: a block is found within the file, and cutting it out leaves none.
func FuzzBlock(f *testing.F) {
	_, key, _ := testKeyring(f)
	f.Add([]byte("a: b\n" + string(key.File("f").Block()) + "---\nc: d\n"))
	f.Add([]byte("sops:\n    mac: x\nsops:\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		block, err := ParseBlock("f", data)
		if err != nil || block == nil {
			return
		}
		if block.Start < 0 || block.End > len(data) || block.Start >= block.End {
			t.Fatalf("block at %d to %d of %d", block.Start, block.End, len(data))
		}
		if recipients, err := block.Recipients(); err == nil && recipients.IsZero() {
			t.Error("a block without recipients")
		}
		if err := key.Open("f").VerifyMAC(block); err == nil && len(data) == 0 {
			t.Error("the MAC of nothing is right")
		}
	})
}
