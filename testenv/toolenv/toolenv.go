// Package toolenv gives tests the real programs that talosgen's output is
// meant for: sops, age, talosctl and kubectl. They are built by testenv/prepare; a
// test that asks for one that is not there is skipped with a line that says
// how to get it, or fails if TALOSGEN_REQUIRE_TESTENV=1 is set, as in CI.
package toolenv

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/talosgen/talosgen/testenv/internal/cache"
)

// Require is the variable that makes a missing program a failure.
const Require = "TALOSGEN_REQUIRE_TESTENV"

// Sops returns the path of sops.
func Sops(t testing.TB) string {
	t.Helper()

	return tool(t, "tools/sops", "sops")
}

// Age returns the path of age.
func Age(t testing.TB) string {
	t.Helper()

	return tool(t, "tools/sops", "age")
}

// AgeKeygen returns the path of age-keygen.
func AgeKeygen(t testing.TB) string {
	t.Helper()

	return tool(t, "tools/sops", "age-keygen")
}

// Talosctl returns the path of the talosctl of a Talos release: "1.13" or
// "1.14".
func Talosctl(t testing.TB, release string) string {
	t.Helper()

	return tool(t, "tools/talosctl-"+release, "talosctl")
}

// Kubectl returns the path of kubectl.
func Kubectl(t testing.TB) string {
	t.Helper()

	return tool(t, "tools/kubectl", "kubectl")
}

// Actionlint returns the path of actionlint, which reads workflows of GitHub.
func Actionlint(t testing.TB) string {
	t.Helper()

	return tool(t, "tools/release", "actionlint")
}

// Talhelper returns the path of talhelper. Tests with it are of the nightly level, and
// are skipped at others.
func Talhelper(t testing.TB) string {
	t.Helper()

	return nightly(t, "tools/talhelper", "talhelper")
}

// Staticcheck returns the path of staticcheck.
func Staticcheck(t testing.TB) string {
	t.Helper()

	return tool(t, "tools/staticcheck", "staticcheck")
}

// nightlyVariable asks for tests of the nightly level.
const nightlyVariable = "TALOSGEN_TESTENV_NIGHTLY"

// nightly is a program that other levels do not build.
func nightly(t testing.TB, module, name string) string {
	t.Helper()

	Nightly(t)

	return tool(t, module, name)
}

// Nightly skips a test of the nightly level at others.
func Nightly(t testing.TB) {
	t.Helper()

	if os.Getenv(nightlyVariable) != "1" {
		t.Skipf("%s is of the nightly level: %s=1 runs it", t.Name(), nightlyVariable)
	}
}

func tool(t testing.TB, module, name string) string {
	t.Helper()

	return filepath.Join(Folder(t, module), name)
}

// Folder returns the folder with the programs of a module below testenv, for
// packages that start several of them together.
func Folder(t testing.TB, module string) string {
	t.Helper()

	programs, err := cache.Open()
	if err != nil {
		t.Fatal(err)
	}

	dir, err := programs.Find(module)

	switch {
	case err == nil:
	case os.Getenv(Require) == "1":
		t.Fatalf("%v: go run ./testenv/prepare", err)
	default:
		t.Skipf("%v: go run ./testenv/prepare", err)
	}

	return dir
}
