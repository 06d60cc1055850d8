package secretsfile

import (
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/rotation"
	"github.com/talosgen/talosgen/internal/secret"
)

// bundle is a file with the parts that rotations change, each with a mark of its own.
const bundle = `# of the cluster
talos:
    certs:
        etcd:
            crt: etcd
            key: etcd
        os: # of Talos
            crt: old-talos-ca-crt
            key: old-talos-ca-key
        k8s:
            crt: old-kubernetes-ca-crt
            key: old-kubernetes-ca-key
        k8sserviceaccount:
            key: old-service-account-key
`

func TestRotate(t *testing.T) {
	for _, kind := range []rotation.Kind{rotation.TalosCA, rotation.KubernetesCA, rotation.ServiceAccount} {
		t.Run(string(kind), func(t *testing.T) { testRotate(t, kind) })
	}
}

func testRotate(t *testing.T, kind rotation.Kind) {
	certified := kind != rotation.ServiceAccount
	next := func(s rotation.State[Authority]) (rotation.State[Authority], error) {
		fresh := Authority{Key: secret.New("new-" + string(kind) + "-key")}
		if certified {
			fresh.Certificate = secret.New("new-" + string(kind) + "-crt")
		}
		return s.Next(fresh), nil
	}
	back := func(s rotation.State[Authority]) (rotation.State[Authority], error) { return s.Back() }
	section := func(phase, which string) string {
		text := "rotation:\n    kind: " + string(kind) + "\n    phase: " + phase + "\n    since: \"2026-11-25\"\n"
		if !certified && phase == "issue" {
			text += "    signs: \"2027-01-01\"\n"
		}
		text += "    other:\n"
		if certified {
			text += "        crt: " + which + "-" + string(kind) + "-crt\n"
		}
		return text + "        key: " + which + "-" + string(kind) + "-key\n"
	}
	renewed := strings.ReplaceAll(bundle, "old-"+string(kind), "new-"+string(kind))
	text := []byte(bundle)
	for i, tt := range []struct {
		today string
		move  func(rotation.State[Authority]) (rotation.State[Authority], error)
		want  string
	}{
		{"2026-11-25", next, bundle + section("accept", "new")},
		{"2026-11-25", back, bundle},
		{"2026-11-25", next, bundle + section("accept", "new")},
		{"2027-01-01", next, renewed + section("issue", "old")},
		{"2027-01-02", back, bundle + section("accept", "new")},
		{"2027-01-01", next, renewed + section("issue", "old")},
		{"2027-01-05", next, renewed},
	} {
		out, err := Rotate(file, text, kind, tt.today, tt.move)
		if err != nil || string(out) != tt.want {
			t.Fatalf("%d: %v\n%s\nwant\n%s", i, err, out, tt.want)
		}
		text = out
	}
	if _, err := Rotate(file, text, kind, "", back); err == nil {
		t.Error("there is a way back from the end")
	}
}

