package main

import (
	"fmt"
	"os"
	"syscall"
)

// panicVariable makes the tested talosgen panic in the middle of a render, with
// the variable's value as the message.
const panicVariable = "TALOSGEN_TEST_PANIC"

func talosgenMain() {
	if message := os.Getenv(panicVariable); message != "" {
		panicHook = func() { panic(message) }
	}
	main()
}

// unprivilegedMain is talosgen without the rights of root, which no permission
// of a file would keep from writing it.
func unprivilegedMain() {
	const nobody = 65534
	if os.Geteuid() == 0 {
		for _, drop := range []func(int) error{syscall.Setgid, syscall.Setuid} {
			if err := drop(nobody); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
		}
	}
	main()
}
