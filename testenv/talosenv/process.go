//go:build linux

package talosenv

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
)

// process is a process in namespaces and a cgroup of its own, which the kernel
// kills when this one ends, however it ends.
type process struct {
	command *exec.Cmd
	cgroup  string
	log     string
	exited  chan struct{}
	err     error // of Wait, once exited is closed
}

// launch says how to start a process.
type launch struct {
	command    *exec.Cmd
	namespaces uintptr
	cgroup     string // folder
	log        string // file
}

// start starts the process.
func (l launch) start() (*process, error) {
	if err := os.MkdirAll(l.cgroup, 0o755); err != nil {
		return nil, err
	}

	cgroup, err := os.Open(l.cgroup)
	if err != nil {
		return nil, err
	}
	defer cgroup.Close()

	log, err := os.OpenFile(l.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer log.Close()

	l.command.Stdout, l.command.Stderr = log, log
	l.command.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  l.namespaces,
		UseCgroupFD: true,
		CgroupFD:    int(cgroup.Fd()),
		Pdeathsig:   syscall.SIGKILL,
	}

	// Of the cgroup that the process then is in, not of ours.
	if l.namespaces&syscall.CLONE_NEWPID != 0 {
		l.command.SysProcAttr.Unshareflags = syscall.CLONE_NEWCGROUP
	}

	p := &process{command: l.command, cgroup: l.cgroup, log: l.log, exited: make(chan struct{})}
	started := make(chan error)

	// The kernel kills the process when the thread that started it ends, so
	// that thread must do nothing else.
	go func() {
		runtime.LockOSThread()

		if err := p.command.Start(); err != nil {
			started <- err
			return
		}

		started <- nil

		p.err = p.command.Wait()
		close(p.exited)
	}()

	if err := <-started; err != nil {
		return nil, fmt.Errorf("starting %s: %w", filepath.Base(l.command.Path), err)
	}

	return p, nil
}

func (p *process) pid() int {
	return p.command.Process.Pid
}

// stop kills the process and everything in its cgroup, and waits for it.
func (p *process) stop() error {
	if err := p.command.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}

	<-p.exited

	return removeCgroup(p.cgroup)
}
