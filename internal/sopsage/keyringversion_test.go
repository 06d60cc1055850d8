package sopsage

import (
	"strings"
	"testing"
)

// firstVersion is a keyring as talosgen 0.1.0 wrote it: its seals do not cover the
// recipients.
func firstVersion(t *testing.T, public ...string) *Keyring {
	t.Helper()
	k := &Keyring{file: "keyring.yaml", version: firstKeyring, entries: map[Domain]entry{}}
	for i, domain := range domains {
		if err := k.Rotate(domain, ageTo(t, public...), testBinding, testRandom(byte(10+i)), testTime); err != nil {
			t.Fatal(err)
		}
	}
	return k
}

// A keyring of the first version is read, and upgraded with the same data keys.
func TestFirstKeyringIsUpgraded(t *testing.T) {
	private, public := identity(t, 1)
	keys := keysOf(private)
	text := encode(t, firstVersion(t, public))
	if !strings.Contains(text, "\nversion: 1\n") {
		t.Fatalf("not of the first version:\n%s", text)
	}
	k, err := ParseKeyring("keyring.yaml", []byte(text))
	if err != nil || !k.Outdated() {
		t.Fatalf("%+v, %v", k, err)
	}
	before, err := k.Unwrap(t.Context(), keys, Operator, testBinding)
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Upgrade(t.Context(), keys, testBinding); err != nil || k.Outdated() {
		t.Fatalf("upgraded to %+v, %v", k, err)
	}
	upgraded := encode(t, k)
	if !strings.Contains(upgraded, "\nversion: 2\n") {
		t.Errorf("upgraded to\n%s", upgraded)
	}
	if k, err = ParseKeyring("keyring.yaml", []byte(upgraded)); err != nil {
		t.Fatal(err)
	}
	after, err := k.Unwrap(t.Context(), keysOf(private), Operator, testBinding)
	if err != nil || !after.Equal(before) || !k.entries[Operator].wrapped.LastModified.Equal(testTime) {
		t.Errorf("the data key changed: %v", err)
	}
	// One that was sealed as the second version is no first one.
	k, err = ParseKeyring("keyring.yaml", []byte(strings.Replace(upgraded, "version: 2", "version: 1", 1)))
	if err != nil {
		t.Fatal(err)
	}
	_, err = k.Unwrap(t.Context(), keysOf(private), Operator, testBinding)
	wantError(t, err, "was not made for this environment, or its recipients were changed")
	if err := k.Upgrade(t.Context(), keysOf(private), testBinding); err == nil {
		t.Error("a keyring that does not fit is sealed again")
	}
}

// Whoever left cuts their own entry out of an old keyring, so that nothing warns
// of it: the seal covers the recipients.
func TestSealCoversRecipients(t *testing.T) {
	private, public := identity(t, 1)
	_, leaver := identity(t, 2)
	k, err := NewKeyring(ageTo(t, public, leaver), ageTo(t, public), testBinding, testRandom(1), testTime)
	if err != nil {
		t.Fatal(err)
	}
	e := k.entries[Operator]
	e.wrapped.KeyGroups[0] = e.wrapped.KeyGroups[0][:1]
	cut, err := ParseKeyring("keyring.yaml", []byte(encode(t, k)))
	if err != nil || len(cut.Recipients(Operator).Strings()) != 1 {
		t.Fatalf("recipients %v, %v", cut.Recipients(Operator).Strings(), err)
	}
	_, err = cut.Unwrap(t.Context(), keysOf(private), Operator, testBinding)
	wantError(t, err, "its recipients were changed")
	if _, err := cut.Unwrap(t.Context(), keysOf(private), Cluster, testBinding); err != nil {
		t.Errorf("the other domain: %v", err)
	}
}
