// Command mount is mount and umount, as far as the kubelet calls them: it is
// the program that it is called as.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

func main() {
	if err := run(filepath.Base(os.Args[0]), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(name string, args []string) error {
	r, err := parse(args)
	if err != nil {
		return err
	}

	switch {
	case name == "umount" && len(r.paths) == 1:
		return wrap("umount", r.paths[0], syscall.Unmount(r.paths[0], 0))
	case name == "mount" && len(r.paths) == 2:
		return wrap("mount", r.paths[1], syscall.Mount(r.paths[0], r.paths[1], r.kind, r.flags, r.data))
	default:
		return fmt.Errorf("%s %q is not what this program can do", name, args)
	}
}

func wrap(call, path string, err error) error {
	if err == nil {
		return nil
	}

	return &os.PathError{Op: call, Path: path, Err: err}
}

// request is what is to be mounted.
type request struct {
	kind  string
	flags uintptr
	data  string // options that are the file system's
	paths []string
}

// flags are the options that are the kernel's, for all file systems.
var flags = map[string]uintptr{
	"bind":     syscall.MS_BIND,
	"rbind":    syscall.MS_BIND | syscall.MS_REC,
	"remount":  syscall.MS_REMOUNT,
	"ro":       syscall.MS_RDONLY,
	"nosuid":   syscall.MS_NOSUID,
	"nodev":    syscall.MS_NODEV,
	"noexec":   syscall.MS_NOEXEC,
	"relatime": syscall.MS_RELATIME,
	"shared":   syscall.MS_SHARED,
	"rshared":  syscall.MS_SHARED | syscall.MS_REC,
	"rslave":   syscall.MS_SLAVE | syscall.MS_REC,
	"private":  syscall.MS_PRIVATE,
	"rw":       0,
	"defaults": 0,
}

func parse(args []string) (request, error) {
	var (
		r    request
		data []string
	)

	for len(args) > 0 {
		arg := args[0]
		args = args[1:]

		switch {
		case arg == "-t" || arg == "-o":
			if len(args) == 0 {
				return r, errors.New(arg + " has no value")
			}

			if arg == "-t" {
				r.kind = args[0]
			} else {
				for option := range strings.SplitSeq(args[0], ",") {
					if flag, ok := flags[option]; ok {
						r.flags |= flag
					} else {
						data = append(data, option)
					}
				}
			}

			args = args[1:]
		case arg == "--no-canonicalize": // nothing here does
		case strings.HasPrefix(arg, "-"):
			return r, errors.New("unknown option " + arg)
		default:
			r.paths = append(r.paths, arg)
		}
	}

	r.data = strings.Join(data, ",")

	return r, nil
}
