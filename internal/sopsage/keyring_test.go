package sopsage

import (
	"strings"
	"testing"
	"time"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
)

func encode(t testing.TB, ring *Keyring) string {
	t.Helper()
	data, err := ring.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestKeyringRoundTrip(t *testing.T) {
	ring, _, _ := testKeyring(t)
	text := encode(t, ring)
	parsed, err := ParseKeyring("keyring.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if again := encode(t, parsed); again != text {
		t.Errorf("encoded again:\n%s\nfirst:\n%s", again, text)
	}
	for _, domain := range domains {
		if !parsed.Recipients(domain).Equal(ring.Recipients(domain)) {
			t.Errorf("%s: recipients %v", domain, parsed.Recipients(domain).Strings())
		}
		if !parsed.entries[domain].wrapped.LastModified.Equal(testTime) {
			t.Errorf("%s: created %v", domain, parsed.entries[domain].wrapped.LastModified)
		}
	}
	if !strings.Contains(text, `created: "2026-03-01T12:30:00Z"`) {
		t.Errorf("no date in\n%s", text)
	}
}

func TestDomainsAreApart(t *testing.T) {
	ring, operator, _ := testKeyring(t)
	clusterPrivate, clusterPublic := identity(t, 2)
	cluster := keysOf(clusterPrivate)
	key, err := ring.Unwrap(t.Context(), cluster, Cluster, testBinding)
	if err != nil {
		t.Fatal(err)
	}
	if string(key.key) == string(operator.key) {
		t.Error("both domains have the same data key")
	}
	_, err = ring.Unwrap(t.Context(), cluster, Operator, testBinding)
	wantError(t, err, "none of the identities", clusterPublic)
	if diag.CodeOf(err) != diag.Secrets {
		t.Errorf("code %d", diag.CodeOf(err))
	}
}

func TestDerive(t *testing.T) {
	ring, key, _ := testKeyring(t)
	private, _ := identity(t, 1)
	cluster, err := ring.Unwrap(t.Context(), keysOf(private), Cluster, testBinding)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{string(key.key): true}
	for _, derived := range [][]byte{key.Derive("iv"), key.Derive("seal"), cluster.Derive("seal")} {
		if len(derived) != 32 || seen[string(derived)] {
			t.Errorf("derived %x", derived)
		}
		seen[string(derived)] = true
	}
	first, second := key.Derive("seal"), key.Derive("seal")
	if string(first) != string(second) {
		t.Error("the same label gives two keys")
	}
}

// TestForgedKeyring is the attack that the seal is there for: somebody who
// knows public keys only wraps a data key of their own for the operator.
func TestForgedKeyring(t *testing.T) {
	ring, _, private := testKeyring(t)
	forged, err := NewKeyring(ring.Recipients(Operator), ring.Recipients(Cluster), secret.New("a guess"), testRandom(5), testTime)
	if err != nil {
		t.Fatal(err)
	}
	_, err = forged.Unwrap(t.Context(), keysOf(private), Operator, testBinding)
	wantError(t, err, "was not made for this environment")

	swapped := &Keyring{entries: map[Domain]entry{Operator: ring.entries[Cluster], Cluster: ring.entries[Operator]}}
	_, err = swapped.Unwrap(t.Context(), keysOf(private), Operator, testBinding)
	wantError(t, err, "was not made for this environment")

	older := strings.Replace(encode(t, ring), "2026-03-01", "2025-03-01", 1)
	redated, err := ParseKeyring("keyring.yaml", []byte(older))
	if err != nil {
		t.Fatal(err)
	}
	_, err = redated.Unwrap(t.Context(), keysOf(private), Operator, testBinding)
	wantError(t, err, "was not made for this environment")

	_, err = ring.Unwrap(t.Context(), keysOf(private), Operator, secret.String{})
	wantError(t, err, "missing")
}

func TestRotate(t *testing.T) {
	ring, before, private := testKeyring(t)
	text := encode(t, ring)
	other, public := identity(t, 4)
	later := testTime.Add(time.Hour)
	if err := ring.Rotate(Operator, ageTo(t, public), testBinding, testRandom(8), later); err != nil {
		t.Fatal(err)
	}
	if got := ring.Recipients(Operator).Strings(); len(got) != 1 || got[0] != public {
		t.Errorf("recipients %v", got)
	}
	if !ring.entries[Operator].wrapped.LastModified.Equal(later) || !ring.entries[Cluster].wrapped.LastModified.Equal(testTime) {
		t.Error("wrong dates")
	}
	after, err := ring.Unwrap(t.Context(), keysOf(other), Operator, testBinding)
	if err != nil {
		t.Fatal(err)
	}
	if string(after.key) == string(before.key) {
		t.Error("the data key is still the same")
	}
	_, err = ring.Unwrap(t.Context(), keysOf(private), Operator, testBinding)
	wantError(t, err, "none of the identities")
	_, oldCluster, _ := strings.Cut(text, "\n    cluster:\n")
	if !strings.HasSuffix(encode(t, ring), oldCluster) {
		t.Error("the other domain's entry changed")
	}
}

func TestDataKeyIsUnwrappedOnce(t *testing.T) {
	ring, key, private := testKeyring(t)
	keys := keysOf(private)
	first, err := ring.Unwrap(t.Context(), keys, Operator, testBinding)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"nodes/a.yaml", "nodes/b.yaml"} {
		file := encryptTemplate(t, key, name, sample)
		block, err := ParseBlock(name, []byte(file))
		if err != nil {
			t.Fatal(err)
		}
		second, err := keys.BlockKey(t.Context(), name, block)
		if err != nil {
			t.Fatal(err)
		}
		if first != second {
			t.Errorf("%s: unwrapped again", name)
		}
	}
}

