package tree

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/windows"
)

// held is the lock of a directory: a mutex of its path, which the system removes with the
// process. A handle of the directory itself would keep others from renaming what is in it.
type held struct{ mutex windows.Handle }

// hold takes the lock of a directory. The error is [errHeld] if somebody else has it.
func hold(dir string) (held, error) {
	info, err := os.Lstat(dir)
	if err == nil && !info.IsDir() {
		err = &fs.PathError{Op: "open", Path: dir, Err: windows.ERROR_DIRECTORY}
	}
	if err != nil {
		return held{}, err
	}
	name, err := mutexName(dir)
	if err != nil {
		return held{}, err
	}
	mutex, err := windows.CreateMutex(nil, false, name)
	switch {
	case err == nil:
		return held{mutex}, nil
	case errors.Is(err, windows.ERROR_ALREADY_EXISTS):
		_ = windows.CloseHandle(mutex)
		return held{}, errHeld
	case errors.Is(err, windows.ERROR_ACCESS_DENIED): // another person's
		return held{}, errHeld
	}
	return held{}, err
}

// mutexName names the mutex of a path, for all sessions of the machine. It may have no
// backslash, and 260 characters.
func mutexName(dir string) (*uint16, error) {
	whole, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if real, err := filepath.EvalSymlinks(whole); err == nil {
		whole = real
	}
	sum := sha256.Sum256([]byte(strings.ToLower(whole)))
	return windows.UTF16PtrFromString(`Global\talosgen-` + hex.EncodeToString(sum[:]))
}

// isCurrent reports whether the directory that is locked is still the one at a path.
func (h held) isCurrent(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}

func (h held) release() { _ = windows.CloseHandle(h.mutex) }
