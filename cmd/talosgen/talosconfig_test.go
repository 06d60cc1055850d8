package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/testenv/toolenv"
)

// accessApp is an app with the fixture in a directory, its own home, and the
// clock of this machine: talosctl asks that one.
func accessApp(t *testing.T) (w *app, home string, stderr *bytes.Buffer) {
	t.Helper()
	f, err := prepared()
	if err != nil {
		t.Fatal(err)
	}
	dir, home := t.TempDir(), t.TempDir()
	if err := f.rendered.writeMissing(dir); err != nil {
		t.Fatal(err)
	}
	stderr = &bytes.Buffer{}
	return &app{
		console: console{
			stdin: strings.NewReader(""), stdout: &bytes.Buffer{}, stderr: stderr, masker: secret.NewMasker(),
			size: func() size { return size{} }, page: func() size { return size{} },
		},
		vars: func(name string) (string, bool) {
			values := map[string]string{"SOPS_AGE_KEY": string(f.operatorKey), "HOME": home}
			return values[name], values[name] != ""
		},
		cwd:   func() (string, error) { return dir, nil },
		clock: clock{now: time.Now}, random: f.random,
	}, home, stderr
}

// TestTalosctlReadsTalosconfig asks the real talosctl what the file holds.
func TestTalosctlReadsTalosconfig(t *testing.T) {
	for _, release := range []string{"1.13", "1.14"} {
		t.Run(release, func(t *testing.T) {
			talosctl := toolenv.Talosctl(t, release)
			w, home, stderr := accessApp(t)
			if code := run([]string{"talosgen", "talosconfig", "lab", "--role", "os:reader"}, w); code != 0 {
				t.Fatal(stderr.String())
			}
			cmd := exec.Command(talosctl, "--talosconfig", filepath.Join(home, ".talos", "config"), "config", "info", "-o", "json")
			out, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			var info struct {
				Context, CertTTL string
				Endpoints, Roles []string
			}
			if err := json.Unmarshal(out, &info); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if info.Context != "lab" || !slices.Equal(info.Endpoints, []string{"192.0.2.11"}) || !slices.Equal(info.Roles, []string{"os:reader"}) {
				t.Errorf("talosctl reads %s", out)
			}
		})
	}
}

// TestAccessTellsNoKey looks for private keys in everything but the file.
func TestAccessTellsNoKey(t *testing.T) {
	for _, command := range []string{"talosconfig", "kubeconfig"} {
		w, home, stderr := accessApp(t)
		file := filepath.Join(home, "file")
		if code := run([]string{"talosgen", command, "dev", "-o", file}, w); code != 0 {
			t.Fatal(stderr.String())
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		// What is in the file is masked when something else says it.
		if masked := w.console.masker.String(string(data)); strings.Contains(masked, keyLine(t, data)) {
			t.Errorf("%s: the masker does not know the key", command)
		}
		if f, err := prepared(); err != nil || f.leaks(stderr.String()) || strings.Contains(stderr.String(), keyLine(t, data)) {
			t.Errorf("%s: there is a secret in %q, %v", command, stderr.String(), err)
		}
		// Nor does a file that is broken show what is in it.
		broken := strings.Replace(string(data), "\n", "\n\t- {", 1)
		if err := os.WriteFile(file, []byte(broken), 0o600); err != nil {
			t.Fatal(err)
		}
		w, _, stderr = accessApp(t)
		if code := run([]string{"talosgen", command, "dev", "-o", file}, w); code == 0 || strings.Contains(stderr.String(), keyLine(t, data)) {
			t.Errorf("%s: %s", command, stderr.String())
		}
	}
}

// keyLine is the private key in a file, as the file has it.
func keyLine(t *testing.T, data []byte) string {
	t.Helper()
	for line := range strings.Lines(string(data)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		if name == "key" || name == "client-key-data" {
			return value
		}
	}
	t.Fatal("there is no key in the file")
	return ""
}