func TestThresholdGroups(t *testing.T) {
	_, public1 := identity(t, 1)
	private2, public2 := identity(t, 2)
	private3, public3 := identity(t, 3)
	rule, err := RuleFor(".sops.yaml", []byte("creation_rules:\n  - shamir_threshold: 2\n    key_groups:\n"+
		"      - age: ["+public1+"]\n      - age: ["+public2+"]\n"), "envs/dev/secrets.sops.yaml")
	if err != nil {
		t.Fatal(err)
	}
	cluster, err := rule.Recipients().With(public3)
	if err != nil {
		t.Fatal(err)
	}
	ring, err := NewKeyring(rule.Recipients(), cluster, testBinding, testRandom(1), testTime)
	if err != nil {
		t.Fatal(err)
	}
	if ring, err = ParseKeyring("keyring.yaml", []byte(encode(t, ring))); err != nil {
		t.Fatal(err)
	}
	if _, err := ring.Unwrap(t.Context(), keysOf(private2), Operator, testBinding); err == nil {
		t.Error("one of two operators is enough")
	}
	if _, err := ring.Unwrap(t.Context(), keysOf(private3), Cluster, testBinding); err != nil {
		t.Errorf("the cluster cannot decrypt alone: %v", err)
	}
	key, err := ring.Unwrap(t.Context(), keysOf(private2+" "+mustPrivate(t, 1)), Operator, testBinding)
	if err != nil {
		t.Fatal(err)
	}
	file := encryptTemplate(t, key, "nodes/a.yaml", sample)
	if _, err := keysOf(private2+" "+mustPrivate(t, 1)).DecryptYAML(t.Context(), "nodes/a.yaml", []byte(file)); err != nil {
		t.Error(err)
	}
}

func mustPublic(t *testing.T, seed byte) string {
	_, public := identity(t, seed)
	return public
}

func mustPrivate(t *testing.T, seed byte) string {
	private, _ := identity(t, seed)
	return private
}

