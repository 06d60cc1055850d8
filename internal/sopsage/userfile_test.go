package sopsage

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getsops/sops/v3/version"

	"github.com/talosgen/talosgen/internal/diag"
)

const secretsPlain = `# the bundle
cluster:
    id: CANARY-id
    token: CANARY-token
list:
    # first
    - CANARY-one
    - CANARY-two
port: 5
empty: ""
nothing: null
`

func TestSOPSVersion(t *testing.T) {
	if SOPSVersion != version.Version {
		t.Errorf("SOPSVersion is %s, the library's is %s", SOPSVersion, version.Version)
	}
}

func TestEncryptUserFile(t *testing.T) {
	private, public := identity(t, 1)
	file := string(encryptedText(t, secretsPlain, public))
	if strings.Contains(file, "CANARY") {
		t.Errorf("plaintext in\n%s", file)
	}
	for _, line := range []string{
		`    lastmodified: "2026-03-01T12:30:00Z"`, "    unencrypted_suffix: _unencrypted", "    version: 3.13.3", "recipient: " + public,
	} {
		if !strings.Contains(file, line+"\n") {
			t.Errorf("no line %q in\n%s", line, file)
		}
	}
	plain, err := keysOf(private).DecryptYAML(t.Context(), "s.sops.yaml", []byte(file))
	if err != nil {
		t.Fatal(err)
	}
	if string(plain) != secretsPlain {
		t.Errorf("got\n%s", plain)
	}
}

func TestDotenv(t *testing.T) {
	private, public := identity(t, 1)
	const plain = "# variables\nCLUSTER_NAME=dev\nTOKEN=CANARY\n"
	file, err := Encrypt("cluster.sops.env", []byte(plain), ruleOf(t, public), testRandom(1), testTime)
	if err != nil {
		t.Fatal(err)
	}
	if !IsEncryptedDotenv(file) || strings.Contains(string(file), "CANARY") {
		t.Errorf("not encrypted:\n%s", file)
	}
	keys := keysOf(private)
	got, err := keys.DecryptDotenv(t.Context(), "cluster.sops.env", file)
	if err != nil || string(got) != plain {
		t.Errorf("got %q, %v", got, err)
	}
	changed, err := keys.Reencrypt(t.Context(), "cluster.sops.env", file, []byte(plain+"MORE=1\n"), testTime)
	if err != nil {
		t.Fatal(err)
	}
	if got := changedLines(string(file), string(changed)); !slices.Equal(got, []string{"MORE", "sops_mac"}) {
		t.Errorf("changed lines: %v", got)
	}
	_, err = keys.DecryptDotenv(t.Context(), "cluster.sops.env", []byte(plain))
	wantError(t, err, "plaintext in a *.sops.* file")
}

// changedLines names the lines of the new text that the old one lacks.
func changedLines(old, new string) []string {
	had := strings.Split(old, "\n")
	var names []string
	for _, line := range strings.Split(new, "\n") {
		if !slices.Contains(had, line) {
			name, _, _ := strings.Cut(strings.Replace(line, ":", "=", 1), "=")
			names = append(names, strings.TrimSpace(name))
		}
	}
	return names
}

func TestReencrypt(t *testing.T) {
	private, public := identity(t, 1)
	_, other := identity(t, 2)
	old := string(encryptedText(t, secretsPlain, public, other))
	keys, later := keysOf(private), testTime.Add(time.Hour)
	for _, tt := range []struct {
		name, plain string
		changed     []string
	}{
		{"nothing", secretsPlain, nil},
		{"layout only", strings.ReplaceAll(strings.ReplaceAll(secretsPlain, "    ", "  "), "CANARY-token", "'CANARY-token'"), nil},
		{"a value", strings.Replace(secretsPlain, "token: CANARY-token", "token: CANARY-new", 1), []string{"token", "lastmodified", "mac"}},
		{"a new key", secretsPlain + "more: 1\n", []string{"more", "lastmodified", "mac"}},
		{"a comment", strings.Replace(secretsPlain, "# the bundle", "# our bundle", 1), []string{"#ENC[AES256_GCM,data", "lastmodified", "mac"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := keys.Reencrypt(t.Context(), "s.sops.yaml", []byte(old), []byte(tt.plain), later)
			if err != nil {
				t.Fatal(err)
			}
			changed := changedLines(old, string(got))
			if tt.name == "a comment" {
				// The MAC does not cover comments, but its date changed.
				changed = slices.DeleteFunc(changed, func(s string) bool { return !slices.Contains(tt.changed, s) })
			}
			if !slices.Equal(changed, tt.changed) {
				t.Errorf("changed lines %q, want %q", changed, tt.changed)
			}
			plain, err := keys.DecryptYAML(t.Context(), "s.sops.yaml", got)
			if err != nil {
				t.Fatal(err)
			}
			wantYAML(t, string(plain), tt.plain)
		})
	}
}

