package sopsage

import (
	"fmt"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/diag"
)

// TestTampering changes every character of every encrypted text and of the
// date: sops and talosgen's own reader must both refuse each of the files.
func TestTampering(t *testing.T) {
	_, key, _ := testKeyring(t)
	file := encryptTemplate(t, key, "nodes/a.yaml", "a: «a|first» # secret\nl:\n    - «l|2» # secret\n«sops»")
	want, err := sopsDecrypt(file, key.key)
	if err != nil {
		t.Fatal(err)
	}
	for i := range len(file) {
		lineStart := strings.LastIndexByte(file[:i], '\n') + 1
		line, _, _ := strings.Cut(file[lineStart:], "\n")
		enc := strings.Index(line, "ENC[")
		switch {
		case enc >= 0 && i >= lineStart+enc && i <= lineStart+strings.IndexByte(line, ']'):
		case strings.Contains(line, `lastmodified: "`) && i > lineStart+strings.IndexByte(line, '"') && i < lineStart+len(line)-1:
		default:
			continue
		}
		changed := []byte(file)
		if changed[i] = 'A'; file[i] == 'A' {
			changed[i] = 'B'
		}
		// SOPS ignores the unused bits at the end of a base64 text, and what
		// the MAC's type says: the bytes that count are still the same ones.
		if plain, err := sopsDecrypt(string(changed), key.key); err == nil && plain != want {
			t.Errorf("sops accepts byte %d of %q changed:\n%s", i-lineStart, line, plain)
		}
		if _, err := readAll(key, string(changed)); err == nil {
			t.Errorf("Reader accepts byte %d of %q changed", i-lineStart, line)
		}
	}
}

func TestMovedLeaves(t *testing.T) {
	_, key, _ := testKeyring(t)
	file := encryptTemplate(t, key, "nodes/a.yaml", sample)
	other := encryptTemplate(t, key, "nodes/b.yaml", strings.Replace(sample, "first", "1st", 1))
	lines := strings.SplitAfter(file, "\n")
	swapped := strings.Replace(file, lines[3]+lines[4], lines[4]+lines[3], 1)
	for _, tt := range []struct{ name, file string }{
		{"order of a list", swapped},
		{"leaf of another file", strings.Replace(file, lines[0], strings.SplitAfter(other, "\n")[0], 1)},
		{"leaf removed", strings.Replace(file, lines[3], "", 1)},
		{"leaf doubled", strings.Replace(file, lines[3], lines[3]+lines[3], 1)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.file == file {
				t.Fatal("nothing was changed")
			}
			if _, err := sopsDecrypt(tt.file, key.key); err == nil {
				t.Error("sops accepts it")
			}
			_, err := readAll(key, tt.file)
			wantError(t, err, "MAC mismatch")
			if diag.CodeOf(err) != diag.Secrets {
				t.Errorf("code %d", diag.CodeOf(err))
			}
		})
	}
}

func TestChangedRules(t *testing.T) {
	_, key, _ := testKeyring(t)
	file := encryptTemplate(t, key, "nodes/a.yaml", sample)
	for old, replaced := range map[string]string{
		"encrypted_comment_regex: ^ secret$": "encrypted_comment_regex: ^ se",
		"mac_only_encrypted: true":           "mac_only_encrypted: false",
	} {
		changed := strings.Replace(file, old, replaced, 1)
		if changed == file {
			t.Fatalf("%q is not in\n%s", old, file)
		}
		_, err := readAll(key, changed)
		wantError(t, err, "the sops block was changed")
	}
}

// readAll decrypts a rendered file with a Reader, finding the leaves by their
// paths as they are in the samples.
func readAll(key *DataKey, file string) ([]string, error) {
	block, err := ParseBlock("nodes/a.yaml", []byte(file))
	if err != nil {
		return nil, err
	}
	if block == nil {
		return nil, fmt.Errorf("no block")
	}
	body := file[:block.Start] + file[block.End:]
	r := key.Open("nodes/a.yaml")
	var values []string
	var parents []string
	for line := range strings.Lines(body) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		if value == "" && strings.HasSuffix(line, ":\n") {
			parents = []string{name}
			continue
		}
		enc, secret := strings.CutSuffix(strings.TrimSpace(value), " # secret")
		path := []string{name}
		if strings.HasPrefix(line, " ") {
			path = append(parents[:1:1], name)
		}
		if strings.HasPrefix(name, "- ") {
			enc, secret = strings.CutSuffix(strings.TrimPrefix(strings.TrimSpace(line), "- "), " # secret")
			path = parents
		}
		if !secret {
			continue
		}
		value, typ, err := r.Decrypt(path, enc)
		if err != nil {
			return nil, err
		}
		values = append(values, string(typ)+" "+value)
	}
	return values, r.VerifyMAC(block)
}