func TestRecipients(t *testing.T) {
	_, a := identity(t, 1)
	_, b := identity(t, 2)
	for _, tt := range []struct {
		name  string
		x, y  Recipients
		equal bool
	}{
		{"order", ageTo(t, a, b), ageTo(t, b, a), true},
		{"one more", ageTo(t, a), ageTo(t, a, b), false},
		{"twice", ageTo(t, a, a), ageTo(t, a), true},
		{"nobody", Recipients{}, Recipients{}, true},
		{"groups", Recipients{groups: append(ageTo(t, a).groups, ageTo(t, b).groups...)}, ageTo(t, a, b), false},
	} {
		if tt.x.Equal(tt.y) != tt.equal {
			t.Errorf("%s: Equal is not %t", tt.name, tt.equal)
		}
	}
	base := ageTo(t, a)
	if _, err := base.With(b); err != nil || len(base.Strings()) != 1 {
		t.Errorf("With changes what it is called on: %v, %v", base.Strings(), err)
	}
	private, _ := identity(t, 1)
	_, err := Recipients{}.With(private)
	wantError(t, err, "not an age recipient")
	if strings.Contains(err.Error(), private[20:30]) {
		t.Error("the private key is in the error")
	}
	_, err = NewKeyring(Recipients{}, Recipients{}, testBinding, testRandom(1), testTime)
	wantError(t, err, "no recipients")
}

func TestParseKeyringProblems(t *testing.T) {
	ring, _, _ := testKeyring(t)
	good := encode(t, ring)
	for _, tt := range []struct {
		name, file string
		want       []string
	}{
		{"empty", "", []string{"keyring.yaml: not a YAML document"}},
		{"no YAML", "{", []string{"not a YAML document"}},
		{"list", "[]", []string{"keyring.yaml:1:1: expected a mapping"}},
		{"version", strings.Replace(good, "version: 2", "version: 3", 1), []string{"keyring.yaml:3:10: unknown version"}},
		{"unknown key", good + "more: 1\n", []string{`unknown key "more"`}},
		{"unknown domain", strings.Replace(good, "    cluster:", "    clutser:", 1), []string{`unknown key "clutser"`, `the domain "cluster" is missing`, "2 problems"}},
		{"date", strings.Replace(good, "2026-03-01T12:30:00Z", "yesterday", 1), []string{"keyring.yaml:6:18: expected a time in UTC"}},
		{"seal", strings.Replace(good, "seal: ", "seal: x", 1), []string{"not a seal"}},
		{"no date", strings.Replace(good, "        created:", "        age_:", 1), []string{`unknown key "age_"`, `"created" or "seal" is missing`}},
		{"alias", "version: 1\ndomains:\n  operator: &a {created: \"2026-03-01T12:30:00Z\", seal: x}\n  cluster: *a\n", []string{"expected a mapping"}},
		{"no keys", "version: 1\ndomains:\n  operator: {created: \"2026-03-01T12:30:00Z\", seal: x}\n", []string{"the wrapped keys cannot be read"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ParseKeyring("keyring.yaml", []byte(tt.file))
			wantError(t, err, tt.want...)
			if diag.CodeOf(err) != diag.Secrets {
				t.Errorf("code %d", diag.CodeOf(err))
			}
		})
	}
}

func TestGenerateIdentity(t *testing.T) {
	private, public := identity(t, 1)
	again, _ := identity(t, 1)
	other, _ := identity(t, 2)
	if private != again || private == other {
		t.Error("the identity does not follow from the randomness")
	}
	got, err := PublicKeys("key.txt", []byte("# a comment\n"+private+"\n"))
	if err != nil || len(got) != 1 || got[0] != public {
		t.Errorf("PublicKeys = %v, %v; want %s", got, err, public)
	}
	if _, _, err := GenerateIdentity(strings.NewReader("too short")); err == nil {
		t.Error("too little randomness is accepted")
	}
	_, err = PublicKeys("key.txt", []byte("CANARY\n"))
	wantError(t, err, "key.txt", "line 1")
	if strings.Contains(err.Error(), "CANARY") {
		t.Error("the line is in the error")
	}
}
