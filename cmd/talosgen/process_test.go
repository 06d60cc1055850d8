package main

import (
	"context"
	"fmt"
	"os"
	"syscall"
	"time"
)

// panicVariable makes the tested talosgen panic in the middle of a render, with
// the variable's value as the message.
const panicVariable = "TALOSGEN_TEST_PANIC"

// hurryVariable makes the tested talosgen wait for a hundredth of the time only.
const hurryVariable = "TALOSGEN_TEST_HURRY"

// aheadVariable makes the tested talosgen live so far in the future, as a
// duration: with simulators that do, locks expire at once.
const aheadVariable = "TALOSGEN_TEST_AHEAD"

func talosgenMain() { os.Exit(talosgenCode()) }

// talosgenCode runs the program that scripts see, and returns its exit code.
func talosgenCode() int {
	setUp()
	printedHook, panicHook = mustHaveShape, nil
	if message := os.Getenv(panicVariable); message != "" {
		panicHook = func() { panic(message) }
	}
	w := systemApp()
	if os.Getenv(hurryVariable) != "" {
		w.clock.sleep = func(ctx context.Context, d time.Duration) error { return sleepFor(ctx, d/100) }
		if ahead, err := time.ParseDuration(os.Getenv(aheadVariable)); err == nil {
			w.clock.now = func() time.Time { return time.Now().Add(ahead) }
		}
	}
	return run(os.Args, w)
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