// TestRotateEncryptionKey: the key keeps its name, for ever, with what encrypts.
func TestRotateEncryptionKey(t *testing.T) {
	const head = "talos:\n    secrets:\n        bootstraptoken: a.b\n        secretboxencryptionsecret: "
	next := func(s rotation.State[Authority]) (rotation.State[Authority], error) {
		return s.Next(Authority{Key: secret.New("fresh"), Name: rotation.NextKeyName(s.Issuing.Name)}), nil
	}
	back := func(s rotation.State[Authority]) (rotation.State[Authority], error) { return s.Back() }
	state := func(phase, name, key string) string {
		return "rotation:\n    kind: encryption-key\n    phase: " + phase + "\n    since: \"2026-11-25\"\n    other:\n        name: " + name + "\n        key: " + key + "\n"
	}
	text := []byte(head + "old\n")
	for i, tt := range []struct {
		move func(rotation.State[Authority]) (rotation.State[Authority], error)
		want string
	}{
		{next, "old\n" + state("accept", "key3", "fresh")},
		{next, "fresh\nencryptionKeyName: key3\n" + state("issue", "key2", "old")},
		{back, "old\n" + state("accept", "key3", "fresh")},
		{back, "old\n"},
		{next, "old\n" + state("accept", "key3", "fresh")},
		{next, "fresh\nencryptionKeyName: key3\n" + state("issue", "key2", "old")},
		{next, "fresh\nencryptionKeyName: key3\n"},
		{next, "fresh\nencryptionKeyName: key3\n" + state("accept", "key4", "fresh")},
		{back, "fresh\nencryptionKeyName: key3\n"},
	} {
		out, err := Rotate(file, text, rotation.EncryptionKey, "2026-11-25", tt.move)
		if err != nil || string(out) != head+tt.want {
			t.Fatalf("%d: %v\n%s\nwant\n%s", i, err, out, head+tt.want)
		}
		if _, err := Parse(file, out); err != nil {
			t.Fatalf("%d: %v", i, err)
		}
		text = out
	}
	for _, broken := range []string{"talos: {secrets: {aescbcencryptionsecret: canary}}\n", "talos: {secrets: {aescbcencryptionsecret: canary, secretboxencryptionsecret: canary}}\n"} {
		if _, err := Rotate(file, []byte(broken), rotation.EncryptionKey, "", next); err == nil || strings.Contains(err.Error(), "canary") || !strings.Contains(err.Error(), "AES-CBC") {
			t.Errorf("%s: %v", broken, err)
		}
	}
	if _, err := Parse(file, []byte("encryptionKeyName: 'a:b'\n")); err == nil {
		t.Error("a name that etcd cannot hold is taken")
	}
}

// TestOneRotation: a second one does not begin beside the first, and its secrets are not
// told.
func TestOneRotation(t *testing.T) {
	next := func(s rotation.State[Authority]) (rotation.State[Authority], error) {
		return s.Next(Authority{Certificate: secret.New("new-crt"), Key: secret.New("new-key")}), nil
	}
	begun, err := Rotate(file, []byte(bundle), rotation.KubernetesCA, "2026-11-25", next)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Rotate(file, begun, rotation.TalosCA, "2026-11-25", next)
	if err == nil || !strings.Contains(err.Error(), "has a rotation of the authority of the Kubernetes API under way") {
		t.Errorf("got %v", err)
	}
	_, err = Rotate(file, []byte("talos:\n    certs: {}\n"), rotation.KubernetesCA, "2026-11-25", next)
	if err == nil || !strings.Contains(err.Error(), "does not have the authority of the Kubernetes API (talos.certs.k8s)") {
		t.Errorf("got %v", err)
	}
}

func TestUnknownRotation(t *testing.T) {
	for _, text := range []string{
		"rotation: x\n",
		"rotation: {kind: moon, phase: accept, other: {crt: a, key: b}}\n",
		"rotation: {kind: talos-ca, phase: late, other: {crt: a, key: b}}\n",
		"rotation: {kind: talos-ca, phase: accept, other: {crt: a}}\n",
		"rotation: {kind: kubernetes-ca, phase: accept, other: {key: b}}\n",
		"rotation: {kind: service-account, phase: accept, other: {crt: a, key: b}}\n",
		"rotation: {kind: encryption-key, phase: accept, other: {key: b}}\n",
		"rotation: {kind: encryption-key, phase: accept, other: {name: 'a:canary', key: b}}\n",
		"rotation: {kind: encryption-key, phase: accept, other: {name: key3, crt: a, key: b}}\n",
		"rotation: {kind: talos-ca, phase: accept, other: {name: key3, crt: a, key: b}}\n",
		"rotation: {kind: talos-ca, phase: accept, more: canary, other: {crt: a, key: b}}\n",
	} {
		if _, err := Parse(file, []byte(text)); err == nil || strings.Contains(err.Error(), "canary") || !strings.Contains(err.Error(), "is not a rotation that this talosgen knows") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
