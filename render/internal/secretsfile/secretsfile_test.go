package secretsfile

import (
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
)

const file = "envs/dev/secrets.sops.yaml"

func TestParse(t *testing.T) {
	s, err := Parse(file, []byte("talos:\n    cluster:\n        id: x\nclusterAgeKey: k\nkeyringBinding: b\nvariables:\n    TOKEN: t\n    PORT: 80\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Talos.Reveal(); got != "cluster:\n    id: x\n" {
		t.Errorf("talos: %q", got)
	}
	if s.ClusterAgeKey.Reveal() != "k" || s.KeyringBinding.Reveal() != "b" || s.Variables["TOKEN"].Reveal() != "t" || s.Variables["PORT"].Reveal() != "80" {
		t.Error("values are not read")
	}
	for _, empty := range []string{"", "variables:\n"} {
		if s, err := Parse(file, []byte(empty)); err != nil || !s.Talos.IsZero() {
			t.Errorf("%q: %v", empty, err)
		}
	}
}

func TestParseProblems(t *testing.T) {
	const canary = "CANARY"
	for _, tt := range []struct{ in, want string }{
		{"talos: " + canary, "talos is not a secrets bundle"},
		{"variable:\n    X: " + canary, `unknown key "variable"` + "\n  did you mean \"variables\"?"},
		{"cluster:\n    id: " + canary, "`talosgen secrets import`"},
		{"other: " + canary, "under variables:"},
		{"clusterAgeKey: [" + canary + "]", "clusterAgeKey is not a single value"},
		{"variables: [" + canary + "]", "variables is not a mapping of names to values"},
		{"variables:\n    A:\n        B: " + canary, "variables.A is not a single value"},
		{"- " + canary, "is not a mapping"},
		{"a: b: " + canary, "is not valid YAML"},
	} {
		_, err := Parse(file, []byte(tt.in))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: got %v, want %q", tt.in, err, tt.want)
			continue
		}
		if strings.Contains(err.Error(), canary) {
			t.Errorf("%q: the problem shows the value: %v", tt.in, err)
		}
		if diag.CodeOf(err) != diag.Secrets {
			t.Errorf("%q: code %d", tt.in, diag.CodeOf(err))
		}
	}
}

func TestAddKeepsWhatIsThere(t *testing.T) {
	old := "# my note\nclusterAgeKey: old # keep\n"
	out, added, err := Add(file, []byte(old), &Secrets{
		Talos: secret.New("cluster:\n    id: x\n"), ClusterAgeKey: secret.New("new"), KeyringBinding: secret.New("b"),
	})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Join(added, " ") != "talos keyringBinding" {
		t.Errorf("added %v", added)
	}
	want := old + "talos:\n    cluster:\n        id: x\nkeyringBinding: b\n"
	if string(out) != want {
		t.Errorf("got\n%s\nwant\n%s", out, want)
	}
	again, added, err := Add(file, out, &Secrets{ClusterAgeKey: secret.New("new")})
	if err != nil || len(added) != 0 || string(again) != want {
		t.Errorf("a second Add changed something: %v %v", added, err)
	}
}

func TestAddVariables(t *testing.T) {
	given := &Secrets{Variables: map[string]secret.String{"B": secret.New("new"), "A": secret.New("1")}}
	for _, tt := range []struct{ old, want, added string }{
		{"", "variables:\n    A: \"1\"\n    B: new\n", "variables.A variables.B"},
		{"variables:\n", "variables:\n    A: \"1\"\n    B: new\n", "variables.A variables.B"},
		{"variables:\n    B: old # mine\n", "variables:\n    B: old # mine\n    A: \"1\"\n", "variables.A"},
		{"variables: {A: x, B: y}\n", "variables: {A: x, B: y}\n", ""},
	} {
		out, added, err := Add(file, []byte(tt.old), given)
		if err != nil || string(out) != tt.want || strings.Join(added, " ") != tt.added {
			t.Errorf("%q: %q, %v, %v", tt.old, out, added, err)
		}
	}
	if _, _, err := Add(file, []byte("variables: CANARY"), given); err == nil || strings.Contains(err.Error(), "CANARY") {
		t.Errorf("got %v", err)
	}
}
