// Package child starts programs that end when this process does, however it
// ends. What the test bed starts, it leaves nowhere.
package child

import (
	"os/exec"
	"runtime"
	"sync"
)

// spawner is the thread that starts all processes. The kernel ends a process
// when the thread that started it ends, so this one lives for ever.
var spawner = sync.OnceValue(func() chan<- func() {
	work := make(chan func())

	go func() {
		runtime.LockOSThread()

		for f := range work {
			f()
		}
	}()

	return work
})

// Start starts a command that ends when this process does (on Linux; elsewhere
// only if this process ends it), in a process group of its own: what a
// terminal sends to this one does not reach it.
func Start(command *exec.Cmd) error {
	command.SysProcAttr = attributes()
	started := make(chan error)
	spawner() <- func() { started <- command.Start() }

	return <-started
}
