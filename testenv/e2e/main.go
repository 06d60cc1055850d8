// Command e2e takes a cluster through its life in a real project of Hetzner
// Cloud: image, apply, verify, change, destroy, with talosgen as users have it and
// a repository as `talosgen init` writes it. It asks the API itself what there is,
// and removes what it made however it ends; what a run left that was killed, the
// next one removes. It costs some cents: see docs/how-to/end-to-end.md.
//
//	HCLOUD_TOKEN=… go run ./testenv/e2e
//	talosgen sim --speed 0 -- go run ./testenv/e2e   the same in a simulated project
package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/talosgen/talosgen/internal/sim/hetznersim/conformance"
)

func main() {
	var o options
	flag.Float64Var(&o.maxMonth, "max-month", 30, "refuse a cluster that costs more in a month, gross, in the project's currency")
	flag.DurationVar(&o.leftovers, "leftovers", 2*time.Hour, "how old a run must be that is taken for dead; 0: all others are")
	flag.BoolVar(&o.writes, "writes", false, "also the conformance scripts that make something; they cost some cents more")
	talosgen := flag.String("talosgen", "", "the talosgen to test; built if empty")
	scripts := flag.String("scripts", "internal/sim/hetznersim/testdata/conformance", "the directory of the conformance scripts")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	err := e2e(ctx, o, *talosgen, *scripts)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		os.Exit(1)
	}
}

// hetzner is where the real API is.
const hetzner = "https://api.hetzner.cloud/v1"

func e2e(ctx context.Context, o options, talosgen, scripts string) (err error) {
	token := os.Getenv("HCLOUD_TOKEN")
	if token == "" {
		return errors.New("HCLOUD_TOKEN is not set: it needs a token that may write, of a project of Hetzner Cloud that is for tests")
	}
	work, err := os.MkdirTemp("", "talosgen-e2e-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	r := &run{out: os.Stderr, now: time.Now, options: o}
	if r.scripts, err = readScripts(scripts); err != nil {
		return err
	}
	if talosgen, err = program(ctx, talosgen, work); err != nil {
		return err
	}
	var random [2]byte
	if _, err := rand.Read(random[:]); err != nil {
		return err
	}
	r.cluster = newClusterName(r.now(), binary.BigEndian.Uint16(random[:]))
	r.repo = &repository{talosgen: talosgen, work: work, env: variables(os.Environ(), work), out: r.out}
	r.project = &project{endpoint: cmp.Or(os.Getenv("HCLOUD_ENDPOINT"), hetzner), token: token, sleep: sleep,
		client: &http.Client{Timeout: time.Minute}}
	return r.all(ctx)
}

// program is the talosgen to test.
func program(ctx context.Context, given, work string) (string, error) {
	if given != "" {
		return filepath.Abs(given)
	}
	file := filepath.Join(work, "talosgen")
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", file, "./cmd/talosgen")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return "", fmt.Errorf("building talosgen: %w", err)
	}
	return file, nil
}

// readScripts reads the conformance scripts of a directory.
func readScripts(dir string) (all []conformance.Script, err error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil || len(files) == 0 {
		return nil, errors.Join(err, fmt.Errorf("no conformance scripts are in %s: run it in the repository of talosgen", dir))
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		script, err := conformance.Parse(file, string(text))
		if err != nil {
			return nil, err
		}
		all = append(all, script)
	}
	return all, nil
}

// sleep waits in real time.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
