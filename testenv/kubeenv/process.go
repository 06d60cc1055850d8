package kubeenv

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/talosgen/talosgen/testenv/internal/child"
)

// process is a running program of a cluster.
type process struct {
	name  string
	log   string // name of its log file
	cmd   *exec.Cmd
	ended chan struct{} // closed when it ended
}

// start starts a program of the bed. It gets an environment of its own:
// nothing of what is set for the tests, such as a proxy, is meant for it.
func (c *Cluster) start(name string, env []string, args ...string) (*process, error) {
	return c.startAs(name, name, env, args...)
}

// startAs starts a program that has several parts, as one of them.
func (c *Cluster) startAs(name, program string, env []string, args ...string) (*process, error) {
	i := c.instance
	p := &process{name: name, log: i.file(filepath.Join("logs", name+".log")), ended: make(chan struct{})}

	log, err := os.Create(p.log)
	if err != nil {
		return nil, err
	}
	defer log.Close() // the process has it open

	tmp := i.file(filepath.Join("tmp", name))
	if err := os.MkdirAll(tmp, 0o700); err != nil {
		return nil, err
	}

	programs := c.programs
	switch program {
	case fluxOperator:
		programs = c.config.operator
	case argoProgram:
		programs = c.config.argo
	}

	p.cmd = exec.Command(filepath.Join(programs, program), args...)
	p.cmd.Dir = i.dir
	p.cmd.Stdout, p.cmd.Stderr = log, log
	p.cmd.Env = append([]string{marker + "=" + i.dir, "HOME=" + tmp, "TMPDIR=" + tmp, "PATH=" + os.Getenv("PATH")}, env...)

	if err := child.Start(p.cmd); err != nil {
		return nil, err
	}

	go func() {
		_ = p.cmd.Wait() // how it ended is in its log
		close(p.ended)
	}()

	c.processes = append(c.processes, p)

	return p, nil
}

// kill ends the process at once, and waits until it is gone.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may have ended

	<-p.ended
}

// wait waits until the process is ready, or has ended.
func (p *process) wait(ready func() error) error {
	start := time.Now()

	err := poll(readyWithin, func() error {
		select {
		case <-p.ended:
			return fmt.Errorf("%s %w", p.name, errEnded)
		default:
			return ready()
		}
	})
	if err != nil {
		return fmt.Errorf("%s is not ready after %s: %w\n%s", p.name, time.Since(start).Round(time.Second), err, tail(p.log))
	}

	return nil
}

// tail returns the last lines of a log.
func tail(log string) string {
	const lines = 20

	data, err := os.ReadFile(log)
	if err != nil {
		return err.Error()
	}

	all := strings.Split(strings.TrimSpace(string(data)), "\n")

	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