func TestReencryptKeepsIndentation(t *testing.T) {
	private, public := identity(t, 1)
	rule, err := RuleFor(".sops.yaml", []byte("stores:\n  yaml:\n    indent: 2\ncreation_rules:\n  - age: "+public+"\n"), "s.sops.yaml")
	if err != nil {
		t.Fatal(err)
	}
	old, err := Encrypt("s.sops.yaml", []byte(secretsPlain), rule, testRandom(1), testTime)
	if err != nil {
		t.Fatal(err)
	}
	got, err := keysOf(private).Reencrypt(t.Context(), "s.sops.yaml", old, []byte(secretsPlain+"more: 1\n"), testTime)
	if err != nil {
		t.Fatal(err)
	}
	if changed := changedLines(string(old), string(got)); !slices.Equal(changed, []string{"more", "mac"}) {
		t.Errorf("changed lines %q in\n%s", changed, got)
	}
}

func TestRekey(t *testing.T) {
	private, public := identity(t, 1)
	otherPrivate, otherPublic := identity(t, 2)
	old := encryptedText(t, secretsPlain, public)
	got, err := keysOf(private).Rekey(t.Context(), "s.sops.yaml", old, ruleOf(t, otherPublic), testRandom(2), testTime)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := keysOf(otherPrivate).DecryptYAML(t.Context(), "s.sops.yaml", got)
	if err != nil || string(plain) != secretsPlain {
		t.Errorf("got %q, %v", plain, err)
	}
	if _, err := keysOf(private).DecryptYAML(t.Context(), "s.sops.yaml", got); err == nil {
		t.Error("the old recipient can still decrypt it")
	}
	for line := range strings.Lines(string(old)) {
		if strings.Contains(line, "ENC[") && strings.Contains(string(got), line) {
			t.Errorf("the old ciphertext is still there: %s", line)
		}
	}
}

func TestSameRecipients(t *testing.T) {
	_, a := identity(t, 1)
	_, b := identity(t, 2)
	file := encrypted(t, a, b)
	for _, tt := range []struct {
		name string
		rule *Rule
		want bool
	}{
		{"the same in another order", ruleOf(t, b, a), true},
		{"one less", ruleOf(t, a), false},
		{"another", ruleOf(t, a, mustPublic(t, 3)), false},
	} {
		if got, err := SameRecipients("s.sops.yaml", file, tt.rule); got != tt.want || err != nil {
			t.Errorf("%s: %t, %v", tt.name, got, err)
		}
	}
	_, err := SameRecipients("s.sops.yaml", []byte("a: CANARY\n"), ruleOf(t, a))
	wantError(t, err, "s.sops.yaml")
}

func TestEncryptProblems(t *testing.T) {
	private, public := identity(t, 1)
	rule := ruleOf(t, public)
	for _, tt := range []struct{ name, plain, want string }{
		{"no YAML", "a: b\n  CANARY: c\n", "s.sops.yaml:2: the file cannot be read"},
		{"a scalar", "CANARY\n", "s.sops.yaml:1: the file cannot be read"},
		{"a list", "- CANARY\n", "the file cannot be read"},
		{"key twice", "a: CANARY\na: CANARY\n", "s.sops.yaml:2: the file cannot be read"},
		{"number as key", "5: CANARY\n", "the file cannot be read"},
		{"nothing", "", "nothing to encrypt"},
		{"already encrypted", "a: CANARY\nsops: {}\n", "a key that belongs to SOPS"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Encrypt("s.sops.yaml", []byte(tt.plain), rule, testRandom(1), testTime)
			wantError(t, err, tt.want)
			_, err2 := keysOf(private).Reencrypt(t.Context(), "s.sops.yaml", encrypted(t, public), []byte(tt.plain), testTime)
			wantError(t, err2, tt.want)
			if diag.CodeOf(err) != diag.Secrets || strings.Contains(errors.Join(err, err2).Error(), "CANARY") {
				t.Errorf("code %d: %v", diag.CodeOf(err), err)
			}
		})
	}
	_, err := Encrypt("s.sops.yaml", []byte("a: b\n"), rule, strings.NewReader("short"), testTime)
	wantError(t, err, "no randomness")
}

