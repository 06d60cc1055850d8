package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/talosgen/talosgen/testenv/internal/cache"
	"github.com/talosgen/talosgen/testenv/internal/child"
	"github.com/talosgen/talosgen/testenv/internal/filelock"
)

// builder builds modules into the cache.
type builder struct {
	cache    cache.Cache
	out      io.Writer // progress; whole lines, from several builds at once
	parallel int       // builds at once
}

// buildAll builds what is missing. If ctx ends, so do the builds, and leave
// nothing but what the compiler has cached.
func (b builder) buildAll(ctx context.Context, modules []cache.Module) error {
	b.out = &lineWriter{to: b.out}

	if err := b.sweep(); err != nil {
		return err
	}

	return schedule(ctx, modules, b.parallel, func(i int) error {
		m := modules[i]

		if err := b.build(ctx, m, fmt.Sprintf("[%d/%d] %s", i+1, len(modules), m.Folder)); err != nil {
			return fmt.Errorf("%s: %w", m.Folder, err)
		}

		return nil
	})
}

// sweep removes what killed runs left of modules that have changed since, so
// that nobody will build them again.
func (b builder) sweep() error {
	works, err := filepath.Glob(filepath.Join(b.cache.Root, "*"+workSuffix))
	if err != nil {
		return err
	}

	for _, work := range works {
		lock, err := filelock.Try(strings.TrimSuffix(work, workSuffix) + lockSuffix)
		if err != nil {
			return err
		}

		if lock == nil {
			continue // a run is at it
		}

		if err := errors.Join(os.RemoveAll(work), lock.Close()); err != nil {
			return err
		}
	}

	return nil
}

// build builds one module, unless it is there. The folder of its programs
// appears whole, by a rename, or not at all.
func (b builder) build(ctx context.Context, m cache.Module, title string) error {
	dir, err := b.cache.Dir(m)
	if err != nil {
		return err
	}

	if cache.Ready(dir, m) {
		fmt.Fprintf(b.out, "%s: there\n", title)
		return nil
	}

	lock, err := b.lock(dir, title)
	if err != nil {
		return err
	}
	defer lock.Close()

	if cache.Ready(dir, m) {
		fmt.Fprintf(b.out, "%s: built by another run\n", title)
		return nil
	}

	start := time.Now()
	work := dir + workSuffix

	// What an interrupted run left. The compiled packages are in Go's own
	// build cache, so the next attempt goes on where that run stopped.
	for _, left := range []string{work, dir} {
		if err := os.RemoveAll(left); err != nil {
			return err
		}
	}

	if err := b.compile(ctx, m, work, title, lock); err != nil {
		return errors.Join(err, os.RemoveAll(work))
	}

	if err := os.Rename(filepath.Join(work, "bin"), dir); err != nil {
		return err
	}

	fmt.Fprintf(b.out, "%s: built in %s\n", title, time.Since(start).Round(100*time.Millisecond))

	return os.RemoveAll(work)
}

// workSuffix is how the names of folders end in which something is built.
const workSuffix = ".tmp"

// lockSuffix is how the files are called that keep runs apart.
const lockSuffix = ".lock"

// lock waits until no other run builds into dir. The lock goes away with the
// processes that have the file open, however they end.
func (b builder) lock(dir, title string) (*os.File, error) {
	if err := os.MkdirAll(b.cache.Root, 0o755); err != nil {
		return nil, err
	}

	lock, err := filelock.Try(dir + lockSuffix)
	if lock != nil || err != nil {
		return lock, err
	}

	fmt.Fprintf(b.out, "%s: waiting for another run\n", title)

	return filelock.Wait(dir + lockSuffix)
}

// compile lays the module out in the work folder and builds its tools there.
// The compiler inherits the lock: if this process is killed, the next one
// waits for what the compiler still writes.
func (b builder) compile(ctx context.Context, m cache.Module, work, title string, lock *os.File) error {
	source := filepath.Join(b.cache.Source, filepath.FromSlash(m.Folder))

	if err := os.CopyFS(work, os.DirFS(source)); err != nil {
		return err
	}

	if err := applyEdits(ctx, source, work); err != nil {
		return err
	}

	for _, tool := range m.Tools {
		if tool.Alias != "" {
			if err := os.Symlink(tool.Alias, filepath.Join(work, "bin", tool.Name)); err != nil {
				return err
			}

			continue
		}

		if err := b.compileTool(ctx, m, tool, work, title, lock); err != nil {
			return err
		}
	}

	for _, files := range m.Files {
		if err := copyFiles(ctx, files, work); err != nil {
			return err
		}
	}

	return nil
}

func (b builder) compileTool(ctx context.Context, m cache.Module, tool cache.Tool, work, title string, lock *os.File) error {
	args := append([]string{"build", "-v"}, m.BuildFlags()...)
	args = append(args, "-o", filepath.Join("bin", tool.Name), tool.Package)

	progress := newProgress(b.out, title+": "+tool.Name)
	err := runGo(ctx, work, progress, []*os.File{lock}, args...)
	progress.stop()

	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("%w\n%s", err, progress.tail())
	}

	return err
}

// copyFiles copies files of a published module to where the programs are.
func copyFiles(ctx context.Context, files cache.Files, work string) error {
	upstream, err := moduleDir(ctx, work, files.Module)
	if err != nil {
		return err
	}

	names, err := filepath.Glob(filepath.Join(upstream, filepath.FromSlash(files.Glob)))
	if err != nil {
		return err
	}

	if len(names) == 0 {
		return fmt.Errorf("%s has no %s", files.Module, files.Glob)
	}

	for _, name := range names {
		if err := copyFile(name, filepath.Join(work, "bin", files.Folder, filepath.Base(name))); err != nil {
			return err
		}
	}

	return nil
}

// goCommand runs the go command in a folder, with the settings that could
// change its result fixed.
func goCommand(ctx context.Context, dir string, output io.Writer, args ...string) error {
	return runGo(ctx, dir, output, nil, args...)
}

// runGo is goCommand with open files that the command inherits. If ctx or this
// process ends, the go command does, and with ctx also what it has started.
func runGo(ctx context.Context, dir string, output io.Writer, inherited []*os.File, args ...string) error {
	command := exec.CommandContext(ctx, "go", args...)
	command.Dir = dir
	command.Stdout = output
	command.Stderr = output
	command.ExtraFiles = inherited
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
	command.Env = append(os.Environ(),
		"CGO_ENABLED=0", "GO111MODULE=on", "GOFLAGS=-buildvcs=false", "GOTOOLCHAIN=local", "GOWORK=off",
		"GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH)

	err := child.Start(command)
	if err == nil {
		err = command.Wait()
	}

	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return fmt.Errorf("go %s: %w", args[0], err)
	default:
		return nil
	}
}

// copyFile copies a file, making the folders that it needs.
func copyFile(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}

	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}

	return os.WriteFile(to, data, 0o644)
}
