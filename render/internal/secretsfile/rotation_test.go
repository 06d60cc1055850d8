package secretsfile

import (
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/rotation"
	"github.com/talosgen/talosgen/internal/secret"
)

const bundle = `# of the cluster
talos:
    certs:
        etcd:
            crt: etcd
            key: etcd
        os: # of Talos
            crt: old-crt
            key: old-key
`

func TestRotate(t *testing.T) {
	next := func(s rotation.State[Authority]) (rotation.State[Authority], error) {
		return s.Next(Authority{secret.New("new-crt"), secret.New("new-key")}), nil
	}
	back := func(s rotation.State[Authority]) (rotation.State[Authority], error) { return s.Back() }
	section := func(phase, which string) string {
		return "rotation:\n    kind: talos-ca\n    phase: " + phase + "\n    since: \"2026-11-25\"\n    other:\n        crt: " + which + "-crt\n        key: " + which + "-key\n"
	}
	renewed := strings.NewReplacer("old-", "new-").Replace(bundle)
	text := []byte(bundle)
	for i, tt := range []struct {
		move func(rotation.State[Authority]) (rotation.State[Authority], error)
		want string
	}{
		{next, bundle + section("accept", "new")},
		{back, bundle},
		{next, bundle + section("accept", "new")},
		{next, renewed + section("issue", "old")},
		{back, bundle + section("accept", "new")},
		{next, renewed + section("issue", "old")},
		{next, renewed},
	} {
		out, err := Rotate(file, text, rotation.TalosCA, []string{"2026-11-25", "2026-11-25", "2026-11-25", "2027-01-01", "2027-01-01", "2027-01-01", "2027-01-01"}[i], tt.move)
		if err != nil || string(out) != tt.want {
			t.Fatalf("%d: %v\n%s\nwant\n%s", i, err, out, tt.want)
		}
		text = out
	}
	if _, err := Rotate(file, text, "", back); err == nil {
		t.Error("there is a way back from the end")
	}
}

func TestUnknownRotation(t *testing.T) {
	for _, text := range []string{
		"rotation: x\n",
		"rotation: {kind: moon, phase: accept, other: {crt: a, key: b}}\n",
		"rotation: {kind: talos-ca, phase: late, other: {crt: a, key: b}}\n",
		"rotation: {kind: talos-ca, phase: accept, other: {crt: a}}\n",
		"rotation: {kind: talos-ca, phase: accept, more: canary, other: {crt: a, key: b}}\n",
	} {
		if _, err := Parse(file, []byte(text)); err == nil || strings.Contains(err.Error(), "canary") || !strings.Contains(err.Error(), "is not a rotation that this talosgen knows") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
