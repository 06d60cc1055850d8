package render_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render"
)

// withoutKeys copies the shipped sources and removes the example key.
func withoutKeys(t *testing.T) string {
	t.Helper()
	root := copySources(t, shipped)
	if err := os.Remove(filepath.Join(root, "envs/example.agekey")); err != nil {
		t.Fatal(err)
	}
	return root
}

// Without any key, every shipped environment renders with placeholders.
func TestKeylessRendersTheShippedEnvironments(t *testing.T) {
	root := withoutKeys(t)
	for _, env := range shippedEnvs(t) {
		t.Run(env, func(t *testing.T) {
			r := open(t, root, nil)
			res := mustRender(t, r, env, render.Options{Keyless: true})
			want := mustRender(t, open(t, shipped, nil), env, render.Options{})
			if len(res.Nodes) != len(want.Nodes) || len(res.Nodes) == 0 {
				t.Errorf("%d nodes, with keys %d", len(res.Nodes), len(want.Nodes))
			}
			if _, err := r.Write(res); err == nil {
				t.Error("placeholders could be written")
			}
		})
	}
}

// Check needs no key, and finds what was changed.
func TestCheckNeedsNoKey(t *testing.T) {
	root := withoutKeys(t)
	if err := os.CopyFS(filepath.Join(root, "rendered"), os.DirFS(filepath.Join(shipped, "rendered"))); err != nil {
		t.Fatal(err)
	}
	r := open(t, root, nil)
	for _, env := range shippedEnvs(t) {
		if differences, err := r.Check(env); err != nil || len(differences) > 0 {
			t.Errorf("%s: %v, %v", env, differences, err)
		}
	}
	writeFile(t, root, "envs/dev/cluster.env", readFile(t, root, "envs/dev/cluster.env")+"# more\n")
	differences, err := r.Check("dev")
	if err != nil || len(differences) != 1 || differences[0].Path != "envs/dev/cluster.env" {
		t.Errorf("%v, %v", differences, err)
	}
	if differences, err := r.Check("prod"); err != nil || len(differences) > 0 {
		t.Errorf("prod: %v, %v", differences, err)
	}
}

// A render that needs keys and finds none says where it looked.
func TestRenderWithoutKeys(t *testing.T) {
	root := copySources(t, shipped)
	if err := os.Remove(filepath.Join(root, "envs/example.agekey")); err != nil {
		t.Fatal(err)
	}
	_, err := open(t, root, nil).Render(context.Background(), "dev", render.Options{})
	var p *diag.Problem
	if !errors.As(err, &p) || diag.CodeOf(err) != diag.Secrets {
		t.Errorf("got %v", err)
	}
}

// Secrets in every place, also where only a number, a duration or an address
// can stand: without keys the repository renders, and what cannot be judged is
// a warning that names the file.
func TestKeylessWithSecretsInTypedPlaces(t *testing.T) {
	for _, contract := range []string{"v1.9", "v1.13", "v1.14"} {
		t.Run(contract, func(t *testing.T) {
			r := fullyMarkedRepo(t, contract)
			typed := "apiVersion: v1alpha1\nkind: TimeSyncConfig\nbootTimeout: ${PERIOD}\n"
			if contract == "v1.9" {
				typed = "machine: {time: {bootTimeout: \"${PERIOD}\"}}\n"
			}
			r.patch("common/typed.yaml", typed)
			r.patch("common/validated.yaml", "apiVersion: v1alpha1\nkind: DummyLinkConfig\nname: dummy0\nmtu: ${PORT}\naddresses:\n  - address: 192.0.2.1/32\n")
			r.patch("common/link.sops.yaml", "apiVersion: v1alpha1\nkind: KmsgLogConfig\nname: other\nurl: udp://qzxkanarivogl95.example.com:48271/\n")
			mustRender(t, r.open(operatorKeys()[0].private), "canary", render.Options{})
			res := mustRender(t, r.open(""), "canary", render.Options{Keyless: true})
			if len(res.Nodes) != 3 {
				t.Errorf("%d nodes", len(res.Nodes))
			}
			for _, file := range []string{"common/typed.yaml", "common/whole.sops.yaml", "worker/wireguard.sops.yaml"} {
				warned := 0
				for _, w := range res.Warnings {
					if strings.HasSuffix(w.Pos.File, file) {
						warned++
					}
				}
				if warned != 1 {
					t.Errorf("%d warnings that %s is not checked in full", warned, file)
				}
			}
		})
	}
}

// What is wrong whatever the secrets are is an error without keys too, also in
// patches with secrets.
func TestKeylessFindsWhatIsWrong(t *testing.T) {
	for name, tt := range map[string]struct{ file, text, want string }{
		"unknown key":                  {"common/x.yaml", "machine:\n  env:\n    A: ${PASSWORD}\n  tokens: x\n", `x.yaml:4:3: unknown key "machine.tokens"`},
		"beside a typed secret":        {"common/x.yaml", "machine:\n  install:\n    wipe: ${PORT}\n  tokens: x\n", `x.yaml:4:3: unknown key "machine.tokens"`},
		"wrong type":                   {"common/x.yaml", "machine:\n  sysctls: []\n  env:\n    A: ${PASSWORD}\n", "x.yaml:2:12: a list where a mapping is expected"},
		"undefined variable":           {"common/x.yaml", "machine:\n  env:\n    A: ${PASSWORD}${NOTHING}\n", `variable "NOTHING" is not defined`},
		"unknown key, encrypted":       {"common/x.part.sops.yaml", "machine:\n  tokens: x\n  token: qzxkanarivogl95\n", `unknown key "machine.tokens"`},
		"validation":                   {"common/x.yaml", "machine:\n  nodeLabels:\n    example.com/x: not a label\n", `"not a label" is invalid`},
		"validation beside secrets":    {"common/x.yaml", "machine:\n  env:\n    A: x\n  nodeLabels:\n    example.com/x: not a label\n", `"not a label" is invalid`},
		"a secret variable in a key":   {"common/x.yaml", "machine:\n  env:\n    ${WORD}: x\n", "a secret variable in a key"},
		"a secret in cluster.yaml":     {"../cluster.yaml", strings.Replace(clusterOf("canary", "v1.13"), "hel1", "${WORD}", 1), "a secret variable in cluster.yaml"},
		"plaintext in encrypted files": {"../secrets.sops.yaml", "variables: {A: b}\n", "secrets.sops.yaml: plaintext"},
	} {
		t.Run(name, func(t *testing.T) {
			r := markedRepo(t, "v1.13").patch("common/other.yaml", "machine:\n  env:\n    B: ${PASSWORD}\n")
			if strings.HasPrefix(tt.file, "../") {
				r.file("envs/canary/"+tt.file[3:], tt.text)
			} else {
				r.patch(tt.file, tt.text)
			}
			_, err := r.open("").Render(context.Background(), "canary", render.Options{Keyless: true})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}
