package child

import "syscall"

// attributes make a process end with this one, and keep it out of what a
// terminal sends to this one.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
