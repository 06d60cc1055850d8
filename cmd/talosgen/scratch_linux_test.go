package main

import (
	"os"
	"sync"
	"syscall"
)

// memory is a folder in memory with enough space; empty if there is none.
var memory = sync.OnceValue(func() string {
	const folder, tmpfs, enough = "/dev/shm", 0x01021994, 1 << 30
	var s syscall.Statfs_t
	if syscall.Statfs(folder, &s) != nil || s.Type != tmpfs || s.Bavail*uint64(s.Bsize) < enough {
		return ""
	}
	dir, err := os.MkdirTemp(folder, "talosgen-")
	if err != nil || os.Remove(dir) != nil {
		return ""
	}
	return folder
})
