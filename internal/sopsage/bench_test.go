package sopsage

import (
	"strings"
	"testing"
)

func BenchmarkEncrypt(b *testing.B) {
	_, key, _ := testKeyring(b)
	f := key.File("nodes/a.yaml")
	path, value := []string{"cluster", "apiServer", "certSANs"}, strings.Repeat("k", 48)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := f.Encrypt(path, value, Str); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFile15Leaves(b *testing.B) {
	_, key, _ := testKeyring(b)
	path, value := []string{"cluster", "apiServer", "certSANs"}, strings.Repeat("k", 300)
	b.ReportAllocs()
	for b.Loop() {
		f := key.File("nodes/a.yaml")
		for range 15 {
			if _, err := f.Encrypt(path, value, Str); err != nil {
				b.Fatal(err)
			}
		}
		f.Block()
	}
}

func BenchmarkRead15Leaves(b *testing.B) {
	_, key, private := testKeyring(b)
	path := []string{"cluster", "apiServer", "certSANs"}
	f := key.File("nodes/a.yaml")
	var encrypted []string
	var file strings.Builder
	for range 15 {
		enc, err := f.Encrypt(path, strings.Repeat("k", 300), Str)
		if err != nil {
			b.Fatal(err)
		}
		encrypted = append(encrypted, enc)
		file.WriteString("x: " + enc + " # secret\n")
	}
	file.Write(f.Block())
	data, keys := []byte(file.String()), keysOf(private)
	b.ReportAllocs()
	for b.Loop() {
		block, err := ParseBlock("nodes/a.yaml", data)
		if err != nil {
			b.Fatal(err)
		}
		key, err := keys.BlockKey(b.Context(), "nodes/a.yaml", block)
		if err != nil {
			b.Fatal(err)
		}
		r := key.Open("nodes/a.yaml")
		for _, enc := range encrypted {
			if _, _, err := r.Decrypt(path, enc); err != nil {
				b.Fatal(err)
			}
		}
		if err := r.VerifyMAC(block); err != nil {
			b.Fatal(err)
		}
	}
}
