//go:build !linux

package child

import "syscall"

// attributes keep a process out of what a terminal sends to this one. Only
// Linux ends it with this one.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
