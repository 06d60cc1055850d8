package render

import (
	"bytes"
	"context"
	"crypto/rand"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/sopsage"
	"github.com/talosgen/talosgen/internal/yamltext"
	"github.com/talosgen/talosgen/render/internal/encrypt"
	"github.com/talosgen/talosgen/render/internal/envelope"
)

// sealedFile makes a rendered file, and the keys that open it.
func sealedFile(t testing.TB) ([]byte, *sopsage.Keys) {
	t.Helper()
	private, public, err := sopsage.GenerateIdentity(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	recipients, err := sopsage.Recipients{}.With(public)
	if err != nil {
		t.Fatal(err)
	}
	keys := sopsage.NewKeys(sopsage.Env{Lookup: func(string) (string, bool) { return private.Reveal(), true }})
	binding := secret.New("binding")
	keyring, err := sopsage.NewKeyring(recipients, recipients, binding, rand.Reader, time.Unix(1800000000, 0))
	if err != nil {
		t.Fatal(err)
	}
	key, err := keyring.Unwrap(context.Background(), keys, sopsage.Operator, binding)
	if err != nil {
		t.Fatal(err)
	}
	docs := []envelope.Document{
		secretDocument(t, "version: v1alpha1\nmachine:\n    token: abc.def\n    env:\n        A: \"5\"\n        B: |\n            two\n            lines\n    certSANs:\n        - one\n        - two\n",
			"machine.token", "machine.env.B", "machine.certSANs[1]"),
		secretDocument(t, "kind: KmsgLogConfig\nname: x\nport: 5\non: true\n", "name", "port", "on"),
	}
	data, err := envelope.Seal(docs, encrypt.Sealer{File: key.File("dev/nodes/x.yaml")})
	if err != nil {
		t.Fatal(err)
	}
	return data, keys
}

func secretDocument(t testing.TB, text string, paths ...string) envelope.Document {
	t.Helper()
	leaves, err := yamltext.Leaves([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	d := envelope.Document{Text: []byte(text), Leaves: leaves, Secret: make([]bool, len(leaves))}
	for i, l := range leaves {
		d.Secret[i] = slices.Contains(paths, l.Path.String())
	}
	return d
}

// secretsIn lists what was decrypted: the keys that lead to each value, and the
// value. The type of a value, and where it stands in a list, SOPS does not
// authenticate; the seal of the tree does.
func secretsIn(leaves []leaf) []string {
	var found []string
	for _, l := range leaves {
		if l.Secret {
			var path []string
			for _, e := range l.Path {
				if e.Index < 0 {
					path = append(path, e.Key)
				}
			}
			found = append(found, strings.Join(path, ":")+"="+l.Value)
		}
	}
	return found
}

// Whatever is done to a rendered file, it is refused, or its secrets are those
// that were encrypted.
func FuzzOpenFile(f *testing.F) {
	genuine, keys := sealedFile(f)
	want, err := openFile(context.Background(), keys, "x.yaml", genuine)
	if err != nil || len(secretsIn(want)) != 6 {
		f.Fatalf("the genuine file: %v, %v", secretsIn(want), err)
	}
	at := func(text string) int { return bytes.Index(genuine, []byte(text)) }
	f.Add([]byte("a: b\n"), 0, 0, "")
	f.Add([]byte("a: ENC[AES256_GCM,data:AA==,iv:AA==,tag:AA==,type:str] # secret\n"), at("token"), 5, "taken")
	f.Add([]byte("sops:\n    mac: x\n"), at("data:")+6, 1, "A")
	f.Add([]byte("---\n---\na: |-\n x\n"), at("type:str"), 8, "type:int")
	f.Add([]byte("a:\n- b: [c]\n"), at("sops:"), len(genuine)-at("sops:"), "")
	f.Add([]byte("? a\n: b\n"), at("mac: ENC"), 5, "mac: \n    x: ")
	f.Add(genuine, at("---\n"), 4, "")
	f.Add(genuine, at("        - ENC"), 0, "        - new\n")
	f.Add(genuine, at("_comment_regex"), 14, "_regex")
	f.Add(genuine, at("^ secret$"), 9, "^ other$")
	f.Fuzz(func(t *testing.T, data []byte, from, length int, with string) {
		_, _ = openFile(context.Background(), keys, "x.yaml", data) // no panic
		if from < 0 || length < 0 || from > len(genuine) || length > len(genuine)-from {
			return
		}
		changed := slices.Concat(genuine[:from], []byte(with), genuine[from+length:])
		leaves, err := openFile(context.Background(), keys, "x.yaml", changed)
		if err != nil {
			return
		}
		if got := secretsIn(leaves); len(got) > 0 && !slices.Equal(got, secretsIn(want)) {
			t.Errorf("%q in place of %q gives %q", with, genuine[from:from+length], got)
		}
	})
}
