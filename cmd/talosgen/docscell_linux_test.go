package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// cell is a file system that has Go, Git and the commands of a plain shell, and nothing
// else of the machine: no configuration, no other program, no other home.
type cell struct {
	Root  string
	Binds []bind // in their order
	file  string // has this cell for the program that enters it
}

// bind is a file or a folder of the machine that a cell has too.
type bind struct{ From, To string }

// cellPrograms are the commands that examples use, besides Go's: those of every Linux.
var cellPrograms = strings.Fields("sh git basename cat chmod cp cut date diff dirname env expr false find grep head ln ls mkdir mktemp mv " +
	"pwd readlink rm rmdir sed sleep sort tail tee test touch tr true uname uniq wc")

// newCell makes a cell in which a folder is where it is outside, with Go and what it
// has compiled and downloaded.
func newCell(t *testing.T, base string, goDirs ...string) *cell {
	t.Helper()
	c := &cell{Root: t.TempDir()}
	c.file = c.Root + ".json"
	for _, name := range cellPrograms {
		if err := c.program(name); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{
		"etc/passwd": fmt.Sprintf("ada:x:%d:%d:Ada:%s/home:/bin/sh\n", os.Getuid(), os.Getgid(), base),
		"etc/group":  fmt.Sprintf("ada:x:%d:\n", os.Getgid()),
		"etc/hosts":  "127.0.0.1 localhost\n",
	} {
		if err := writeFile(filepath.Join(c.Root, name), []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.git(); err != nil {
		t.Fatal(err)
	}
	for _, dir := range append([]string{"/proc", "/dev/null", "/dev/zero", "/dev/random", "/dev/urandom", base}, goDirs...) {
		if err := c.bind(dir, dir); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// program copies a program, and the libraries that it is linked with.
func (c *cell) program(name string) error {
	path, err := exec.LookPath(name)
	if err != nil {
		return err
	}
	if err := copyProgram(path, filepath.Join(c.Root, "bin", name)); err != nil {
		return err
	}
	out, err := exec.Command("ldd", path).Output()
	if err != nil {
		return nil // linked with nothing
	}
	for _, word := range strings.Fields(string(out)) {
		to := filepath.Join(c.Root, word)
		if _, err := os.Stat(to); strings.HasPrefix(word, "/") && errors.Is(err, fs.ErrNotExist) {
			if err := copyProgram(word, to); err != nil {
				return err
			}
		}
	}
	return nil
}

func copyProgram(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := writeFile(to, data); err != nil {
		return err
	}
	return os.Chmod(to, 0o755)
}

// git lets Git find itself, as a clone of a folder does.
func (c *cell) git() error {
	out, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		return err
	}
	dir := filepath.Join(c.Root, strings.TrimSpace(string(out)))
	for _, d := range []string{dir, filepath.Join(c.Root, "usr/share/git-core/templates"), filepath.Join(c.Root, "tmp")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return err
		}
	}
	for _, name := range []string{"git", "git-upload-pack", "git-receive-pack"} {
		if err := os.Symlink("/bin/git", filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}

// bind lets the cell have a file or a folder of the machine.
func (c *cell) bind(from, to string) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	at := filepath.Join(c.Root, to)
	if info.IsDir() {
		err = os.MkdirAll(at, 0o755)
	} else {
		err = writeFile(at, nil)
	}
	c.Binds = append(c.Binds, bind{from, to})
	return err
}

// cover has a program of the machine in place of an empty file, in a folder that a cell
// has too.
func (c *cell) cover(from, file string) error {
	c.Binds = append(c.Binds, bind{from, file})
	return os.WriteFile(file, nil, 0o755)
}

// command runs a script in the cell.
func (c *cell) command(dir, script string) *exec.Cmd {
	text, err := json.Marshal(c)
	if err == nil {
		err = os.WriteFile(c.file, text, 0o644)
	}
	if err != nil {
		return &exec.Cmd{Err: err}
	}
	cmd := exec.Command("docs-cell", c.file, dir, script)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if os.Getuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}}
	}
	return cmd
}

// docsCellMain enters a cell, and becomes a shell there.
func docsCellMain() {
	if err := enterCell(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "docs-cell:", err)
		os.Exit(1)
	}
}

func enterCell(file, dir, script string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var c cell
	if err := json.Unmarshal(text, &c); err != nil {
		return err
	}
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("mount /: %w", err)
	}
	for _, b := range c.Binds {
		if err := syscall.Mount(b.From, filepath.Join(c.Root, b.To), "", syscall.MS_BIND|syscall.MS_REC, ""); err != nil {
			return fmt.Errorf("mount %s: %w", b.To, err)
		}
	}
	if err := syscall.Chroot(c.Root); err != nil {
		return fmt.Errorf("chroot: %w", err)
	}
	if err := os.Chdir(dir); err != nil {
		return err
	}
	return syscall.Exec("/bin/sh", []string{"sh", "-c", script}, os.Environ())
}
