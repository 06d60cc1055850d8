package sopsage

import (
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/diag"
)

// choices are the ways in which a rule says what is encrypted, each so that it
// would leave something of secretsPlain readable.
var choices = map[string]string{
	"regex of Flux":      "encrypted_regex: ^(data|stringData)$",
	"regex":              "encrypted_regex: ^(token)$",
	"unencrypted regex":  "unencrypted_regex: ^(cluster|list)$",
	"suffix":             "encrypted_suffix: ken",
	"unencrypted suffix": "unencrypted_suffix: ster",
	"comment":            "encrypted_comment_regex: first",
	"other comment":      "unencrypted_comment_regex: bundle",
	"MAC":                "mac_only_encrypted: true",
}

func choosing(t *testing.T, choice, public string) *Rule {
	t.Helper()
	rule, err := RuleFor(".sops.yaml", []byte("creation_rules:\n  - "+choice+"\n    age: "+public+"\n"), "s.sops.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return rule
}

// Of a file of which every value is secret, no rule keeps one readable: neither
// when it is new, nor when it changes, nor when it is encrypted again.
func TestNoRuleKeepsASecretReadable(t *testing.T) {
	private, public := identity(t, 1)
	keys := keysOf(private)
	for name, choice := range choices {
		t.Run(name, func(t *testing.T) {
			rule := choosing(t, choice, public)
			whole := func(what string, data []byte, err error) {
				t.Helper()
				if err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				if err := CheckWhole("s.sops.yaml", data); err != nil || strings.Contains(string(data), "CANARY") || strings.Contains(string(data), "bundle") {
					t.Errorf("%s: %v in\n%s", what, err, data)
				}
				if !strings.Contains(string(data), "    unencrypted_suffix: _unencrypted\n") || strings.Contains(string(data), "_regex") ||
					strings.Contains(string(data), "mac_only") {
					t.Errorf("%s: the rule is followed:\n%s", what, data)
				}
				plain, err := keys.DecryptYAML(t.Context(), "s.sops.yaml", data)
				if err != nil || string(plain) != secretsPlain {
					t.Errorf("%s: decrypts to %q, %v", what, plain, err)
				}
			}
			data, err := Encrypt("s.sops.yaml", []byte(secretsPlain), rule.Whole(), testRandom(1), testTime)
			whole("new", data, err)
			leaky, err := Encrypt("s.sops.yaml", []byte(secretsPlain), rule, testRandom(1), testTime)
			if err != nil {
				t.Fatal(err)
			}
			if name != "MAC" && CheckWhole("s.sops.yaml", leaky) == nil {
				t.Fatalf("the rule leaves nothing readable:\n%s", leaky)
			}
			data, err = keys.Rekey(t.Context(), "s.sops.yaml", leaky, rule.Whole(), testRandom(2), testTime)
			whole("again", data, err)
			data, err = keys.Reencrypt(t.Context(), "s.sops.yaml", leaky, []byte(secretsPlain), testTime)
			whole("repaired", data, err)
		})
	}
}

// An encrypted patch has readable values. Which they are, the file says: a rule
// cannot make more of them readable.
func TestRekeyKeepsWhatIsEncrypted(t *testing.T) {
	private, public := identity(t, 1)
	const plain = "kind: Config\npassword: CANARY\n"
	old, err := Encrypt("s.sops.yaml", []byte(plain), choosing(t, "unencrypted_regex: ^kind$", public), testRandom(1), testTime)
	if err != nil {
		t.Fatal(err)
	}
	got, err := keysOf(private).Rekey(t.Context(), "s.sops.yaml", old, choosing(t, "encrypted_regex: ^(data)$", public), testRandom(2), testTime)
	if err != nil || strings.Contains(string(got), "CANARY") || !strings.Contains(string(got), "kind: Config\n") || !strings.Contains(string(got), "unencrypted_regex: ^kind$\n") {
		t.Errorf("%v in\n%s", err, got)
	}
}

func TestCheckWhole(t *testing.T) {
	const enc = "ENC[AES256_GCM,data:AAAA,iv:AAAA,tag:AAAA,type:str]"
	for _, tt := range []struct{ name, file, data, want string }{
		{"encrypted", "s.sops.yaml", "a: " + enc + "\nb: [" + `"` + enc + `"` + "]\nnothing: null\nempty: \"\"\nsops:\n    mac: x\n", ""},
		{"a text", "s.sops.yaml", "a:\n  b: " + enc + "\n  c: CANARY\nsops: {mac: x}\n", "s.sops.yaml:3:6: a.c stands in the clear"},
		{"a number", "s.sops.yaml", "a: 1\nsops: {mac: x}\n", "s.sops.yaml:1:4: a stands in the clear"},
		{"in a list", "s.sops.yaml", "a:\n- x: CANARY\n- CANARY\nsops: {mac: x}\n", "s.sops.yaml:2:6: a.x and 1 more stand in the clear"},
		{"second document", "s.sops.yaml", "a: " + enc + "\nsops: {mac: x}\n---\nb: CANARY\n", "s.sops.yaml:4:4: b stands in the clear"},
		{"a name of SOPS below", "s.sops.yaml", "a:\n  sops: {mac: CANARY}\nsops: {mac: x}\n", "a.sops.mac stands in the clear"},
		{"SOPS is a value", "s.sops.yaml", "sops: CANARY\n", "sops stands in the clear"},
		{"no YAML", "s.sops.yaml", "a: [CANARY\n", "cannot be read as SOPS reads it"},
		{"variables", "c.sops.env", "# hello\nA=" + enc + "\nB=\nsops_mac=x\n", ""},
		{"a variable", "c.sops.env", "A=" + enc + "\nB=CANARY\r\nsops_mac=x\n", "c.sops.env:2: B stands in the clear"},
	} {
		err := CheckWhole(tt.file, []byte(tt.data))
		if tt.want == "" && err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		if tt.want != "" && (diag.CodeOf(err) != diag.Secrets || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "CANARY")) {
			t.Errorf("%s: error %v, want %q", tt.name, err, tt.want)
		}
	}
}

func TestNamesThatSOPSLeavesReadable(t *testing.T) {
	private, public := identity(t, 1)
	const plain = "list:\n    - a_unencrypted: CANARY\n"
	_, err := Encrypt("s.sops.yaml", []byte(plain), ruleOf(t, public).Whole(), testRandom(1), testTime)
	wantError(t, err, `the name "a_unencrypted" would leave its value in the clear`)
	_, err = keysOf(private).Reencrypt(t.Context(), "s.sops.yaml", encrypted(t, public), []byte(plain), testTime)
	wantError(t, err, `the name "a_unencrypted" would leave its value in the clear`)
}
