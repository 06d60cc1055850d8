package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/talosgen/talosgen/internal/atomicfile"
)

// cacheVariable names the directory of the cache, if it is not where the system
// has caches.
const cacheVariable = "TALOSGEN_CACHE"

// chartCache keeps what was fetched for addons, by its digest.
type chartCache struct{ vars environ }

// dir is the directory of the cache of charts; empty if there is no place
// for one.
func (h chartCache) dir() string {
	if dir, _ := h.vars(cacheVariable); dir != "" {
		return filepath.Join(dir, "charts")
	}
	if dir, _ := h.vars("XDG_CACHE_HOME"); dir != "" {
		return filepath.Join(dir, "talosgen", "charts")
	}
	home, _ := h.vars("HOME")
	switch {
	case home == "":
		return ""
	case runtime.GOOS == "darwin":
		return filepath.Join(home, "Library", "Caches", "talosgen", "charts")
	}
	return filepath.Join(home, ".cache", "talosgen", "charts")
}

// read reads from the cache.
func (h chartCache) read(digest string) ([]byte, error) {
	dir := h.dir()
	if dir == "" {
		return nil, fs.ErrNotExist
	}
	return os.ReadFile(filepath.Join(dir, digest))
}

// keep writes to the cache.
func (h chartCache) keep(digest string, data []byte) error {
	dir := h.dir()
	if dir == "" {
		return nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("the cache of charts: %w", err)
	}
	if _, err := atomicfile.Write(filepath.Join(dir, digest), data, 0o644); err != nil {
		return fmt.Errorf("the cache of charts: %w", err)
	}
	return nil
}
