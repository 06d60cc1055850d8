// Package filelock owns the locks by which processes that share a folder keep
// out of each other's way. A lock goes away with the process that has it,
// however that ends: children do not inherit it unless they are handed the file.
package filelock

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// Wait locks a file, which is made if there is none, as soon as nobody else has
// it. Closing the file frees it.
func Wait(name string) (*os.File, error) {
	return open(name, syscall.LOCK_EX)
}

// Try is [Wait] without waiting: it returns nil if somebody else has the lock.
func Try(name string) (*os.File, error) {
	file, err := open(name, syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, nil
	}

	return file, err
}

func open(name string, how int) (*os.File, error) {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}

	if err := syscall.Flock(int(file.Fd()), how); err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", name, err), file.Close())
	}

	return file, nil
}