func TestDecryptProblems(t *testing.T) {
	private, public := identity(t, 1)
	file := string(encryptedText(t, secretsPlain, public))
	keys := keysOf(private)
	line := func(prefix string) string {
		for line := range strings.Lines(file) {
			if strings.HasPrefix(strings.TrimSpace(line), prefix) {
				return line
			}
		}
		t.Fatalf("no line %q", prefix)
		return ""
	}
	value := func(line string) string { _, v, _ := strings.Cut(line, ": "); return strings.TrimSpace(v) }
	for _, tt := range []struct {
		name, file, data string
		want             []string
	}{
		{"plaintext", "s.sops.yaml", secretsPlain, []string{"s.sops.yaml: plaintext in a *.sops.* file", "sops -e -i s.sops.yaml"}},
		{"cut off", "s.sops.yaml", file[:strings.Index(file, "sops:")], []string{"s.sops.yaml: the file is cut off: it holds encrypted values and has no sops block", "git restore s.sops.yaml"}},
		{"cut off in a value", "s.sops.yaml", file[:strings.Index(file, ",iv:")], []string{"s.sops.yaml: the file is cut off"}},
		{"not encrypted", "s.yaml", secretsPlain, []string{"s.yaml: the file is not encrypted"}},
		{"plaintext value", "s.sops.yaml", strings.Replace(file, value(line("token:")), "CANARY-plain", 1), []string{"s.sops.yaml:4:12: cluster.token holds plaintext"}},
		{"value of another key", "s.sops.yaml", strings.Replace(file, value(line("token:")), value(line("id:")), 1), []string{"cluster.token was changed"}},
		{"value removed", "s.sops.yaml", strings.Replace(file, line("token:"), "", 1), []string{"MAC mismatch"}},
		{"empty value added", "s.sops.yaml", strings.Replace(file, line("mac:"), "    mac: \"\"\n", 1), []string{"MAC mismatch"}},
		{"date", "s.sops.yaml", strings.Replace(file, "T12:30", "T12:31", 1), []string{"MAC mismatch"}},
		{"bad date", "s.sops.yaml", strings.Replace(file, "2026-03-01T", "CANARY", 1), []string{"cannot be read"}},
		{"broken YAML", "s.sops.yaml", "a: [CANARY\n" + file, []string{"cannot be read"}},
		{"block in the second document", "s.sops.yaml", "x: CANARY\n---\n" + file, []string{"missing in the first document"}},
		{"no recipients", "s.sops.yaml", "a: CANARY\nsops:\n    mac: x\n    lastmodified: \"2026-03-01T12:30:00Z\"\n", []string{"cannot be read"}},
		{"recipient's text broken", "s.sops.yaml", strings.Replace(file, "-----BEGIN AGE", "-----BEGIN EGA", 1), []string{"none of the identities"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := keys.DecryptYAML(t.Context(), tt.file, []byte(tt.data))
			wantError(t, err, tt.want...)
			if diag.CodeOf(err) != diag.Secrets || strings.Contains(err.Error(), "CANARY") {
				t.Errorf("code %d: %v", diag.CodeOf(err), err)
			}
		})
	}
}

