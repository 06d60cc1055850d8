package toolenv

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/testenv/internal/cache"
)

// recorder is a test that notes how it ended.
type recorder struct {
	testing.TB
	end string
}

func (r *recorder) Helper() {}

func (r *recorder) Skipf(format string, args ...any) {
	r.end = "skip: " + fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.end = "fail: " + fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// ask runs f as a test of its own and returns how it ended.
func ask(f func(t testing.TB) string) string {
	r := &recorder{}
	done := make(chan struct{})

	go func() {
		defer close(done)

		r.end = "found: " + f(r)
	}()
	<-done

	return r.end
}

func TestMissing(t *testing.T) {
	t.Setenv(cache.Variable, t.TempDir())

	for required, want := range map[string]string{"": "skip: ", "0": "skip: ", "1": "fail: "} {
		t.Setenv(Require, required)

		want += "tools/sops is not built: go run ./testenv/prepare"
		if got := ask(Sops); got != want {
			t.Errorf("%s=%s: %q, want %q", Require, required, got, want)
		}
	}
}

// TestPrograms runs each program: it is there, it starts, and it is the
// version that the modules ask for.
func TestPrograms(t *testing.T) {
	talosctl := func(release string) func(testing.TB) string {
		return func(t testing.TB) string { return Talosctl(t, release) }
	}

	tests := []struct {
		find func(testing.TB) string
		args string
		want string
	}{
		{Sops, "--version --disable-version-check", "3.13.3"},
		{Age, "--version", "v1.3.2"},
		{AgeKeygen, "--version", "v1.3.2"},
		{talosctl("1.13"), "version --client --short", "v1.13.9"},
		{talosctl("1.14"), "version --client --short", "v1.14.1"},
		{Kubectl, "version --client", "Client Version: v1.37.1"},
		{Staticcheck, "-version", "0.8.2"},
		{Talosgen, "--version", "talosgen "},
	}

	for _, test := range tests {
		t.Run(test.want, func(t *testing.T) {
			command := exec.Command(test.find(t), strings.Fields(test.args)...)
			command.Env = append(os.Environ(), "HOME="+t.TempDir())

			out, err := command.CombinedOutput()
			if err != nil || !strings.Contains(string(out), test.want) {
				t.Errorf("%v: %v: %s", command.Args, err, out)
			}
		})
	}
}
