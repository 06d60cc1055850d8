package filelock

import (
	"path/filepath"
	"testing"
)

// TestLock: one at a time has it, and who waits gets it when it is free.
func TestLock(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.lock")

	first, err := Try(name)
	if err != nil || first == nil {
		t.Fatalf("%v, %v", first, err)
	}

	if second, err := Try(name); second != nil || err != nil {
		t.Errorf("two have it: %v, %v", second, err)
	}

	got := make(chan error)

	go func() {
		file, err := Wait(name)
		if err == nil {
			err = file.Close()
		}
		got <- err
	}()

	select {
	case err := <-got:
		t.Fatalf("somebody who waits has it too, %v", err)
	default:
	}

	if err := first.Close(); err != nil {
		t.Fatal(err)
	}

	if err := <-got; err != nil {
		t.Error(err)
	}
}

func TestNoFolder(t *testing.T) {
	if file, err := Try(filepath.Join(t.TempDir(), "none", "a.lock")); err == nil || file != nil {
		t.Errorf("%v, %v", file, err)
	}
}