func TestIsEncrypted(t *testing.T) {
	_, public := identity(t, 1)
	for _, tt := range []struct {
		name, data string
		want       bool
	}{
		{"encrypted", string(encrypted(t, public)), true},
		{"empty", "", false},
		{"plaintext", "a: b\n", false},
		{"the word only", "name: sops\nlist: [sops]\n", false},
		{"nested", "a:\n    sops: {mac: x}\n", false},
		{"a string of that name", "sops: text\n", false},
		{"in a block scalar", "a: |\n    sops:\n        mac: x\n", false},
		{"quoted key", "\"sops\":\n    mac: x\n", true},
		{"flow", "{a: b, sops: {mac: x}}\n", true},
		{"second document", "a: b\n---\nsops:\n    mac: x\n", true},
		{"no YAML but a block", "<<<<<<< HEAD\na: b\nsops:\n    mac: x\n", true},
		{"no YAML", "{ sops\n", false},
	} {
		if got := IsEncryptedYAML([]byte(tt.data)); got != tt.want {
			t.Errorf("%s: %t", tt.name, got)
		}
	}
	for data, want := range map[string]bool{"A=b\nsops_mac=x\n": true, "sops_version=1\n": true, "A=sops_mac\n": false, "": false} {
		if got := IsEncryptedDotenv([]byte(data)); got != want {
			t.Errorf("dotenv %q: %t", data, got)
		}
	}
	for name, want := range map[string]bool{
		"envs/dev/secrets.sops.yaml": true, "cluster.sops.env": true, "x.sops.yml": true,
		".sops.yaml": false, "secrets.yaml": false, "dir.sops.d/a.yaml": false,
	} {
		if got := NamedEncrypted(name); got != want {
			t.Errorf("NamedEncrypted(%q) = %t", name, got)
		}
	}
}

func TestRuleFor(t *testing.T) {
	private, public := identity(t, 1)
	_, other := identity(t, 2)
	rules := "creation_rules:\n  - path_regex: ^envs/dev/.*\\.sops\\.yaml$\n    age: " + public + "\n    encrypted_regex: ^data$\n" +
		"  - path_regex: ^envs/prod/\n    age:\n      - " + public + "\n      - " + other + "\n    pgp: 85D77543B3D624B63CEA9E6DBC17301B491B3F21\n"
	dev, err := RuleFor(".sops.yaml", []byte(rules), "envs/dev/secrets.sops.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if got := dev.Recipients().Strings(); !slices.Equal(got, []string{public}) {
		t.Errorf("dev: %v", got)
	}
	file, err := Encrypt("envs/dev/secrets.sops.yaml", []byte("data: x\nother: readable\n"), dev, testRandom(1), testTime)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(file), "other: readable\n") || strings.Contains(string(file), "data: x\n") {
		t.Errorf("encrypted_regex is not followed:\n%s", file)
	}
	prod, err := RuleFor(".sops.yaml", []byte(rules), "envs/prod/secrets.sops.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if got := prod.Recipients().Strings(); !slices.Equal(got, []string{public, other, "pgp:85D77543B3D624B63CEA9E6DBC17301B491B3F21"}) {
		t.Errorf("prod: %v", got)
	}
	for _, tt := range []struct {
		name, rules string
		want        []string
	}{
		{"no rule matches", rules, []string{".sops.yaml: no creation rule matches envs/home/secrets.sops.yaml"}},
		{"no rules", "", []string{"no recipients for envs/home/secrets.sops.yaml", `path_regex: envs/home/secrets\.sops\.yaml$`}},
		{"no keys", "creation_rules:\n  - path_regex: .*\n", []string{"no recipients"}},
		{"bad expression", "creation_rules:\n  - path_regex: '('\n    age: " + public + "\n", []string{"can not compile regexp"}},
		{"two choices", "creation_rules:\n  - age: " + public + "\n    encrypted_regex: a\n    encrypted_suffix: b\n", []string{"cannot use more than one"}},
		{"not a key", "creation_rules:\n  - age: hello\n", []string{"unknown recipient type"}},
		{"a private key", "creation_rules:\n  # mine\n  - age: " + private + "\n", []string{".sops.yaml:3: a private age key"}},
		{"no YAML", "creation_rules: [\n", []string{".sops.yaml"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := RuleFor(".sops.yaml", []byte(tt.rules), "envs/home/secrets.sops.yaml")
			wantError(t, err, tt.want...)
			if diag.CodeOf(err) != diag.Secrets || strings.Contains(err.Error(), private[20:40]) {
				t.Errorf("code %d: %v", diag.CodeOf(err), err)
			}
		})
	}
}
