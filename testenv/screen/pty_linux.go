package screen

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// Pty is a pseudo-terminal: what a program that runs on it writes is read from it, and
// what is written to it is typed.
type Pty struct {
	*os.File
}

// Start starts a command on a pseudo-terminal of its own, which controls it: Ctrl-C
// interrupts it, and a change of the size is told to it.
func Start(cmd *exec.Cmd, columns, rows int) (*Pty, error) {
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	p := &Pty{master}
	if err := p.start(cmd, columns, rows); err != nil {
		_ = master.Close()
		return nil, err
	}
	return p, nil
}

func (p *Pty) start(cmd *exec.Cmd, columns, rows int) error {
	var number int
	if err := p.control(func(fd int) (err error) {
		if err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
			return err
		}
		number, err = unix.IoctlGetInt(fd, unix.TIOCGPTN)
		return err
	}); err != nil {
		return err
	}
	if err := p.Resize(columns, rows); err != nil {
		return err
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		return err
	}
	defer slave.Close()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	return cmd.Start()
}

// Resize changes the size that the program sees.
func (p *Pty) Resize(columns, rows int) error {
	return p.control(func(fd int) error {
		return unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Col: uint16(columns), Row: uint16(rows)})
	})
}

// Settings returns the settings of the terminal: whether it echoes what is typed, reads
// by lines, and turns Ctrl-C into a signal. A program leaves them as they were.
func (p *Pty) Settings() (settings unix.Termios, err error) {
	err = p.control(func(fd int) error {
		got, err := unix.IoctlGetTermios(fd, unix.TCGETS)
		if err == nil {
			settings = *got
		}
		return err
	})
	return settings, err
}

// control calls the kernel without making the file one that blocks.
func (p *Pty) control(do func(fd int) error) error {
	raw, err := p.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	if err := raw.Control(func(fd uintptr) { failed = do(int(fd)) }); err != nil {
		return err
	}
	return failed
}
