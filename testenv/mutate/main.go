// Command mutate checks the tests: it puts deliberate bugs into talosgen, one at a
// time, and each must be found by the tests that are named beside it. Nothing is
// changed in the checkout: the compiler is given another file in the place of one.
//
//	go run ./testenv/mutate                 all of them
//	go run ./testenv/mutate -only quorum    those whose names have this in them
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

func main() {
	only := flag.String("only", "", "mutations whose names have this `TEXT` in them")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := mutate(ctx, ".", *only); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

// mutate tries the mutations of a checkout, and says of each whether it was found.
func mutate(ctx context.Context, root, only string) error {
	dir, err := os.MkdirTemp("", "mutate-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	lived, tried := 0, 0
	for _, m := range mutations {
		if !strings.Contains(m.name, only) {
			continue
		}
		tried++
		begin := time.Now()
		err := m.found(ctx, root, dir)
		result := "found"
		if err != nil {
			lived++
			result = err.Error()
		}
		fmt.Printf("%-60s %5.1f s  %s\n", m.name, time.Since(begin).Seconds(), result)
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	switch {
	case tried == 0:
		return fmt.Errorf("no mutation has %q in its name", only)
	case lived > 0:
		return fmt.Errorf("%d of %d mutations were not found", lived, tried)
	}
	fmt.Printf("all %d mutations were found\n", tried)
	return nil
}

// apply is the file with the bug in it.
func (m mutation) apply(root string) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(root, m.file))
	if err != nil {
		return nil, err
	}
	if n := strings.Count(string(text), m.old); n != 1 {
		return nil, fmt.Errorf("%s has %q %d times, want it once", m.file, m.old, n)
	}
	return []byte(strings.Replace(string(text), m.old, m.new, 1)), nil
}

// found is nil if the tests that should find a mutation do. That it does not
// compile, or that they fail without it too, is no such thing.
func (m mutation) found(ctx context.Context, root, dir string) error {
	text, err := m.apply(root)
	if err != nil {
		return err
	}
	absolute, err := filepath.Abs(filepath.Join(root, m.file))
	if err != nil {
		return err
	}
	file, overlay := filepath.Join(dir, "mutation.go"), filepath.Join(dir, "overlay.json")
	instead, err := json.Marshal(map[string]map[string]string{"Replace": {absolute: file}})
	if err != nil {
		return err
	}
	if err := errors.Join(os.WriteFile(file, text, 0o600), os.WriteFile(overlay, instead, 0o600)); err != nil {
		return err
	}
	if err := m.test(ctx, root); err != nil {
		return fmt.Errorf("the tests fail without it: %w", err)
	}
	err = m.test(ctx, root, "-overlay", overlay)
	var failed *failedError
	switch {
	case errors.As(err, &failed):
		return nil
	case err != nil:
		return err
	}
	return errors.New("NOT FOUND")
}

// failedError is that a test has failed, or a program that it tests has panicked.
type failedError struct{ output string }

// Error is what the test said.
func (e *failedError) Error() string { return e.output }

// test runs the tests of a mutation.
func (m mutation) test(ctx context.Context, root string, flags ...string) error {
	args := append([]string{"test", "-vet", "off", "-timeout", "10m", "-run", m.tests}, flags...)
	cmd := exec.CommandContext(ctx, "go", append(args, "./"+m.pkg)...)
	cmd.Dir = root
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	switch text := out.String(); {
	case err == nil && strings.Contains(text, "no tests to run"):
		return fmt.Errorf("no test is named %s in %s", m.tests, m.pkg)
	case err == nil:
		return nil
	case strings.Contains(text, "--- FAIL") || strings.Contains(text, "panic: "):
		return &failedError{text}
	default:
		return fmt.Errorf("%w\n%s", err, text)
	}
}
